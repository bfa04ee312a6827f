/*
 * A window of the CPU clock that is made up, and what a test puts into it: contexts, pairs and
 * ticks of 5 ms each. Included by one file of a program.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_CLOCK_WINDOW_H
#define JXPERF_TESTS_UNIT_SUPPORT_CLOCK_WINDOW_H

#include "tests/unit/support/test.h"

#include <stdlib.h>

#include "common/clock.h"
#include "profile/window/result.h"

#define EACH_TICK_NS (5 * NS_PER_MS)

static struct window_result *w;

/* With so many ticks, of which none is anybody's. */
static inline void clock_window_new(unsigned ticks)
{
	w = calloc(1, sizeof(*w));
	assert_non_null(w);
	w->findings.sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	w->counters[JXP__COUNTER__COUNTER_TICKS] = ticks;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = ticks * EACH_TICK_NS;
}

/* A cmocka teardown. */
static inline int clock_window_free(void **state)
{
	(void)state;
	profile_release(&w->profile);
	cpu_profile_release(&w->cpu);
	object_profile_release(&w->objects);
	free(w);
	return 0;
}

static inline uint32_t text(const char *name)
{
	uint32_t id;

	assert_int_equal(strings_intern(&w->profile.strings, name, &id), 0);
	return id;
}

static inline uint32_t method_of(const char *class_name, const char *name)
{
	struct cct_method m = {.class_name = text(class_name), .name = text(name)};
	uint32_t id;

	assert_int_equal(cct_add_method(&w->profile.cct, &m, &id), 0);
	return id;
}

/* A context of which all accesses are told. */
static inline uint32_t context_of(const struct cct_node *node)
{
	uint32_t id;

	assert_int_equal(cct_add_node(&w->profile.cct, node, &id), 0);
	cct_mark(&w->profile.cct, id, CERTAINTY_CHECKED);
	return id;
}

static inline uint32_t location_of(const struct location *l)
{
	uint32_t id;

	assert_int_equal(locations_add(&w->profile.locations, l, &id), 0);
	return id;
}

/* So many pairs of eight bytes, each of a tick's CPU time. */
static inline void observe(Jxp__Kind kind, uint32_t watch, uint32_t trap, uint32_t location,
			   bool wasteful, unsigned count)
{
	const struct observation o = {.kind = kind,
				      .region = JXP__REGION__REGION_HEAP,
				      .location = location,
				      .wasteful = wasteful,
				      .checked_bytes = 8,
				      .watch_node = watch,
				      .trap_node = trap,
				      .cpu_ns = EACH_TICK_NS};

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(profile_add(&w->profile, &o), 0);
}

static inline void tick(uint32_t node, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, node,
						 false, EACH_TICK_NS),
				 0);
}

#endif
