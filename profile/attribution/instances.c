#include "profile/attribution/instances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/code/java_op.h"
#include "profile/container/hash.h"

struct key {
	uint32_t caller;
	int32_t bci;
	uint32_t method;
};

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct instances *s = table;
	const struct instance *i = &s->list[position];
	const struct key *k = key;

	return i->caller == k->caller && i->bci == k->bci && i->method == k->method;
}

/* The instance of a key, new or known; INSTANCE_NONE where there is no room. 0 or -ENOMEM. */
static int intern(struct instances *s, struct key key, uint8_t level, uint32_t *instance)
{
	uint32_t hash = hash_ids(&key, 3);
	unsigned depth = key.caller == INSTANCE_NONE ? 0 : s->list[key.caller].depth + 1u;
	int r;

	*instance = INSTANCE_NONE;
	if (hash_index_find(&s->index, hash, matches, s, &key, instance))
		return 0;
	if (s->count == INSTANCES_MAX || depth + 1 >= INSTANCE_DEPTH_MAX)
		return 0;
	r = array_reserve(&s->list, &s->capacity, s->count + 1, sizeof(*s->list));
	if (r == 0)
		r = hash_index_insert(&s->index, hash, (uint32_t)s->count);
	if (r < 0)
		return r;
	s->list[s->count] = (struct instance){.caller = key.caller,
					      .bci = key.bci,
					      .method = key.method,
					      .depth = (uint16_t)depth,
					      .level = level};
	*instance = (uint32_t)s->count++;
	return 0;
}

static int add_record(struct instances *s, const struct code_image *image, size_t index)
{
	const struct code_record *r = &image->records[index];
	const struct code_frame *frames = &image->frames[r->first_frame];
	struct instance_place place = {0, -1};
	int rc = 0;

	if (r->frame_count == 0 || frames[r->frame_count - 1].method != image->method)
		return 0;
	place.bci = frames[r->frame_count - 1].bci;
	for (uint32_t i = r->frame_count - 1; i-- > 0 && rc == 0;) {
		rc = intern(s, (struct key){place.instance, place.bci, frames[i].method}, 0,
			    &place.instance);
		place.bci = frames[i].bci;
		if (rc < 0 || place.instance == INSTANCE_NONE)
			return rc;
	}
	s->records[index] = place;
	return rc;
}

static int add_seen(struct instances *s, const struct code_image *image, const bool *usable)
{
	uint32_t root;
	int r = intern(s, (struct key){INSTANCE_NONE, -1, image->method}, 0, &root);

	for (size_t i = 0; i < image->record_count; i++)
		s->records[i] = (struct instance_place){INSTANCE_NONE, -1};
	for (size_t i = 0; r == 0 && i < image->record_count; i++)
		if (usable[i])
			r = add_record(s, image, i);
	return r;
}

/* ---------------------------------------------------------------- callees without a record */

int instance_places_order(const void *a, const void *b)
{
	const struct instance_place *x = a, *y = b;

	return ORDER(ASCENDING(x->instance, y->instance), ASCENDING(x->bci, y->bci));
}

/* Where real calls are, in order. */
static struct instance_place *list_calls(const struct instances *s, size_t record_count,
					 const bool *called, size_t *count)
{
	struct instance_place *calls = calloc(record_count + 1, sizeof(*calls));

	*count = 0;
	for (size_t i = 0; calls && i < record_count; i++)
		if (called[i] && s->records[i].instance != INSTANCE_NONE)
			calls[(*count)++] = s->records[i];
	if (calls)
		qsort(calls, *count, sizeof(*calls), instance_places_order);
	return calls;
}

static unsigned times_on_path(const struct instances *s, uint32_t instance, uint32_t method)
{
	unsigned times = 0;

	for (; instance != INSTANCE_NONE; instance = s->list[instance].caller)
		times += s->list[instance].method == method;
	return times;
}

static int add_callee(struct instances *s, const struct code_image *image, uint32_t caller,
		      int32_t bci, uint32_t method, uint32_t *instance)
{
	const struct code_method *m = &image->methods[method];

	*instance = INSTANCE_NONE;
	if (m->bytecode_bytes == 0 || m->bytecode_bytes > INSTANCE_UNSEEN_BYTES_MAX ||
	    times_on_path(s, caller, method) >= 2)
		return 0;
	return intern(s, (struct key){caller, bci, method}, (uint8_t)(s->list[caller].level + 1),
		      instance);
}

static bool is_invoke(const struct code_image *image, const struct code_method *m, uint32_t bci)
{
	return java_op_calls(image->bytecodes[m->bytecode + bci]);
}

static bool is_class(const struct code_image *image, const struct code_reference *r,
		     const char *name)
{
	return strcmp(code_image_text(image, image->members[r->member].class_name), name) == 0;
}

/* Where an adapter for calls of variable handles goes on to what does the work: its first static
 * call of a MethodHandle's. -1: it is none. */
static int32_t handle_call(const struct code_image *image, uint32_t method)
{
	const struct code_method *m = &image->methods[method];

	for (uint32_t i = 0; i < m->reference_count; i++) {
		const struct code_reference *r = &image->references[m->first_reference + i];

		if (image->bytecodes[m->bytecode + r->bci] == JAVA_INVOKESTATIC &&
		    is_class(image, r, "java.lang.invoke.MethodHandle"))
			return (int32_t)r->bci;
	}
	return -1;
}

/* The first of a variable handle's call is the adapter, if it is there, and the others are called
 * by that. */
static int add_targets(struct instances *s, const struct code_image *image,
		       const struct code_reference *ref, struct instance_place place)
{
	bool handle = ref->target_count > 1 && is_class(image, ref, "java.lang.invoke.VarHandle");
	int r = 0;

	for (uint32_t t = 0; r == 0 && t < ref->target_count; t++) {
		uint32_t method = image->targets[ref->first_target + t], instance;
		int32_t next = handle && t == 0 ? handle_call(image, method) : -1;

		r = add_callee(s, image, place.instance, place.bci, method, &instance);
		if (next >= 0 && instance != INSTANCE_NONE)
			place = (struct instance_place){instance, next};
	}
	return r;
}

static int add_callees(struct instances *s, const struct code_image *image, uint32_t caller,
		       const struct instance_place *calls, size_t call_count)
{
	const struct code_method *m = &image->methods[s->list[caller].method];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < m->reference_count; i++) {
		const struct code_reference *ref = &image->references[m->first_reference + i];
		const struct instance_place place = {caller, (int32_t)ref->bci};

		if (ref->target_count == 0 || !is_invoke(image, m, ref->bci) ||
		    bsearch(&place, calls, call_count, sizeof(*calls), instance_places_order))
			continue;
		r = add_targets(s, image, ref, place);
	}
	return r;
}

static int add_unseen(struct instances *s, const struct code_image *image, const bool *called)
{
	size_t call_count;
	struct instance_place *calls = list_calls(s, image->record_count, called, &call_count);
	int r = calls ? 0 : -ENOMEM;

	/* The list grows meanwhile: nearer ones come first. */
	for (uint32_t i = 0; r == 0 && i < s->count && s->count < INSTANCES_MAX; i++)
		if (s->list[i].level < INSTANCE_LEVELS_MAX)
			r = add_callees(s, image, i, calls, call_count);
	free(calls);
	return r;
}

/* ---------------------------------------------------------------- */

int instances_make(struct instances *s, const struct code_image *image, const bool *usable,
		   const bool *called)
{
	int r;

	*s = (struct instances){0};
	s->records = calloc(image->record_count + 1, sizeof(*s->records));
	r = s->records ? add_seen(s, image, usable) : -ENOMEM;
	if (r == 0)
		r = add_unseen(s, image, called);
	if (r < 0)
		instances_release(s);
	return r;
}

void instances_release(struct instances *s)
{
	free(s->list);
	hash_index_release(&s->index);
	free(s->records);
	*s = (struct instances){0};
}

size_t instances_memory_bytes(const struct instances *s)
{
	return s->capacity * sizeof(*s->list) + s->index.capacity * sizeof(*s->index.slots);
}

unsigned instances_chain(const struct instances *s, struct instance_place place,
			 struct instance_call calls[INSTANCE_DEPTH_MAX])
{
	unsigned count = s->list[place.instance].depth + 1u, at = count;

	while (at-- > 0) {
		const struct instance *i = &s->list[place.instance];

		calls[at] = (struct instance_call){i->method, place.bci};
		place = (struct instance_place){i->caller, i->bci};
	}
	return count;
}

bool instances_is_below(const struct instances *s, uint32_t instance, struct instance_place place)
{
	for (; instance != INSTANCE_NONE; instance = s->list[instance].caller)
		if (s->list[instance].caller == place.instance &&
		    s->list[instance].bci == place.bci)
			return true;
	return false;
}
