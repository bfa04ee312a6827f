#include "profile/intake/object_intake.h"

#include <errno.h>
#include <string.h>

#include "common/utf8.h"
#include "proto/limits.h"

void object_intake_init(struct object_intake *in, struct window_result *result,
			const struct agent_ids *nodes, const struct agent_ids *locations,
			struct attribution_intake *attribution)
{
	*in = (struct object_intake){
	    .result = result, .nodes = nodes, .locations = locations, .attribution = attribution};
	object_order_init(&in->order, result->request.objects_max);
	object_table_init(&in->table, result->request.objects_max);
}

void object_intake_release(struct object_intake *in)
{
	agent_ids_release(&in->classes);
	object_order_release(&in->order);
	object_table_release(&in->table);
	object_intake_init(in, in->result, in->nodes, in->locations, in->attribution);
}

static void lose(struct object_intake *in, enum loss loss, uint64_t count)
{
	in->result->losses[loss] += count;
}

/* Sorts failures into what is lost and counted (returns 0) and what ends the window. */
static int lost_or_failed(struct object_intake *in, int r, enum loss loss)
{
	if (r == 0 || r == -ENOMEM)
		return r;
	lose(in, loss, 1);
	return 0;
}

/* ---------------------------------------------------------------- applying, in order */

/* Which node its page is on is asked later. */
static int note_numa(struct object_intake *in, const struct object_event *e,
		     const struct tracked_object *object)
{
	struct numa_access access = {.address = e->address,
				     .site = object ? object->site : NUMA_NO_SITE,
				     .alloc_node = object ? object->alloc_node : NUMA_NONE,
				     .weight = (double)e->access_weight,
				     .object_weight = object ? object->weight : 1};

	if (!window_result_measures_numa(in->result) || e->region != JXP__REGION__REGION_HEAP)
		return 0;
	access.from = numa_topology_node_of_cpu(&in->result->findings.numa, e->cpu);
	return numa_profile_access(&in->result->numa, &access);
}

static int note_sharing(struct object_intake *in, const struct object_event *e,
			struct tracked_object *object)
{
	const struct shared_access access = {.site = object->site,
					     .location = e->location,
					     .thread = e->tid,
					     .allocator = object->allocator,
					     .thread_before = object->accessed_by,
					     .store = e->store,
					     .metric = (double)e->access_weight * object->weight};

	object->accessed_by = e->tid;
	return lost_or_failed(in, sharing_add(&in->result->objects.sharing_table, &access),
			      LOSS_SITE_ACCESSES);
}

static struct object_access access_of(const struct object_event *e)
{
	return (struct object_access){.node = e->node,
				      .location = e->location,
				      .class_name = e->class_name,
				      .object_bytes = e->size_bytes,
				      .weight = (double)e->access_weight};
}

/* What an access met, where it was no object of a site. */
#define HELD_UNTRACKED UINT32_MAX
#define HELD_UNSETTLED (UINT32_MAX - 1)

/* Waits until it is told who makes it, if that has to be. */
static int hold(struct object_intake *in, const struct object_event *e, uint32_t site,
		const struct tracked_object *object)
{
	struct attribution_held held = {
	    .queries[0] = {.code = e->code,
			   .offset = e->offset,
			   .calls = e->calls,
			   .node = e->node,
			   .location = e->location,
			   .loads = !e->store,
			   .stores = e->store},
	    .access = {.access = access_of(e),
		       .site = site,
		       .region = e->region,
		       .object_weight = object ? object->weight : 1,
		       .object_metric = object ? object->metric : 0},
	};

	return attribution_intake_add(in->attribution, &held);
}

int object_intake_attributed(struct object_intake *in, const struct attribution_held *held)
{
	struct object_profile *o = &in->result->objects;
	const struct held_access *h = &held->access;
	struct object_access access = h->access;

	access.node = held->queries[0].node;
	if (h->site == HELD_UNTRACKED)
		return object_profile_untracked(o, h->region, &access);
	if (h->site == HELD_UNSETTLED)
		return object_profile_unsettled(o, &access);
	return lost_or_failed(
	    in, object_profile_access(o, h->site, &access, h->object_weight, h->object_metric),
	    LOSS_SITE_ACCESSES);
}

/* A sampled access of a settled epoch, and what it met: an object of a site, or none. */
static int apply_access(struct object_intake *in, const struct object_event *e)
{
	struct tracked_object *object = object_table_find(&in->table, e->address);
	int r;

	if (e->region == JXP__REGION__REGION_HEAP)
		accessed_sizes_add(&in->result->objects.sizes, e->size_bytes,
				   (double)e->access_weight);
	r = note_numa(in, e, object);
	if (r < 0)
		return r;
	if (!object)
		return hold(in, e, HELD_UNTRACKED, NULL);
	r = note_sharing(in, e, object);
	if (r == 0)
		r = hold(in, e, object->site, object);
	object->metric += (double)e->access_weight;
	return r;
}

/* The estimate counts an object also when it cannot be tracked. */
static int apply_allocation(struct object_intake *in, const struct object_event *e, bool settled)
{
	struct object_profile *o = &in->result->objects;
	struct tracked_object object = {.address = e->address,
					.size_bytes = e->size_bytes,
					.weight = e->object_weight,
					.id = e->object,
					.judgement = o->judgement,
					.allocator = e->tid,
					.accessed_by = e->tid,
					.alloc_node = NUMA_NONE};
	int r = object_profile_site(o, e->class_name, e->node, &object.site);

	if (r < 0)
		return lost_or_failed(in, r, LOSS_SITES);
	r = strata_allocated(&o->strata, e->class_name, e->size_bytes, e->object_weight);
	if (r < 0)
		return r;
	if (window_result_measures_numa(in->result))
		object.alloc_node = numa_topology_node_of_cpu(&in->result->findings.numa, e->cpu);
	r = object_table_add(&in->table, &object, settled);
	if (r == -EEXIST || r == -EINVAL)
		return lost_or_failed(in, r, r == -EEXIST ? LOSS_REPEATED_IDS : LOSS_INVALID);
	object_profile_allocated(o, object.site, object.weight, object.size_bytes);
	if (r < 0) /* Nobody will tell of its death. */
		object_profile_died(o, object.site, object.weight, object.size_bytes,
				    object.judgement);
	return lost_or_failed(in, r, LOSS_OBJECTS);
}

static int apply_event(struct object_intake *in, const struct object_event *e, bool settled)
{
	bool heap = e->region == JXP__REGION__REGION_HEAP;
	int r;

	if (e->type == OBJECT_ALLOCATION)
		return apply_allocation(in, e, settled);
	if (settled)
		return apply_access(in, e);
	r = hold(in, e, heap ? HELD_UNSETTLED : HELD_UNTRACKED, NULL);
	/* Where its page is does not depend on which object is there. */
	return r < 0 ? r : note_numa(in, e, NULL);
}

static void on_died(void *context, const struct tracked_object *object)
{
	struct object_intake *in = context;

	if (object->judgement > in->youngest)
		in->youngest = object->judgement;
	object_profile_died(&in->result->objects, object->site, object->weight, object->size_bytes,
			    object->judgement);
}

static int apply_pass(struct object_intake *in, const struct object_pass *pass)
{
	uint64_t unknown = 0;
	int r;

	in->youngest = 0;
	r = object_table_pass(&in->table, pass, on_died, in, &unknown);

	lose(in, LOSS_UNKNOWN_OBJECTS, unknown);
	in->result->objects.concurrent_gc =
	    strcmp(in->result->gc, "ZGC") == 0 || strcmp(in->result->gc, "Shenandoah") == 0;
	if (pass->dead_count > 0)
		object_profile_judged(&in->result->objects, in->youngest, pass->ready_ns);
	return r;
}

/* What the tables have counted themselves. */
static void note_losses(struct object_intake *in)
{
	uint64_t *losses = in->result->losses;

	lose(in, LOSS_OVERLAPS, in->table.evicted - in->evicted);
	in->evicted = in->table.evicted;
	losses[LOSS_CLASS_ACCESSES] = in->result->objects.classes.refused;
	losses[LOSS_STRATA] = in->result->objects.strata.refused;
}

/* Applies all that can be. */
static int pump(struct object_intake *in)
{
	const struct object_pass *pass;
	struct object_event event;
	enum order_item item;
	int r = 0;

	while (r == 0 && (item = object_order_next(&in->order, in->table.count > 0, &event,
						   &pass)) != ORDER_NOTHING)
		r = item == ORDER_PASS ? apply_pass(in, pass)
				       : apply_event(in, &event, item == ORDER_SETTLED);
	note_losses(in);
	return r;
}

/* Queues an event; when there is no room the earliest one leaves as it is: an access is lost, an
 * allocation waits for the next pass. */
static int queue(struct object_intake *in, const struct object_event *event)
{
	struct object_event early;
	int r = object_order_add(&in->order, event);

	if (r != -ENOSPC || !object_order_evict(&in->order, &early))
		return r;
	if (early.type == OBJECT_ALLOCATION)
		r = apply_allocation(in, &early, false);
	else
		r = lost_or_failed(in, -ENOSPC, LOSS_OBJECT_ORDER);
	return r < 0 ? r : object_order_add(&in->order, event);
}

/* ---------------------------------------------------------------- checking */

static int add_class(struct object_intake *in, const Jxp__ObjectClass *c)
{
	uint32_t known, name = 0;
	int r;

	if (c->id == 0 || agent_ids_get(&in->classes, c->id, &known)) {
		lose(in, c->id ? LOSS_REPEATED_IDS : LOSS_INVALID, 1);
		return 0;
	}
	if (in->classes.count >= LIMIT_CLASSES) {
		lose(in, LOSS_CLASSES, 1);
		return 0;
	}
	r = strings_intern(&in->result->profile.strings, c->name, &name);
	if (r < 0 && (r = lost_or_failed(in, r, LOSS_STRINGS)) < 0)
		return r;
	return agent_ids_add(&in->classes, c->id, name);
}

/* The window's name for an id of the agent. An unknown one is counted and becomes 0, "none". */
static uint32_t translate(struct object_intake *in, const struct agent_ids *map, uint32_t id)
{
	uint32_t value = 0;

	if (id != 0 && !agent_ids_get(map, id, &value))
		lose(in, LOSS_UNKNOWN_IDS, 1);
	return value;
}

/* Nothing that comes later is about it, so it waits for nothing. */
static int add_untracked(struct object_intake *in, const struct object_event *e)
{
	struct object_profile *o = &in->result->objects;
	uint32_t site;
	int r = object_profile_site(o, e->class_name, e->node, &site);

	if (r < 0)
		return lost_or_failed(in, r, LOSS_SITES);
	object_profile_told(o, site, e->object_weight, e->size_bytes);
	return 0;
}

/* Is anything of objects to come in this window? */
static bool expects_objects(struct object_intake *in)
{
	bool tracks = window_result_tracks_objects(in->result);

	lose(in, LOSS_INVALID, !tracks);
	return tracks;
}

int object_intake_allocation(struct object_intake *in, const struct event_allocation *a)
{
	struct object_event e = {.time_ns = a->time_ns,
				 .address = a->address,
				 .epoch = a->epoch,
				 .tid = a->tid,
				 .cpu = a->cpu,
				 .type = OBJECT_ALLOCATION,
				 .object = a->object,
				 .size_bytes = a->size_bytes,
				 .object_weight = a->weight};

	if (!expects_objects(in))
		return 0;
	/* The comparison of the weight also refuses NaN. */
	if ((a->object == 0 && a->address != 0) || a->size_bytes == 0 ||
	    a->size_bytes > LIMIT_OBJECT_BYTES ||
	    !(a->weight >= 1 && a->weight <= LIMIT_OBJECT_WEIGHT)) {
		lose(in, LOSS_INVALID, 1);
		return 0;
	}
	e.class_name = translate(in, &in->classes, a->class_id);
	e.node = translate(in, in->nodes, a->node);
	return e.object ? queue(in, &e) : add_untracked(in, &e);
}

int object_intake_access(struct object_intake *in, const struct event_access *a)
{
	struct object_event e = {.time_ns = a->time_ns,
				 .address = a->address,
				 .epoch = a->epoch,
				 .tid = a->tid,
				 .cpu = a->cpu,
				 .type = OBJECT_ACCESS,
				 .store = a->store != 0,
				 .code = a->code,
				 .offset = a->offset,
				 .calls = a->calls,
				 .access_weight = a->weight};

	if (!expects_objects(in))
		return 0;
	if (a->length < 1 || a->length > LIMIT_ACCESS_BYTES || a->weight == 0 ||
	    a->weight > LIMIT_ACCESS_WEIGHT || a->region > JXP__REGION__REGION_JVM) {
		lose(in, LOSS_INVALID, 1);
		return 0;
	}
	e.region = a->region;
	e.length_bytes = a->length;
	e.node = translate(in, in->nodes, a->node);
	e.location = translate(in, in->locations, a->location);
	e.class_name = locations_get(&in->result->profile.locations, e.location).class_name;
	if (a->object_bytes <= LIMIT_OBJECT_BYTES)
		e.size_bytes = a->object_bytes;
	else
		lose(in, LOSS_INVALID, 1);
	return queue(in, &e);
}

int object_intake_position(struct object_intake *in, const struct event_position *p)
{
	bool known = true;
	int r = 0;

	if (expects_objects(in))
		r = object_order_position(&in->order, p, in->ready_ns, &known);
	lose(in, LOSS_POSITIONS, !known);
	return r;
}

int object_intake_settled(struct object_intake *in, const struct event_settled *s)
{
	if (!expects_objects(in))
		return 0;
	if (!object_order_settle(&in->order, s->epoch, in->ready_ns))
		lose(in, LOSS_POSITIONS, 1);
	return pump(in); /* Makes room for the next one. */
}

/* ---------------------------------------------------------------- batches */

int object_intake_begin(struct object_intake *in, const Jxp__Batch *batch)
{
	int r = 0;

	if (!window_result_tracks_objects(in->result)) {
		lose(in, LOSS_INVALID, batch->n_classes > 0);
		return 0;
	}
	in->ready_ns = batch->time_ns;
	if (batch->objects_refused[0])
		(void)utf8_sanitize(in->result->objects_refused,
				    sizeof(in->result->objects_refused),
				    batch->objects_refused); /* May be cut. */
	if (batch->object_interval) {
		in->result->object_interval = batch->object_interval;
		in->result->object_min_size = batch->object_min_size;
	}
	for (size_t i = 0; r == 0 && i < batch->n_classes; i++)
		r = add_class(in, batch->classes[i]);
	return r;
}

int object_intake_settle(struct object_intake *in, uint64_t settled_ns)
{
	if (!window_result_tracks_objects(in->result))
		return 0;
	object_order_settled_until(&in->order, settled_ns);
	return pump(in);
}

int object_intake_finish(struct object_intake *in)
{
	struct object_event event;
	int r;

	object_order_settled_until(&in->order, UINT64_MAX);
	r = pump(in);
	/* What is left is of epochs that nobody settled. */
	while (r == 0 && object_order_evict(&in->order, &event))
		r = apply_event(in, &event, false);
	note_losses(in);
	return r;
}

size_t object_intake_memory_bytes(const struct object_intake *in)
{
	return object_order_memory_bytes(&in->order) + object_table_memory_bytes(&in->table) +
	       agent_ids_memory_bytes(&in->classes);
}
