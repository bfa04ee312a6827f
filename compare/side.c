#include "compare/side.h"

#include <stdlib.h>

void compare_side_release(struct compare_side *s)
{
	for (size_t i = 0; i < s->method_count && s->methods; i++)
		free(s->methods[i]);
	for (size_t i = 0; i < s->waste_count && s->waste; i++)
		free(s->waste[i].place);
	free(s->methods);
	free(s->nodes);
	free(s->waste);
	*s = (struct compare_side){.pid = 0};
}

const char *compare_side_method(const struct compare_side *s, uint32_t method)
{
	return method ? s->methods[method - 1] : COMPARE_UNKNOWN;
}

void compare_sums_add(struct compare_sums *to, const struct compare_sums *from)
{
	to->ns += from->ns;
	to->squares += from->squares;
	to->count += from->count;
}
