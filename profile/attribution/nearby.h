/*
 * Gathers what the JVM knows of the places around an instruction: its calls and polls, the uncommon
 * traps that branches lead to, and the instructions whose faults are null checks. Each is a point,
 * with the calls inlined there.
 *
 * Pure functions, any thread.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_NEARBY_H
#define JXPERF_PROFILE_ATTRIBUTION_NEARBY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/attribution/instances.h"
#include "profile/loops/native_code.h"

#define NEARBY_POINTS    2u
#define NEARBY_STEPS_MAX 250u

/* Points on the way to an instruction, or from it on, the nearest first. */
struct nearby_points {
	struct instance_place points[NEARBY_POINTS];
	unsigned count;
};

/* A search's memory, for one code. */
struct nearby_search;

/* NULL when memory is short. Both are borrowed. */
struct nearby_search *nearby_search_new(const struct native_code *n, const struct instances *s);
void nearby_search_free(struct nearby_search *w); /* NULL is fine */

/* Those before the instruction at index at, with its own null check, and those behind it; never in
 * uncommon traps. */
void nearby_find(struct nearby_search *w, size_t at, struct nearby_points *before,
		 struct nearby_points *behind);

/* The record of the null check that an instruction is: that of the trap that it goes on to. */
bool nearby_null_check(const struct native_code *n, const struct instances *s, uint32_t offset,
		       struct instance_place *place);

/* Which records of code count: all, or those of safepoints alone; and which are a call's. */
void nearby_records(const struct native_code *n, bool safepoints_only, bool *usable, bool *called);

#endif
