#include "attach/agent/window/settings.h"

#include <errno.h>

#include "proto/kinds.h"
#include "proto/limits.h"

static void take_event(const Jxp__HardwareEvent *from, struct perf_hardware_event *to)
{
	*to = (struct perf_hardware_event){.type = from->type,
					   .precise_ip = from->precise_ip,
					   .config = from->config,
					   .config1 = from->config1,
					   .config2 = from->config2,
					   .user_only = from->user_only,
					   .access = PERF_ACCESS_ANY};
	if (from->access == JXP__HARDWARE_EVENT__ACCESS__LOADS)
		to->access = PERF_ACCESS_LOADS;
	else if (from->access == JXP__HARDWARE_EVENT__ACCESS__STORES)
		to->access = PERF_ACCESS_STORES;
}

static int take_sampler(const Jxp__WindowStart *start, struct settings *s, struct err *err)
{
	bool clock = start->sampler == JXP__SAMPLER__SAMPLER_CLOCK;
	bool hardware = start->sampler == JXP__SAMPLER__SAMPLER_PEBS ||
			start->sampler == JXP__SAMPLER__SAMPLER_IBS;

	s->period = clock ? start->period_ns : start->event_period;
	if ((!clock && !hardware) || hardware != (start->n_events > 0) || s->period == 0 ||
	    start->n_events > PERF_HARDWARE_EVENTS)
		return err_set(err, EINVAL,
			       "the daemon asked for a sampler that this agent does not have");
	s->sampling.event_count = (unsigned)start->n_events;
	for (unsigned i = 0; i < s->sampling.event_count; i++)
		take_event(start->events[i], &s->sampling.events[i]);
	return 0;
}

/* Objects and NUMA nodes share their samples, so they are one kind here. */
static int take_kinds(const Jxp__WindowStart *start, struct settings *s, struct err *err)
{
	bool kinds[KIND_VALUES] = {false}, objects;

	for (size_t i = 0; i < start->n_kinds; i++) {
		Jxp__Kind kind = start->kinds[i];

		if (pair_kind_find(kind) && kinds[kind])
			return err_set(err, EINVAL, "the daemon named a kind twice");
		if (!kinds_add(kinds, kind))
			return err_set(err, EINVAL, "this agent does not know kind %d", kind);
	}
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (kinds[pair_kinds[i].kind])
			s->sampling.kinds[s->sampling.kind_count++] = (uint8_t)pair_kinds[i].kind;
	s->sampling.cpu = kinds[JXP__KIND__KIND_CPU];
	s->sampling.loops = kinds[JXP__KIND__KIND_LOOPS];
	objects = kinds[JXP__KIND__KIND_OBJECTS] || kinds[JXP__KIND__KIND_NUMA];
	if (objects && start->objects_max == 0)
		return err_set(err, EINVAL, "the daemon asked for objects, and none of them");
	s->objects = (struct object_settings){.max = objects ? start->objects_max : 0,
					      .min_size_bytes = start->object_min_size,
					      .min_size_adapts = start->object_min_size_adapts,
					      .from_ns = start->objects_from_ns,
					      .optional = start->objects_optional,
					      .max_frames = start->max_frames,
					      .alone = s->sampling.kind_count == 0};
	return 0;
}

static int check_limits(const Jxp__WindowStart *start, struct err *err)
{
	if (start->n_kinds == 0 || start->registers < 1 ||
	    start->registers > PERF_DEBUG_REGISTERS || start->max_frames < 1 ||
	    start->max_frames > MAX_FRAMES_LIMIT)
		return err_set(err, EINVAL,
			       "the daemon asked for a window outside the agent's limits");
	if (!(start->budget > 0 && start->budget <= 1))
		return err_set(
		    err, EINVAL,
		    "the daemon asked for a budget of %g of the target's CPU time: 0 to 1",
		    start->budget);
	if (!(start->cpu_limit >= 0)) /* also refuses NaN */
		return err_set(err, EINVAL, "the daemon named a CPU limit of %g", start->cpu_limit);
	if (!(start->switch_clock_ns >= 0 && start->switch_held_ns >= 0 &&
	      start->switch_armed_ns >= 0))
		return err_set(err, EINVAL, "the daemon named a cost of switches below 0");
	return 0;
}

int settings_from_start(const Jxp__WindowStart *start, struct settings *out, struct err *err)
{
	struct settings s = {.registers = start->registers,
			     .max_frames = start->max_frames,
			     .budget = start->budget,
			     .cpu_limit = start->cpu_limit,
			     .switch_costs = {.clock_ns = start->switch_clock_ns,
					      .held_ns = start->switch_held_ns,
					      .armed_ns = start->switch_armed_ns},
			     .deadline_ns = start->deadline_ns,
			     .through_daemon = start->open_through_daemon,
			     .kernel_gate = start->kernel_gate};
	int r = check_limits(start, err);

	if (r == 0)
		r = take_kinds(start, &s, err);
	if (r == 0)
		r = take_sampler(start, &s, err);
	if (r == 0)
		*out = s;
	return r;
}
