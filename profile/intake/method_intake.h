/*
 * Methods as an agent announces them: its ids, the window's, and which line a bytecode index is on.
 *
 * Untrusted, as all of a batch is (profile/intake/intake.h): what is repeated, or beyond a limit,
 * is counted in the window's losses.
 */
#ifndef JXPERF_PROFILE_INTAKE_METHOD_INTAKE_H
#define JXPERF_PROFILE_INTAKE_METHOD_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/intake/agent_ids.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"

/* Line table entries of one window: 8 bytes each, some ten for a usual method. */
#define INTAKE_LINES_MAX (1u << 22)

struct line {
	int32_t bci;
	int32_t line;
};

/* A method as the agent announced it. */
struct intake_method {
	uint32_t method; /* of the window's tree */
	uint32_t first_line;
	uint32_t line_count;
};

struct method_intake {
	struct window_result *result; /* borrowed */
	struct agent_ids ids;         /* agent's id -> position in announced */
	struct intake_method *announced;
	size_t announced_count;
	size_t announced_capacity;
	struct line *lines;
	size_t line_count;
	size_t line_capacity;
};

void method_intake_init(struct method_intake *in, struct window_result *result);
void method_intake_release(struct method_intake *in);

/* 0, also where it was dropped; -ENOMEM. */
int method_intake_add(struct method_intake *in, const Jxp__Method *m);

/* The position of a method of the agent; false where it never announced it. */
bool method_intake_find(const struct method_intake *in, uint32_t id, uint32_t *position);

/* Its id in the window's tree, and the line of a bytecode index: -1 when unknown. */
uint32_t method_intake_name(const struct method_intake *in, uint32_t position);
int32_t method_intake_line(const struct method_intake *in, uint32_t position, int32_t bci);

/* Heap bytes held, without the window's. */
size_t method_intake_memory_bytes(const struct method_intake *in);

#endif
