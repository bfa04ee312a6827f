/*
 * What an agent's batches mean for a window: maps the agent's ids to the window's interned methods,
 * nodes and instructions, applies transitions to the thread table and the profile, and hands what
 * belongs to objects to profile/intake/object_intake.h, what belongs to loops to
 * profile/intake/loop_session.h.
 *
 * A batch is untrusted. Nothing in it can be wrong enough to stop the run: an entry that refers
 * to something unknown, repeats an id, is out of range or beyond a limit is dropped (or shown
 * without its context) and counted in the window's losses. Since a node's parent must be known
 * before it, a chain of parents cannot have a cycle.
 *
 * The maps, line tables and the table of threads live as long as the conversation, the window
 * longer; both are bounded by the limits of proto/limits.h, INTAKE_LINES_MAX and STRINGS_MAX_BYTES.
 */
#ifndef JXPERF_PROFILE_INTAKE_INTAKE_H
#define JXPERF_PROFILE_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/intake/agent_ids.h"
#include "profile/intake/attribution_intake.h"
#include "profile/intake/code_requests.h"
#include "profile/intake/loop_session.h"
#include "profile/intake/method_intake.h"
#include "profile/intake/object_intake.h"
#include "profile/intake/tick_intake.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"

struct intake {
	struct window_result *result; /* borrowed */
	struct method_intake methods;
	struct agent_ids nodes;        /* agent's id -> node of the window's tree */
	struct agent_ids locations;    /* agent's id -> location of the window's profile */
	struct agent_ids instructions; /* agent's id -> string of the window's profile */
	struct attribution_intake attribution;
	struct tick_intake ticks;
	struct object_intake objects;
	struct loop_session loops;
	long processors;                     /* those that may be switched on meanwhile, too */
	uint64_t cpu_most_ns, setup_most_ns; /* intake_bound_cpu */
	uint64_t counters[JXP__COUNTER__COUNTER_MAX]; /* what the agent said last of each */
	bool finished;
};

/* in must stay where it is. */
void intake_init(struct intake *in, struct window_result *result);
void intake_release(struct intake *in);

/* What it takes, besides the window. */
size_t intake_memory_bytes(const struct intake *in);

/* So much time has passed since the window began, and since it was asked for: from now on the agent
 * may have used that on every processor of this machine, and a little more since two clocks differ;
 * what it claims beyond is cut and counted (LOSS_CPU_TIME). Without this call LIMIT_CPU_NS is the
 * only bound. */
void intake_bound_cpu(struct intake *in, uint64_t window_ns, uint64_t asked_ns);

/* Applies one batch. 0; -ENOMEM when memory ran out, with part of the batch applied. */
int intake_batch(struct intake *in, const Jxp__Batch *batch);

/* Takes an image that waits to be analysed, for the caller to release; *code is its name here. */
bool intake_take_image(struct intake *in, enum code_use use, struct code_image *image,
		       uint32_t *code);

/* What came of it: 0 with a product (struct code_analysis, or struct attribution), whose content is
 * taken; or why there is none. 0 or -ENOMEM. */
int intake_analysed(struct intake *in, enum code_use use, uint32_t code, int error, void *product);

/* No batch will follow: applies what waited for others, once. Before the window ends. 0 or -ENOMEM.
 */
int intake_finish(struct intake *in);

#endif
