/*
 * How sure it is that a method makes an access (profile/attribution), from the surest on. What
 * cannot be told comes before all that, so that a spill does not hide what is known of the access
 * beside it.
 */
#ifndef JXPERF_PROFILE_CERTAINTY_H
#define JXPERF_PROFILE_CERTAINTY_H

#include <stdbool.h>

enum certainty {
	CERTAINTY_NONE,     /* no access */
	CERTAINTY_UNKNOWN,  /* no bytecode tells such an access: spills, stacks */
	CERTAINTY_EXACT,    /* the JVM says so of this instruction, and the bytecode can */
	CERTAINTY_CHECKED,  /* one method alone can have made it */
	CERTAINTY_INFERRED, /* of several the nearest */
	CERTAINTY_METHOD,   /* none can: it is inlined somewhere in the compiled method */
	CERTAINTY_VALUES,
};

/* Is one method told, of the bytecodes that can make the access? */
static inline bool certainty_is_told(enum certainty certainty)
{
	return certainty >= CERTAINTY_EXACT && certainty <= CERTAINTY_INFERRED;
}

/* "exact" and so on; "none". */
static inline const char *certainty_name(enum certainty certainty)
{
	static const char *const names[CERTAINTY_VALUES] = {
	    "none", "unknown", "exact", "checked", "inferred", "method",
	};

	return names[certainty];
}

#endif
