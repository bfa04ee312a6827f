#include "compare/side.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/label.h"

/* The parts of a class's name behind which a JVM puts a number of its own: lambdas (the address of
 * the class in memory follows), proxies, reflection. */
static const char *const numbered[] = {"$$Lambda$", "$Proxy", "Accessor", "LambdaForm$"};

void compare_unnumber(char *name)
{
	char *address = strstr(name, "0x");

	if (address && address > name && (address[-1] == '/' || address[-1] == '.'))
		address[-1] = '\0';
	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		char *part = strstr(name, numbered[i]);
		char *digits = part ? part + strlen(numbered[i]) : NULL;

		if (digits && isdigit((unsigned char)*digits))
			memmove(digits, digits + strspn(digits, "0123456789"),
				strlen(digits + strspn(digits, "0123456789")) + 1);
	}
}

const char *compare_unnumbered(char name[LIMIT_STRING_BYTES + 1], const char *text)
{
	size_t size = strlen(text);

	if (size > LIMIT_STRING_BYTES)
		return text;
	memcpy(name, text, size + 1);
	compare_unnumber(name);
	return name;
}

void compare_side_release(struct compare_side *s)
{
	for (size_t i = 0; i < s->method_count && s->methods; i++)
		free(s->methods[i]);
	for (size_t i = 0; i < s->waste_count && s->waste; i++)
		free(s->waste[i].at.name);
	for (size_t i = 0; i < s->problem_count && s->problems; i++) {
		free(s->problems[i].sentence);
		for (size_t m = 0; m < COMPARE_PROBLEM_METHODS; m++)
			free(s->problems[i].methods[m]);
	}
	free(s->problems);
	free(s->methods);
	free(s->excess);
	free(s->nodes);
	free(s->waste);
	for (size_t i = 0; i < s->note_count; i++)
		free(s->notes[i].words);
	*s = (struct compare_side){.pid = 0};
}

const char *compare_side_method(const struct compare_side *s, uint32_t method)
{
	return method ? s->methods[method - 1] : METHOD_UNKNOWN;
}

bool compare_side_is_empty(const struct compare_side *s)
{
	for (size_t i = 0; i < PAIR_KINDS && s->unit == COMPARE_CHECKED; i++)
		if (s->kinds[pair_kinds[i].kind].checked.amount > 0)
			return false;
	return !(s->whole_ns > 0);
}

int compare_place_order(const struct compare_place *a, const struct compare_place *b)
{
	return ORDER(ASCENDING(a->kind, b->kind), ASCENDING(a->method, b->method),
		     ASCENDING(a->spill, b->spill), strcmp(a->name, b->name));
}

void compare_sums_add(struct compare_sums *to, const struct compare_sums *from)
{
	to->amount += from->amount;
	to->squares += from->squares;
	to->count += from->count;
}
