/*
 * What a daemon that is scored counts (score.c); tests/methods/score.py reads it.
 */
#ifndef JXPERF_TESTS_METHODS_SCORE_H
#define JXPERF_TESTS_METHODS_SCORE_H

#include <stdint.h>

#include "profile/attribution/attribution.h"
#include "profile/intake/method_intake.h"

enum group {
	GROUP_FIELD,
	GROUP_ELEMENT,
	GROUP_LENGTH,
	GROUP_CLASS,
	GROUP_MARK,
	GROUP_OTHER, /* by the JVM a call, of which the compiler has code of its own, or an
			allocation */
	GROUPS,
};

/* Of one access, or tick. */
enum outcome {
	RIGHT_BYTECODE, /* with all calls that lead to it */
	RIGHT_CALLS,    /* another bytecode of the same call */
	RIGHT_METHOD,   /* called by others */
	EITHER, /* right by the null check, which names another than the record does: merged */
	WRONG,
	NOT_NAMED,
	NOT_SAID, /* the JVM says nothing of it, or what cannot have made it */
	OUTCOMES,
};

/* Of the line that a bytecode is shown with. */
enum line_outcome {
	LINE_SAME,
	LINE_STATEMENT, /* of the entry of the method's line table before the right one, or behind
			 * it: javac begins an entry with each statement, and within those of
			 * several lines */
	LINE_WRONG,     /* or the method is */
	LINE_NO_TABLE,
	LINE_OUTCOMES,
};

/* What could be said of a tick. */
enum tick_rule {
	TICK_NEXT,   /* the next record by address, as the JVM does */
	TICK_BEFORE, /* the last one before it */
	TICK_ACCESS, /* attribution_find_tick */
	TICK_RULES,
};

struct score {
	uint64_t dense[GROUPS][OUTCOMES];
	uint64_t null_check[GROUPS][OUTCOMES];
	uint64_t certainty[CERTAINTY_VALUES][OUTCOMES]; /* of dense: by enum certainty */
	uint64_t lines[GROUPS][LINE_OUTCOMES];          /* of dense */
	uint64_t ticks[TICK_RULES][OUTCOMES];
	uint64_t tick_lines[TICK_RULES][LINE_OUTCOMES];
	uint64_t tick_codes_missing; /* ticks in code that did not come */
	uint64_t impossible;         /* answers whose bytecode cannot have made the access */
	uint64_t lost;               /* codes without a truth */
};

/* Of one code. */
struct truth {
	const struct attribution_place *of; /* the places of what the daemon goes on with */
	struct attribution all, blind, hidden;
	struct code_image image; /* the machine code, which these have forgotten */
	uint64_t number;         /* the agent's; 0: not known yet */
	const struct method_intake *methods;
	uint32_t *announced; /* of the image's methods, positions in methods */
};

/* Of what a bytecode is, in a chain of calls. */
enum outcome compare_chains(const struct instance_call *right, unsigned right_count,
			    const struct instance_call *said, unsigned said_count);
enum line_outcome compare_lines(const struct truth *t, struct instance_call right,
				struct instance_call said);

/* count more ticks at an offset of a code. */
void score_ticks(struct score *s, const struct truth *t, const struct native_code *n,
		 uint32_t offset, uint64_t count);

#endif
