/*
 * Calling contexts without safepoint bias (JXPerf section 5.5), interned into the context table.
 * The JVM is not asked: stacks are walked (frame_walk.h).
 *
 * In the thread whose stack is walked, in its signal handlers, or where it stands in native code.
 */
#ifndef JXPERF_AGENT_STACK_STACK_H
#define JXPERF_AGENT_STACK_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/stack/context.h"
#include "attach/agent/stack/frame_layout.h"
#include "attach/agent/stack/frame_table.h"
#include "attach/agent/stack/frame_walk.h"

enum stack_witness { WITNESS_NONE, WITNESS_AGREES, WITNESS_DIFFERS };

struct stack_place;

struct stack_walker {
	struct frame_layout layout;
	struct walk_tables tables;
	/* In builds for tests: what the JVM says of a stack that was walked. Else NULL. */
	enum stack_witness (*witness)(const struct stack_walker *walker,
				      const struct stack_place *place,
				      const struct frame_walk *walk);
};

enum stack_result {
	STACK_OK,
	STACK_TRUNCATED,  /* root frames are missing */
	STACK_UNWALKABLE, /* the walk was cut */
	STACK_NO_JAVA,    /* the thread runs no Java code now */
	STACK_TABLE_FULL,
};

/* Whose context is asked for, and with what. */
struct stack_place {
	const ucontext_t *uc;
	uint64_t ip;               /* the thread as if it stood there: at the trapping
				    * instruction, not the one after */
	uint64_t stack_low;        /* of the thread; 0: not known */
	uint64_t stack_high;       /* and its end */
	uint32_t epoch;            /* of the handlers */
	unsigned max_frames;       /* of a context; the innermost ones */
	struct call *calls;        /* scratch, for so many */
	struct context_path *last; /* of the thread, in this table; or NULL */
};

struct stack_outcome {
	uint32_t context;       /* when STACK_OK or STACK_TRUNCATED */
	enum walk_cut cut;      /* when STACK_UNWALKABLE: why */
	uint64_t called_behind; /* as in struct frame_walk, */
	unsigned compiled;      /* and this */
	enum stack_witness witnessed;
};

/* The calls alone, in place->calls. False: the thread has no Java frames now. */
bool stack_walk(const struct stack_walker *walker, const struct stack_place *place,
		struct frame_walk *w);

/* Interns the calling context. */
enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out);

#endif
