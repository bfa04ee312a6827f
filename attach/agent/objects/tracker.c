#include "attach/agent/objects/tracker.h"

#include "attach/agent/handler/handlers.h"
#include "attach/agent/jvmti/alloc_sampling.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/object_ref.h"
#include "common/clock.h"

/* Objects looked at before the session thread goes back to the rings: about a millisecond's work,
 * with the collectors where a look costs most. */
#define PASS_PORTION 8192u

/* A callback takes microseconds; a thread that is not scheduled may hold one up. */
#define STOP_TIMEOUT_MS 2000u

static uint64_t address_of(void *arg, void *ref)
{
	const struct tracker *t = arg;

	return object_ref_address(t->vm->jni, ref);
}

static void let_go(const struct tracker *t, void *ref, uint32_t kept_words)
{
	object_ref_delete(t->vm->jni, ref);
	alloc_events_ref_released(kept_words);
}

static void release(void *arg, const struct object_entry *object)
{
	let_go(arg, object->ref, object->kept_words);
}

int tracker_start(struct tracker *t, struct vm *vm, struct drain *drain,
		  const struct object_settings *settings, const struct ledger *ledger,
		  struct err *err)
{
	struct object_memory memory = {.address = address_of, .release = release, .arg = t};
	struct object_refs_effect effect;
	int r;

	*t = (struct tracker){.vm = vm, .drain = drain, .ledger = ledger};
	r = objects_init(&t->objects, settings->max, &memory);
	if (r < 0) {
		objects_release(&t->objects);
		return err_set_errno(err, -r, "cannot set up the table of objects");
	}
	effect = object_refs_init(vm->jni, ledger->budget);
	alloc_share_init(&t->share, settings->alone);
	alloc_pace_init(&t->pace, ledger->budget * t->share.share);
	alloc_floor_init(&t->floor, settings->min_size_bytes, settings->min_size_adapts);
	alloc_events_start(settings, t->objects.max, &effect);
	alloc_events_set_interval(t->pace.interval);
	alloc_events_wake_at(alloc_pace_dear_ns(&t->pace));
	r = alloc_sampling_start(vm, t->pace.interval, err);
	if (r < 0) {
		(void)alloc_events_stop(0); /* No callback has been called. */
		tracker_release(t);
		return r;
	}
	drain_set_object_interval(drain, t->pace.interval);
	drain_set_object_min_size(drain, t->floor.bytes);
	t->running = true;
	return 0;
}

static void look_up(const struct tracker *t, struct alloc_event *e, uint32_t now)
{
	uint64_t address = object_ref_address(t->vm->jni, e->ref);

	atomic_thread_fence(memory_order_acquire);
	/* Otherwise the next pass finds it. */
	if (atomic_load_explicit(&handlers.epoch, memory_order_acquire) == now) {
		e->epoch = now;
		e->address = address;
	}
}

/* An address of before the epoch that is settled is not told: the engine may not have applied that
 * pass yet, and would take its silence for a confirmation. The object is looked up if no pass of
 * the present epoch will; otherwise the next one tells where it is. */
static void refresh(const struct tracker *t, struct alloc_event *e)
{
	uint32_t now = atomic_load_explicit(&handlers.epoch, memory_order_acquire);

	if (objects_was_missed(&t->objects, e->epoch))
		e->address = 0;
	if (e->address == 0 && objects_is_settled(&t->objects, now))
		look_up(t, e, now);
}

static int tell(const struct tracker *t, uint32_t id, const struct alloc_event *e)
{
	const struct event_allocation allocation = {
	    .head = event_head_of(EVENT_ALLOCATION),
	    .object = id,
	    .class_id = e->class_id,
	    .size_bytes = e->size_bytes,
	    .weight = alloc_weight(e->size_bytes, e->interval) * e->stands_for,
	    .time_ns = e->time_ns,
	    .tid = e->tid,
	    .cpu = e->cpu,
	    .node = e->context,
	    .epoch = e->epoch,
	    .address = e->address,
	};

	return drain_allocation(t->drain, &allocation);
}

static int take_allocations(struct tracker *t)
{
	uint64_t before = clock_monotonic_ns();
	struct alloc_event e;
	int r = 0;

	/* As many as the queue holds: callbacks may be faster than we are. */
	for (t->taken = 0; t->taken < ALLOC_QUEUE_EVENTS && r == 0; t->taken++) {
		uint32_t id;

		if (!alloc_events_take(&e)) {
			t->settled_ns = before;
			break;
		}
		if (!e.ref) {
			r = tell(t, 0, &e);
			continue;
		}
		refresh(t, &e);
		id = objects_add(&t->objects, e.ref, e.address, e.kept_words);
		if (id == 0)
			let_go(t, e.ref, e.kept_words);
		else
			r = tell(t, id, &e);
	}
	return r;
}

static void report_change(void *arg, uint32_t id, uint64_t address)
{
	struct tracker *t = arg;

	int r = drain_position(t->drain, t->objects.settled_epoch, id, address);

	if (t->error == 0)
		t->error = r;
}

static int pass(struct tracker *t, bool *more)
{
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	enum objects_pass result;
	uint64_t cost;
	int r = 0;

	if (!t->objects.passing && clock_monotonic_ns() < t->next_pass_ns)
		return 0;
	result = objects_pass(&t->objects, &handlers.epoch, PASS_PORTION);
	*more = result == PASS_MORE;
	if (result == PASS_DONE) {
		objects_report(&t->objects, report_change, t);
		r = t->error < 0 ? t->error : drain_settle(t->drain, t->objects.settled_epoch);
	}
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	t->pass_ns += cost;
	t->pass_cost_ns += cost;
	if (!t->objects.passing) {
		t->next_pass_ns =
		    clock_monotonic_ns() +
		    (uint64_t)ledger_apart_ns(t->ledger, LEDGER_PASSES, (double)t->pass_cost_ns);
		t->pass_cost_ns = 0;
	}
	return r;
}

int tracker_update(struct tracker *t, bool *more)
{
	int r;

	*more = false;
	if (!t->running)
		return 0;
	r = take_allocations(t);
	return r < 0 ? r : pass(t, more);
}

static void set_floor(struct tracker *t, uint64_t accessed_bytes, bool room)
{
	uint64_t before = t->floor.bytes, sampled, small;

	alloc_events_sizes(&sampled, &small);
	(void)alloc_floor_next(&t->floor, sampled, small, room);
	if (alloc_floor_accessed(&t->floor, accessed_bytes, room) == before)
		return;
	alloc_events_set_min_size(t->floor.bytes);
	drain_set_object_min_size(t->drain, t->floor.bytes);
}

bool tracker_is_dear(const struct tracker *t)
{
	return t->running && alloc_events_cost_ns() >= alloc_pace_dear_ns(&t->pace);
}

void tracker_set_pace(struct tracker *t, uint64_t cpu_ns, const struct tracker_use *use)
{
	bool room = t->objects.count < t->objects.max / 2;
	uint32_t before = t->pace.interval, now;

	if (!t->running)
		return;
	set_floor(t, use->accessed_bytes, room);
	t->pace.fraction = t->ledger->budget * alloc_share_next(&t->share, use->accesses, use->met);
	now = alloc_pace_next(&t->pace, alloc_events_cost_ns(), cpu_ns, room);
	alloc_events_wake_at(alloc_pace_dear_ns(&t->pace));
	if (now == before)
		return;
	alloc_sampling_set_interval(t->vm, now);
	alloc_events_set_interval(now);
	drain_set_object_interval(t->drain, now);
}

int tracker_stop(struct tracker *t, bool vm_alive)
{
	struct alloc_event e;
	int r = 0;

	if (!t->running)
		return 0;
	t->running = false;
	if (vm_alive)
		alloc_sampling_stop(t->vm);
	/* A late callback keeps nothing. In a JVM that has died it may stay where it is. */
	(void)alloc_events_stop(vm_alive ? STOP_TIMEOUT_MS : 0);
	if (vm_alive) {
		alloc_events_set_interval(ALLOC_SAMPLING_DEFAULT);
		r = take_allocations(t);
	} else {
		objects_clear(&t->objects);
	}
	while (alloc_events_take(&e))
		if (vm_alive && e.ref)
			let_go(t, e.ref, e.kept_words);
	return r;
}

int tracker_switch_off(struct tracker *t)
{
	int r = tracker_stop(t, true);

	objects_drop(&t->objects);
	return r;
}

void tracker_release(struct tracker *t)
{
	objects_release(&t->objects);
}

uint64_t tracker_cost_ns(const struct tracker *t)
{
	return t->objects.list ? alloc_events_cost_ns() : 0;
}

void tracker_counters(const struct tracker *t, uint64_t *counters)
{
	if (!t->objects.list)
		return;
	alloc_events_count(counters);
	counters[JXP__COUNTER__COUNTER_OBJECTS_DIED] += t->objects.died;
	counters[JXP__COUNTER__COUNTER_OBJECTS_MOVED] += t->objects.moved;
	counters[JXP__COUNTER__COUNTER_PASSES] += t->objects.passes;
	counters[JXP__COUNTER__COUNTER_PASSES_OVERTAKEN] += t->objects.overtaken;
	counters[JXP__COUNTER__COUNTER_PASS_NS] += t->pass_ns;
}
