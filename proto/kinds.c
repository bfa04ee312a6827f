#include "proto/kinds.h"

#include <stdio.h>
#include <string.h>

const struct pair_kind pair_kinds[] = {
    {
	.kind = JXP__KIND__KIND_DEAD_STORE,
	.name = "dead_store",
	.option = "dead-store",
	.title = "dead stores",
	.heading = "Dead stores: stored, then overwritten without being read",
	.separator = "OVERWRITTEN BY",
	.finding = "stored again before being read",
	.removable = "first store",
	.access = "stored",
	.sampled = PAIR_STORE,
	.watched = PAIR_LOAD_OR_STORE,
	.ends = PAIR_LOAD_OR_STORE,
	.waste = PAIR_WASTE_OVERWRITTEN,
    },
    {
	.kind = JXP__KIND__KIND_SILENT_STORE,
	.name = "silent_store",
	.option = "silent-store",
	.title = "silent stores",
	.heading = "Silent stores: the second store writes the value that is already there",
	.separator = "REDUNDANT WITH",
	.finding = "stored again with the value that is already there",
	.removable = "second store",
	.access = "stored",
	.sampled = PAIR_STORE,
	.watched = PAIR_STORE,
	.ends = PAIR_STORE,
	.waste = PAIR_WASTE_SAME_VALUE,
    },
    {
	.kind = JXP__KIND__KIND_SILENT_LOAD,
	.name = "silent_load",
	.option = "silent-load",
	.title = "silent loads",
	.heading = "Silent loads: the second load reads the value that the first one read",
	.separator = "REDUNDANT WITH",
	.finding = "loaded again and again unchanged",
	.removable = "second load",
	.access = "loaded",
	.sampled = PAIR_LOAD,
	.watched = PAIR_LOAD_OR_STORE,
	.ends = PAIR_LOAD,
	.waste = PAIR_WASTE_SAME_VALUE,
    },
};

const struct subject_kind subject_kinds[] = {
    {.kind = JXP__KIND__KIND_OBJECTS, .option = "objects"},
    {.kind = JXP__KIND__KIND_NUMA, .option = "numa"},
    {.kind = JXP__KIND__KIND_CPU, .option = "cpu"},
    {.kind = JXP__KIND__KIND_LOOPS, .option = "loops", .needs = JXP__KIND__KIND_CPU},
};

_Static_assert(sizeof(pair_kinds) / sizeof(pair_kinds[0]) == PAIR_KINDS, "PAIR_KINDS is wrong");
_Static_assert(sizeof(subject_kinds) / sizeof(subject_kinds[0]) == SUBJECT_KINDS,
	       "SUBJECT_KINDS is wrong");

const struct pair_kind *pair_kind_find(Jxp__Kind kind)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (pair_kinds[i].kind == kind)
			return &pair_kinds[i];
	return NULL;
}

Jxp__Kind pair_kind_named(const char *name)
{
	for (size_t i = 0; i < PAIR_KINDS && name; i++)
		if (strcmp(pair_kinds[i].name, name) == 0)
			return pair_kinds[i].kind;
	return JXP__KIND__KIND_NONE;
}

/* Both tables as one list. */
#define OPTIONS (PAIR_KINDS + SUBJECT_KINDS)

static Jxp__Kind kind_at(size_t i)
{
	return i < PAIR_KINDS ? pair_kinds[i].kind : subject_kinds[i - PAIR_KINDS].kind;
}

const char *kind_option_at(size_t i)
{
	if (i >= OPTIONS)
		return NULL;
	return i < PAIR_KINDS ? pair_kinds[i].option : subject_kinds[i - PAIR_KINDS].option;
}

static const struct subject_kind *find_subject(Jxp__Kind kind)
{
	for (size_t i = 0; i < SUBJECT_KINDS; i++)
		if (subject_kinds[i].kind == kind)
			return &subject_kinds[i];
	return NULL;
}

bool kinds_add(bool *kinds, Jxp__Kind kind)
{
	const struct subject_kind *subject = find_subject(kind);

	if (!subject && !pair_kind_find(kind))
		return false;
	kinds[kind] = true;
	if (subject && subject->needs != JXP__KIND__KIND_NONE)
		kinds[subject->needs] = true;
	return true;
}

uint32_t kinds_mask(const bool *kinds)
{
	uint32_t mask = 0;

	_Static_assert(KIND_VALUES <= 32, "a set of kinds is 32 bits");
	for (int kind = 0; kind < KIND_VALUES; kind++)
		mask |= kinds[kind] ? UINT32_C(1) << kind : 0;
	return mask;
}

size_t kinds_list(const bool *kinds, Jxp__Kind *list)
{
	size_t count = 0;

	for (size_t i = 0; i < OPTIONS; i++)
		if (kinds[kind_at(i)])
			list[count++] = kind_at(i);
	return count;
}

const char *kind_option(Jxp__Kind kind)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (kind_at(i) == kind)
			return kind_option_at(i);
	return "none";
}

Jxp__Kind kind_of_option(const char *option, size_t length)
{
	for (size_t i = 0; i < OPTIONS; i++)
		if (strlen(kind_option_at(i)) == length &&
		    strncmp(kind_option_at(i), option, length) == 0)
			return kind_at(i);
	return JXP__KIND__KIND_NONE;
}

const char *kind_options(char text[KIND_OPTIONS_BYTES], const char *last)
{
	const char *separator = "";
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < OPTIONS; i++) {
		int n = snprintf(text + used, KIND_OPTIONS_BYTES - used, "%s%s", separator,
				 kind_option_at(i));

		if (n < 0 || (size_t)n >= KIND_OPTIONS_BYTES - used)
			break; /* Cut; the test of this module says so. */
		used += (size_t)n;
		separator = i + 2 < OPTIONS ? ", " : last;
	}
	return text;
}
