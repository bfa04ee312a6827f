/*
 * What an agent's batches mean for the loops of a window: adds ticks up by compiled code and
 * offset, takes the code that was asked for, and, once it is analysed, brings its ticks to their
 * loops, and what bursts counted; what traces read is daemon/intake/loop_traces.h.
 *
 * Ticks of code wait here until it is known, if ever, and go straight to their loops from then on.
 * What to ask for and to count is decided in daemon/intake/loop_hunt.h; code is analysed by the
 * owner, off the loop (daemon/engine/code_work.h).
 *
 * As in daemon/intake/intake.h, nothing in a batch can be wrong enough to stop the run. One for
 * each run; the window outlives it.
 */
#ifndef JXPERF_DAEMON_INTAKE_LOOP_INTAKE_H
#define JXPERF_DAEMON_INTAKE_LOOP_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"
#include "daemon/container/hash_index.h"
#include "daemon/intake/method_intake.h"
#include "daemon/intake/tick_intake.h"
#include "daemon/loops/code_analysis.h"
#include "daemon/loops/code_image.h"
#include "daemon/repeats/turn_tuples.h"
#include "daemon/window/result.h"
#include "proto/events.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

/* Codes that were asked for and whose analysis is not here, at a time. */
#define LOOP_CODES_OPEN_MAX 4u

#define LOOP_NO_ROW UINT32_MAX

/* A place in code, with a calling context. */
struct loop_tick {
	uint32_t code; /* position */
	uint32_t offset;
	uint32_t node; /* of the window's tree, or 0 */
	struct cpu_sum sum;
};

/* A native loop of code that was looked at. */
struct native_loop {
	uint32_t row;     /* of the window's profile, LOOP_NO_ROW: none yet */
	uint64_t samples; /* ticks in it, and in none inside it, */
	uint64_t within;  /* and with those */
	bool calls;       /* much CPU time is in what it calls */
	bool considered; /* it was hot: its places are known, and there is a plan where it needs one
			  */
};

enum loop_code_state {
	LOOP_CODE_TICKED,
	LOOP_CODE_ASKED, /* for its image, */
	LOOP_CODE_HERE,  /* which is being analysed */
	LOOP_CODE_KNOWN,
	LOOP_CODE_GONE, /* it never will be */
};

struct loop_code {
	uint64_t number; /* the agent's */
	uint64_t samples;
	enum loop_code_state state;
	/* From HERE on: */
	uint32_t *announced; /* of its methods, the positions in methods */
	uint32_t *names;     /* and their ids in the window's tree */
	uint32_t method;     /* of these, that it was compiled from */
	/* KNOWN: */
	struct code_analysis analysis;
	struct native_loop *loops;
	uint32_t recursion; /* of loops, the method itself; LOOP_NO_PARENT: it does not call itself
			     */
};

/* What the agent was told to count, and to compare. */
struct loop_plan {
	uint32_t code, loop;             /* positions */
	uint32_t all_sites, all_entries; /* of the loop, */
	uint32_t sites, entries;         /* and those in places, in this order */
	bool entries_ahead;              /* one of these is counted in each burst */
	bool ends_with_result;           /* where it has no sites: by its limit, always */
	bool countable;                  /* bursts would tell something */
	bool around;                     /* ticks come in loops inside it, hardly any in it */
	bool counted;                    /* the agent is to count it, */
	bool compared, turns_compared;   /* to compare instances, turns, */
	bool readable,
	    read; /* its counter tells how many turns instances have; the agent is to read it */
	uint32_t offsets[LIMIT_PLAN_PLACES];
	uint32_t rows[LIMIT_PLAN_PLACES]; /* of sites: the profile's places, or LOOP_NO_ROW */
	uint32_t entry;                   /* where there are loads: an offset */
	uint32_t loads[LIMIT_PLAN_LOADS]; /* of the analysis's inputs */
	uint32_t load_count, scalar_count;
	uint32_t turn_input_count;
};

/* The turns of a loop that traces have read. */
struct loop_turns {
	uint32_t row; /* of the window's profile */
	struct turn_tuples *tuples;
	struct turn_counts counts;
	bool is_new; /* there are more of them than were counted */
};

/* A method whose code is asked for since it calls what ticks come in. */
struct loop_caller {
	uint32_t method; /* the agent's id */
	bool open;       /* not answered yet */
};

/* Most of them that are asked for, and images of them that are looked at, in a window. */
#define LOOP_CALLERS_MAX       24u
#define LOOP_CALLER_IMAGES_MAX 16u

struct loop_intake {
	struct window_result *result;        /* borrowed */
	const struct method_intake *methods; /* borrowed */
	const struct tick_intake *right;     /* borrowed: the right contexts of ticks */
	struct loop_code *codes;
	size_t code_count, code_capacity;
	struct hash_index code_index;
	struct loop_tick *ticks;
	size_t tick_count, tick_capacity;
	struct hash_index tick_index;
	struct code_image images[LOOP_CODES_OPEN_MAX]; /* that wait to be analysed */
	size_t image_count;
	unsigned asked, open;                /* codes: in all, and without an analysis */
	struct loop_plan plans[LIMIT_PLANS]; /* plan N is plans[N - 1] */
	size_t plan_count;
	struct loop_turns turns[LIMIT_PLANS];
	size_t turns_count;
	struct random random;
	/* Of daemon/intake/loop_callers.h: */
	uint32_t *node_methods; /* by node of the window's tree - 1: the agent's id of its method */
	size_t node_method_count, node_method_capacity;
	struct loop_caller callers[LOOP_CALLERS_MAX];
	size_t caller_count, caller_images;
	uint64_t callers_next; /* ticks at which to look again */
};

void loop_intake_init(struct loop_intake *in, struct window_result *result,
		      const struct method_intake *methods, const struct tick_intake *right);
void loop_intake_release(struct loop_intake *in);

/* A tick in compiled code, number code, whose context is node of the window's tree, 0: not known.
 * 0 or -ENOMEM. */
int loop_intake_tick(struct loop_intake *in, uint64_t code, uint32_t offset, uint32_t node,
		     uint64_t cpu_ns);

/* An image of code, whose methods are known already. 0 or -ENOMEM. */
int loop_intake_image(struct loop_intake *in, const Jxp__CodeImage *m);

/* What came of a burst, and of a reading. */
void loop_intake_burst(struct loop_intake *in, const struct event_burst *b);
void loop_intake_reading(struct loop_intake *in, const struct event_reading *m);

/* Takes an image that waits to be analysed, for the caller to release; *code is its position. */
bool loop_intake_take_image(struct loop_intake *in, struct code_image *image, uint32_t *code);

/* What came of it: 0 with an analysis, which is taken; or why there is none. 0 or -ENOMEM. */
int loop_intake_analysed(struct loop_intake *in, uint32_t code, int error,
			 struct code_analysis *analysis);

/* Nothing more will come: analyses what waits. 0 or -ENOMEM. */
int loop_intake_finish(struct loop_intake *in);

/* The row of a native loop, made where it is new. LOOP_NO_ROW beyond the limit. 0 or -ENOMEM. */
int loop_intake_row(struct loop_intake *in, struct loop_code *code, uint32_t loop, uint32_t *row);

/* The position of a code, new or known. 0, -ENOSPC or -ENOMEM. */
int loop_intake_code(struct loop_intake *in, uint64_t number, uint32_t *position);

/* Heap bytes held, without the window's. */
size_t loop_intake_memory_bytes(const struct loop_intake *in);

#endif
