#include "attach/agent/window/object_phase.h"

#include "attach/agent/handler/handlers.h"
#include "attach/agent/jvmti/alloc_sampling.h"
#include "common/clock.h"

static void enter(struct object_phase *p, enum object_phase_state state)
{
	p->state = state;
	handlers.objects_on = state == OBJECTS_TRACKED;
}

/* Whether they can be had is tried at once also where they begin later: nothing is tracked yet. */
static int try_sampling(struct object_phase *p, struct err *why)
{
	int r = alloc_sampling_start(p->vm, ALLOC_SAMPLING_DEFAULT, why);

	if (r == 0)
		alloc_sampling_stop(p->vm);
	return r;
}

/* To the state that comes next by time, or to none when the JVM refuses. */
static int begin(struct object_phase *p, struct err *err)
{
	bool early = clock_monotonic_ns() < p->settings->from_ns;
	struct err why = {0};
	int r = early ? try_sampling(p, &why)
		      : tracker_start(&p->tracker, p->vm, p->drain, p->settings, p->ledger, &why);

	if (r == 0) {
		enter(p, early ? OBJECTS_WAITING : OBJECTS_TRACKED);
		return 0;
	}
	enter(p, OBJECTS_NONE);
	if (p->alone) {
		*err = why;
		return r;
	}
	drain_refuse_objects(p->drain, why.message);
	return 0;
}

int object_phase_start(struct object_phase *p, const struct object_settings *settings,
		       const struct ledger *ledger, bool alone, struct vm *vm, struct drain *drain,
		       struct err *err)
{
	*p = (struct object_phase){
	    .alone = alone, .settings = settings, .ledger = ledger, .vm = vm, .drain = drain};
	enter(p, OBJECTS_NONE);
	return settings->max > 0 ? begin(p, err) : 0;
}

int object_phase_update(struct object_phase *p, struct err *err)
{
	int r = 0;

	if (p->state == OBJECTS_WAITING && clock_monotonic_ns() >= p->settings->from_ns)
		r = begin(p, err);
	return r == 0 ? tracker_update(&p->tracker, &p->more) : r;
}

int object_phase_end(struct object_phase *p)
{
	bool tracked = p->state == OBJECTS_TRACKED;

	if (p->state == OBJECTS_NONE)
		return 0;
	enter(p, OBJECTS_ENDED);
	return tracked ? tracker_switch_off(&p->tracker) : 0;
}

bool object_phase_is_wanted(const struct object_phase *p)
{
	return p->state != OBJECTS_NONE;
}

void object_phase_settle(struct object_phase *p, uint64_t accesses_ns)
{
	uint64_t allocations_ns = p->tracker.settled_ns;

	if (p->state == OBJECTS_TRACKED)
		drain_set_settled(p->drain,
				  allocations_ns < accesses_ns ? allocations_ns : accesses_ns);
	else if (p->state == OBJECTS_ENDED)
		drain_set_settled(p->drain, accesses_ns);
}

int object_phase_stop(struct object_phase *p, bool vm_alive)
{
	return tracker_stop(&p->tracker, vm_alive);
}

void object_phase_release(struct object_phase *p, bool vm_alive)
{
	enter(p, OBJECTS_NONE);
	if (!vm_alive)
		objects_clear(&p->tracker.objects);
	tracker_release(&p->tracker);
}
