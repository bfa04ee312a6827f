#include "profile/attribution/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/code/java_op.h"

/* Accesses are to elements, fields and classes, in calls, and in what makes objects. */
static bool may_access(uint8_t op)
{
	return java_op_loads_element(op) || java_op_stores_element(op) ||
	       (op >= JAVA_GETSTATIC && op <= JAVA_MULTIANEWARRAY && op != JAVA_WIDE);
}

/* Finds those of one method; bcis NULL: counted alone. Returns how many. */
static uint32_t find(const struct code_image *image, const struct code_method *m, uint16_t *bcis)
{
	const uint8_t *code = image->bytecodes + m->bytecode;
	uint32_t count = 0, length;

	for (uint32_t bci = 0; bci < m->bytecode_bytes; bci += length) {
		length = java_op_length(code, m->bytecode_bytes, bci);
		if (length == 0 || bci > UINT16_MAX)
			break;
		if (!may_access(code[bci]))
			continue;
		if (bcis)
			bcis[count] = (uint16_t)bci;
		count++;
	}
	return count;
}

int sites_make(struct sites *s, const struct code_image *image)
{
	uint32_t count = 0;

	*s = (struct sites){.first = calloc(image->method_count + 1, sizeof(*s->first))};
	for (size_t i = 0; s->first && i < image->method_count; i++) {
		s->first[i] = count;
		count += find(image, &image->methods[i], NULL);
	}
	s->bcis = calloc(count + 1, sizeof(*s->bcis));
	if (!s->first || !s->bcis) {
		sites_release(s);
		return -ENOMEM;
	}
	s->first[image->method_count] = count;
	for (size_t i = 0; i < image->method_count; i++)
		(void)find(image, &image->methods[i], &s->bcis[s->first[i]]);
	return 0;
}

void sites_release(struct sites *s)
{
	free(s->bcis);
	free(s->first);
	*s = (struct sites){0};
}

size_t sites_memory_bytes(const struct sites *s, size_t method_count)
{
	return s->first ? (method_count + 1) * sizeof(*s->first) +
			      s->first[method_count] * sizeof(*s->bcis)
			: 0;
}
