/*
 * The loops of a window's compiled code: which of them are looked at, what is counted, compared and
 * read of them, and what comes of it for the profile. One for each run; the window outlives it.
 *
 * Ticks say which code is hot, and, once it is analysed, which loop; ticks that came before are
 * looked up then (profile/intake/tick_intake.h). Code is analysed by the owner, off the loop
 * (daemon/engine/code_work.h). What the owner is to ask the agent for is told by
 * loop_session_hunt: plans go out, and bursts, traces and readings come in.
 *
 * As in profile/intake/intake.h, nothing in a batch can be wrong enough to stop the run.
 *
 * Four parts: this one, for ticks, code, bursts and readings; the hunt, for code and plans;
 * callers, for loops that have their time in what they call; traces, for what is done again.
 */
#ifndef JXPERF_PROFILE_INTAKE_LOOP_SESSION_H
#define JXPERF_PROFILE_INTAKE_LOOP_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"
#include "profile/container/row_table.h"
#include "profile/intake/code_requests.h"
#include "profile/intake/method_intake.h"
#include "profile/intake/tick_intake.h"
#include "profile/loops/code_analysis.h"
#include "profile/loops/code_image.h"
#include "profile/repeats/turn_tuples.h"
#include "profile/window/result.h"
#include "proto/events.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

#define LOOP_HUNT_SHARE   0.02 /* of all ticks */
#define LOOP_HUNT_SAMPLES 20u

struct loop_code {
	struct wanted_code is;
	uint64_t samples;
	/* From HERE on: */
	uint32_t *names; /* of its methods, the ids in the window's tree */
	uint32_t method; /* of these, that it was compiled from */
	/* KNOWN: */
	struct code_analysis analysis;
	uint32_t recursion; /* of its loops, the method itself; LOOP_NO_PARENT: it does not call
			     * itself */
};

/* A loop of which the agent was told what to count, to compare and to read. */
struct planned_loop {
	uint32_t code, loop;              /* positions */
	uint32_t all_sites, all_entries;  /* of the loop, */
	uint32_t sites, entries;          /* and those in places, in this order */
	bool entries_ahead;               /* one of these is counted in each burst */
	bool ends_with_result;            /* where it has no sites: by its limit, always */
	bool countable;                   /* bursts would tell something */
	bool around;                      /* ticks come in loops inside it, hardly any in it */
	bool compared, turns_compared;    /* the agent is to compare instances, turns, */
	bool read;                        /* to read its counter */
	uint32_t rows[LIMIT_PLAN_PLACES]; /* of sites: the profile's places, or LOOP_NO_ROW */
	uint32_t loads[LIMIT_PLAN_LOADS]; /* of the analysis's inputs, in the order's order */
	struct loop_plan order;           /* all that it may be asked; counted as it is now */
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

struct loop_session {
	struct window_result *result;        /* borrowed */
	const struct method_intake *methods; /* borrowed */
	const struct tick_intake *ticks;     /* borrowed */
	TABLE_OF(struct loop_code, codes, code_count, code_table);
	struct code_requests requests;          /* by callers, too */
	struct planned_loop plans[LIMIT_PLANS]; /* plan N is plans[N - 1] */
	size_t plan_count;
	struct loop_turns turns[LIMIT_PLANS];
	size_t turns_count;
	struct random random;
	/* For callers: */
	uint32_t *node_methods; /* by node of the window's tree - 1: the agent's id of its method */
	size_t node_method_count, node_method_capacity;
	struct loop_caller callers[LOOP_CALLERS_MAX];
	size_t caller_count, caller_images;
	uint64_t callers_next; /* ticks at which to look again */
};

void loop_session_init(struct loop_session *in, struct window_result *result,
		       const struct method_intake *methods, const struct tick_intake *ticks);
void loop_session_release(struct loop_session *in);

/* The agent's id of the method of a node of the window's tree. 0 or -ENOMEM. */
int loop_session_node(struct loop_session *in, uint32_t node, uint32_t method);

/* A tick in compiled code, and in no stub that this called, whose context is node of the window's
 * tree, 0: not known. kept: it is among the ticks. 0 or -ENOMEM. */
int loop_session_tick(struct loop_session *in, const struct event_tick *tick, uint32_t node,
		      bool kept);

/* An image of code, whose methods are known already. 0 or -ENOMEM. */
int loop_session_image(struct loop_session *in, const Jxp__CodeImage *m);

/* What came of a burst, and of a reading. */
void loop_session_burst(struct loop_session *in, const struct event_burst *b);
void loop_session_reading(struct loop_session *in, const struct event_reading *m);

/* Takes an image that waits to be analysed, for the caller to release; *code is its position. */
bool loop_session_take_image(struct loop_session *in, struct code_image *image, uint32_t *code);

/* What came of it: 0 with an analysis, which is taken; or why there is none. 0 or -ENOMEM. */
int loop_session_analysed(struct loop_session *in, uint32_t code, int error,
			  struct code_analysis *analysis);

/* What the agent is to be asked for now. */
struct loop_requests {
	uint64_t codes[CODES_OPEN_MAX];   /* by number, */
	uint32_t methods[CODES_OPEN_MAX]; /* and by the agent's ids of methods; they count as
					   * asked for */
	size_t code_count, method_count;
	bool planned; /* otherwise than before: these are all plans from now on */
	struct loop_plan plans[LIMIT_PLANS];
	size_t plan_count;
};

/* 0 or -ENOMEM. */
int loop_session_hunt(struct loop_session *in, struct loop_requests *out);

/* Nothing more will come: analyses what waits, and brings the window up to date. 0 or -ENOMEM. */
int loop_session_finish(struct loop_session *in);

/* Heap bytes held, without the window's. */
size_t loop_session_memory_bytes(const struct loop_session *in);

/* ---------------------------------------------------------------- between the parts */

/* Which loop of the window's a native one is. */
struct loop_key loop_session_key(const struct loop_session *in, const struct loop_code *code,
				 const struct code_loop *l);

/* The row of a native loop, made where it is new. LOOP_NO_ROW beyond the limit. 0 or -ENOMEM. */
int loop_session_row(struct loop_session *in, struct loop_code *code, uint32_t loop, uint32_t *row);

/* Code is asked for when it has a share of all ticks and so many that this is no accident, once,
 * and a few at a time. Numbers of the codes to be asked for now; how many there are. */
size_t loop_hunt_codes(struct loop_session *in, uint64_t codes[CODES_OPEN_MAX]);

/* Makes plans for loops that became hot, and says which of all are to be counted and compared. A
 * native loop with a share of the ticks, in it or in loops inside it, is counted unless nothing
 * could come of it: all its turns have results or none, or it waits. Its instances and its turns
 * are compared where the analysis says what they go by. Loops of which enough is known wait for
 * those of which it is not: bursts and traces have a budget. *changed: others than before. 0 or
 * -ENOMEM.
 */
int loop_hunt_plans(struct loop_session *in, bool *changed);

/* What of all plans the agent is to do now; how many there are. */
size_t loop_hunt_orders(const struct loop_session *in, struct loop_plan orders[LIMIT_PLANS]);

/* Loops that have their CPU time in what they call have no ticks in their code, so nobody would
 * look at it. The contexts of ticks tell which compiled methods call what takes the time. Of those
 * with a share of it the code that most likely runs is asked for by the method, the nearest to the
 * ticks first, a few at a time; the agent may answer that there is none, where a method was inlined
 * in its callers, which are asked for themselves.
 *
 * The agent's ids of methods to be asked for now, at most CODES_OPEN_MAX with the codes that
 * are; how many there are. Looks at all contexts when a quarter more ticks have come than when it
 * last did: *looked. -ENOMEM. */
int loop_callers_ask(struct loop_session *in, uint32_t methods[CODES_OPEN_MAX], bool *looked);

/* In all code that is known, whoever asked for it, the loops that call what takes 2% of the time or
 * more beyond that of their own code get a row, with the type of the last of them: as far as ticks
 * have come and code is known. 0 or -ENOMEM. */
int loop_callers_rows(struct loop_session *in);

/* What traces say: of two instances, one behind the other, how much of what they go by is the same
 * in both, and of turns which are different.
 *
 * Turns are told from the order of what they go by: one begins where an input comes that is no
 * later than the one before. Where a turn has several inputs, the first and the last of a trace may
 * be part of one and are left out. Of a loop, TURN_TRACES_MAX traces of turns are kept; more are
 * not taken. 0 or -ENOMEM. */
int loop_traces_add(struct loop_session *in, const struct event_trace *t);

/* Brings the window's estimates of turns up to date with its traces and its CPU time: after a
 * batch, and when code was analysed. 0 or -ENOMEM. */
int loop_traces_settle(struct loop_session *in);

#endif
