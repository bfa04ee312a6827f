#include "attach/agent/stream/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/method/java_name.h"
#include "attach/agent/stream/code_message.h"
#include "attach/agent/stream/numbering.h"
#include "attach/agent/stream/place_numbers.h"
#include "common/clock.h"
#include "common/proc.h"
#include "proto/limits.h"

#define INSTRUCTION_TEXT_BYTES 128

struct drain {
	struct link *link;
	struct context_table *contexts;
	struct method_table *methods;
	const struct method_layout *layout;
	struct batch batch;
	struct code_message *image;       /* NULL: no code was asked for yet */
	uint64_t named[METHODS_MAX / 64]; /* methods whose names were sent: a bit for each */
	struct numbering instructions;    /* by their bytes */
	struct place_numbers places;
	uint64_t names_lost;
	uint64_t records_lost;
	bool vm_dead;
	uint32_t classes_sent;     /* numbers of class_table up to this one */
	Jxp__Positions *positions; /* of the batch: the part that is being filled, or NULL */
	struct trace_told told;    /* the trace that is being put together, */
	uint8_t told_parts;        /* of which so many parts are there */
	uint64_t settled_ns;
	uint32_t object_interval;
	uint64_t object_min_size;
	char objects_refused[sizeof(((struct err *)0)->message)];
};

struct drain *drain_new(struct link *link, struct context_table *contexts,
			struct method_table *methods, const struct method_layout *layout)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->link = link;
	d->contexts = contexts;
	d->methods = methods;
	d->layout = layout;
	batch_init(&d->batch);
	numbering_init(&d->instructions);
	place_numbers_init(&d->places);
	return d;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	batch_clear(&d->batch);
	code_message_free(d->image);
	numbering_release(&d->instructions);
	place_numbers_release(&d->places);
	free(d);
}

/* Something got no number: all are given out, which is counted, or memory is short, which ends the
 * session. */
static void count_unnumbered(struct drain *d, const struct numbering *numbers)
{
	if (numbering_is_full(numbers))
		d->names_lost++;
	else
		d->batch.failed = true;
}

static bool is_named(const struct drain *d, uint32_t number)
{
	return d->named[(number - 1) / 64] >> (number - 1) % 64 & 1;
}

/* Sends what a method is called, once. The engine knows it by the same number. */
static void name_method(struct drain *d, uint32_t number)
{
	if (is_named(d, number))
		return;
	d->named[(number - 1) / 64] |= UINT64_C(1) << (number - 1) % 64;
	/* batch.failed tells. */
	(void)batch_method(&d->batch, number, method_of_number(d->methods, number),
			   d->layout->byte_base);
}

/* Of what was compiled at least once when it was met. */
static Jxp__Tier tier_of(const struct drain *d, const struct context_node *node)
{
	if (node->bci == CALL_BCI_NATIVE)
		return JXP__TIER__TIER_NATIVE;
	return method_is_compiled(d->methods, node->method) ? JXP__TIER__TIER_JIT
							    : JXP__TIER__TIER_INTERPRETED;
}

static void send_node(struct drain *d, uint32_t id)
{
	struct context_node *node = context_node(d->contexts, id);
	Jxp__Node *message;

	name_method(d, node->method);
	message = batch_node(&d->batch);
	if (!message)
		return;
	message->id = id;
	message->parent = context_parent(node);
	message->method = node->method;
	message->bci = node->bci >= 0 ? node->bci : -1;
	message->tier = tier_of(d, node);
	context_set_sent(d->contexts, id);
}

/* Sends the nodes of a context that were not sent before, root first. */
static void send_context(struct drain *d, uint32_t leaf)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf;
	     id && !context_is_sent(d->contexts, id) && depth < MAX_FRAMES_LIMIT;
	     id = context_parent(context_node(d->contexts, id)))
		path[depth++] = id;
	while (depth > 0)
		send_node(d, path[--depth]);
}

static uint32_t instruction_id(struct drain *d, const struct code_bytes *code)
{
	char text[INSTRUCTION_TEXT_BYTES];
	struct numbering_key key = {0};
	uint32_t id;
	bool added;

	if (code->length == 0)
		return 0;
	_Static_assert(sizeof(struct code_bytes) == sizeof(struct numbering_key),
		       "the bytes are the key");
	memcpy(&key, code, sizeof(key));
	id = numbering_intern(&d->instructions, key, &added);
	if (id == 0) {
		count_unnumbered(d, &d->instructions);
	} else if (added) {
		insn_format(code->bytes, code->length, text, sizeof(text));
		(void)batch_instruction(&d->batch, id, text); /* batch.failed tells. */
	}
	return id;
}

/* The number of a place; what the instructions say of the values there counts unless its name says
 * more. A JVM that has died is not read any more. */
static uint32_t place_id(struct drain *d, const struct place *place, uint8_t *element)
{
	struct place_type type = {0};
	uint32_t id = d->vm_dead ? 0 : place_numbers_of(&d->places, &d->batch, place, &type);

	if (type.typed)
		*element = type.element;
	return id;
}

static void add_record(struct drain *d, const struct thread *t, const struct record *r)
{
	uint32_t watch_instruction = instruction_id(d, &r->watch_code);
	uint32_t trap_instruction = instruction_id(d, &r->trap_code);
	uint8_t element = r->element;
	uint32_t location = place_id(d, &r->place, &element);
	Jxp__Transition *m;

	send_context(d, r->watch_context);
	send_context(d, r->trap_context);
	m = batch_transition(&d->batch);
	if (!m)
		return;
	m->type = (Jxp__Transition__Type)r->type;
	m->tid = (uint32_t)t->tid;
	m->reg = r->reg;
	m->kind = (Jxp__Kind)r->kind;
	m->time_ns = r->time_ns;
	m->address = r->address;
	m->length = r->length;
	m->region = (Jxp__Region)r->region;
	m->watch_node = r->watch_context;
	m->watch_instruction = watch_instruction;
	m->trap_node = r->trap_context;
	m->trap_instruction = trap_instruction;
	m->checked_bytes = r->checked_bytes;
	m->wasteful = r->wasteful_as >> element & 1;
	m->cpu_ns = r->cpu_ns;
	m->location = location;
	m->jvm_access = r->jvm_access;
	if (r->type != RECORD_TRAPPED)
		return;
	m->watch_code = code_copy_place(r->watch_at, r->watch_code.bytes, r->watch_code.length,
					&m->watch_offset);
	m->watch_calls = r->watch_calls;
	if (r->jvm_access)
		return;
	m->trap_calls = r->trap_calls;
	m->trap_code =
	    code_copy_place(r->trap_at, r->trap_code.bytes, r->trap_code.length, &m->trap_offset);
}

static void add_access(struct drain *d, const struct thread *t, const struct record *r)
{
	uint32_t instruction = instruction_id(d, &r->watch_code);
	uint8_t element = 0;
	uint32_t location = place_id(d, &r->place, &element);
	Jxp__MemoryAccess *m;

	send_context(d, r->watch_context);
	m = batch_access(&d->batch);
	if (!m)
		return;
	m->tid = (uint32_t)t->tid;
	m->cpu = r->cpu;
	m->epoch = r->epoch;
	m->time_ns = r->time_ns;
	m->address = r->address;
	m->length = r->length;
	m->store = r->store;
	m->region = (Jxp__Region)r->region;
	m->node = r->watch_context;
	m->instruction = instruction;
	m->weight = r->weight;
	m->location = location;
	m->object_bytes = (uint64_t)r->place.words * 8;
	m->calls = r->access_calls;
	m->code =
	    code_copy_place(r->access_at, r->watch_code.bytes, r->watch_code.length, &m->offset);
}

static void add_cpu_sample(struct drain *d, const struct thread *t, const struct record *r)
{
	Jxp__CpuSample *m;

	send_context(d, r->watch_context);
	m = batch_cpu_sample(&d->batch);
	if (!m)
		return;
	m->tid = (uint32_t)t->tid;
	m->time_ns = r->time_ns;
	m->state = (Jxp__CpuSample__State)r->state;
	m->node = r->watch_context;
	m->truncated = r->truncated;
	m->cpu_ns = r->tick_ns;
	m->code = r->code;
	m->offset = r->code_offset;
	m->called = r->called;
}

static void add_burst(struct drain *d, const struct thread *t, const struct record *r)
{
	Jxp__LoopBurst *m = batch_burst(&d->batch, r->others);

	if (!m)
		return;
	m->plan = r->plan;
	m->tid = (uint32_t)t->tid;
	m->time_ns = r->time_ns;
	m->headers = r->headers;
	m->left = r->left;
	for (unsigned i = 0; i < r->others; i++) {
		m->places[i] = r->places[i];
		m->counts[i] = r->counts[i];
	}
}

static void add_reading(struct drain *d, const struct thread *t, const struct record *r)
{
	Jxp__LoopReading *m = batch_reading(&d->batch);

	if (!m)
		return;
	m->plan = r->read_plan;
	m->tid = (uint32_t)t->tid;
	m->time_ns = r->time_ns;
	m->end = r->end;
	m->stepped = r->stepped;
	m->left = r->unended;
}

static void copy_numbers(uint32_t *to, const uint32_t *from, size_t count)
{
	if (count > 0)
		memcpy(to, from, count * sizeof(*to));
}

static bool is_sound(const struct trace_told *told)
{
	return told->counts[0] <= LIMIT_TRACE_VALUES && told->counts[1] <= LIMIT_TRACE_VALUES &&
	       told->scalar_counts[0] <= LIMIT_PLAN_SCALARS &&
	       told->scalar_counts[1] <= LIMIT_PLAN_SCALARS &&
	       told->turn_values <= LIMIT_TRACE_VALUES;
}

static void add_trace(struct drain *d, const struct thread *t, uint64_t time_ns,
		      const struct trace_told *told)
{
	Jxp__LoopTrace *m =
	    batch_trace(&d->batch, told->counts, told->scalar_counts, told->turn_values);

	if (!m)
		return;
	m->plan = told->plan;
	m->tid = (uint32_t)t->tid;
	m->time_ns = time_ns;
	m->load = told->load;
	m->first_cut = told->cut[0];
	m->second_cut = told->cut[1];
	m->elapsed_ns = told->elapsed_ns;
	copy_numbers(m->first, told->values[0], m->n_first);
	copy_numbers(m->second, told->values[1], m->n_second);
	copy_numbers(m->first_scalars, told->scalars[0], m->n_first_scalars);
	copy_numbers(m->second_scalars, told->scalars[1], m->n_second_scalars);
	copy_numbers(m->values, told->values[0], m->n_values);
	for (unsigned i = 0; i < m->n_places; i++)
		m->places[i] = told->places[i];
}

/* Puts a trace together. Its parts are in the ring all or not at all, one behind the other: what is
 * out of turn is no trace of ours. */
static void add_trace_part(struct drain *d, const struct thread *t, const struct record *r)
{
	size_t from = (size_t)r->part * RECORD_TRACE_BYTES, left = sizeof(d->told) - from;

	if (r->part != d->told_parts) {
		d->told_parts = 0;
		d->records_lost++;
		if (r->part != 0)
			return;
	}
	memcpy((uint8_t *)&d->told + from, r->bytes,
	       left < RECORD_TRACE_BYTES ? left : RECORD_TRACE_BYTES);
	d->told_parts = (uint8_t)(r->part + 1);
	if (d->told_parts < RECORD_TRACE_PARTS)
		return;
	d->told_parts = 0;
	if (is_sound(&d->told))
		add_trace(d, t, r->time_ns, &d->told);
	else
		d->records_lost++;
}

static int send_batch(struct drain *d)
{
	d->batch.message.time_ns = clock_monotonic_ns();
	d->batch.message.settled_ns = d->settled_ns;
	d->batch.message.object_interval = d->object_interval;
	d->batch.message.object_min_size = d->object_min_size;
	/* The batch does not own it, so it is cleared with the message. */
	if (d->objects_refused[0])
		d->batch.message.objects_refused = d->objects_refused;
	d->positions = NULL;
	return batch_send(&d->batch, d->link);
}

static int send_when_full(struct drain *d)
{
	if (d->batch.failed)
		return -ENOMEM;
	return batch_is_full(&d->batch) ? send_batch(d) : 0;
}

int drain_thread(struct drain *d, struct thread *t)
{
	struct record r;
	int result = 0;

	d->told_parts = 0;
	while (t->memory && result == 0 && ring_pop(&t->memory->ring, &r)) {
		if (r.type == RECORD_ACCESS)
			add_access(d, t, &r);
		else if (r.type == RECORD_CPU)
			add_cpu_sample(d, t, &r);
		else if (r.type == RECORD_BURST)
			add_burst(d, t, &r);
		else if (r.type == RECORD_READING)
			add_reading(d, t, &r);
		else if (r.type == RECORD_TRACE)
			add_trace_part(d, t, &r);
		else
			add_record(d, t, &r);
		result = send_when_full(d);
	}
	return result;
}

/* Classes are numbered in the order of their first allocation. */
static void send_classes(struct drain *d, uint32_t up_to)
{
	while (d->classes_sent < up_to) {
		const char *signature = class_table_signature(++d->classes_sent);
		char *name = java_name_of(signature ? signature : "");

		if (!name)
			d->batch.failed = true;
		else
			(void)batch_object_class(&d->batch, d->classes_sent,
						 name); /* batch.failed tells. */
		free(name);
	}
}

int drain_allocation(struct drain *d, const struct tracked_allocation *a)
{
	Jxp__Allocation *m;

	send_classes(d, a->class_id);
	send_context(d, a->context);
	m = batch_allocation(&d->batch);
	if (m) {
		m->object = a->object;
		m->tid = a->tid;
		m->cpu = a->cpu;
		m->epoch = a->epoch;
		m->time_ns = a->time_ns;
		m->address = a->address;
		m->size_bytes = a->size_bytes;
		m->weight = a->weight;
		m->class_id = a->class_id;
		m->node = a->context;
	}
	return send_when_full(d);
}

/* A part with room for one more, or NULL with batch.failed set. */
static Jxp__Positions *positions(struct drain *d, uint32_t epoch)
{
	Jxp__Positions *p = d->positions;

	if (p && p->n_moved < BATCH_POSITIONS_MAX && p->n_died < BATCH_POSITIONS_MAX)
		return p;
	p = batch_positions(&d->batch);
	if (p)
		p->epoch = epoch;
	d->positions = p;
	return p;
}

int drain_position(struct drain *d, uint32_t epoch, uint32_t id, uint64_t address)
{
	Jxp__Positions *p;
	int r = batch_is_full(&d->batch) || d->batch.failed ? send_when_full(d) : 0;

	if (r < 0)
		return r;
	p = positions(d, epoch);
	if (!p)
		return -ENOMEM;
	if (address == 0) {
		p->died[p->n_died++] = id;
		return 0;
	}
	p->address[p->n_address++] = address;
	p->moved[p->n_moved++] = id;
	return 0;
}

int drain_settle(struct drain *d, uint32_t epoch)
{
	Jxp__Positions *p = positions(d, epoch);

	if (p)
		p->settled = true;
	d->positions = NULL;
	return send_when_full(d);
}

/* Names may be many: they go as batches of their own. */
static uint32_t number_for_image(void *arg, uint64_t method)
{
	struct drain *d = arg;
	uint32_t number = method_number(d->methods, d->layout, method, 0);

	if (number)
		name_method(d, number);
	return send_when_full(d) == 0 ? number : 0; /* Of a failure the next send tells. */
}

static int send_image(struct drain *d, Jxp__CodeImage *image)
{
	d->batch.message.codes = &image;
	d->batch.message.n_codes = 1;
	return send_batch(d); /* Clears the batch, and with it the pointer to ours. */
}

int drain_code_image(struct drain *d, const struct code_copy *copy, bool *cut)
{
	const struct code_methods methods = {d->methods, d->layout, number_for_image, d};
	Jxp__CodeImage *image;
	int r;

	if (!d->image)
		d->image = code_message_new(&methods);
	image = d->image ? code_message_make(d->image, copy) : NULL;
	r = image ? drain_send(d) : -ENOMEM;
	if (r == 0)
		r = send_image(d, image);
	*cut |= image && code_message_cut(d->image);
	return r;
}

int drain_code_refused(struct drain *d, uint64_t code, uint32_t method, const char *reason)
{
	Jxp__CodeImage image = JXP__CODE_IMAGE__INIT;
	int r = drain_send(d);

	image.code = code;
	image.method = method;
	image.error = (char *)(uintptr_t)reason;
	return r == 0 ? send_image(d, &image) : r;
}

uint64_t drain_method_of(const struct drain *d, uint32_t number)
{
	return number > 0 && number <= METHODS_MAX && is_named(d, number)
		   ? method_of_number(d->methods, number)->look.method
		   : 0;
}

void drain_set_object_interval(struct drain *d, uint32_t bytes)
{
	d->object_interval = bytes;
}

void drain_set_object_min_size(struct drain *d, uint64_t bytes)
{
	d->object_min_size = bytes;
}

void drain_refuse_objects(struct drain *d, const char *reason)
{
	(void)snprintf(d->objects_refused, sizeof(d->objects_refused), "%s", reason);
}

void drain_set_settled(struct drain *d, uint64_t time_ns)
{
	/* Never back: the engine has acted on what it was told. */
	if (time_ns > d->settled_ns)
		d->settled_ns = time_ns;
}

int drain_announce_as(struct drain *d, const struct thread *t, const char *name, bool ended)
{
	(void)batch_thread(&d->batch, (uint32_t)t->tid, name, ended); /* batch.failed tells. */
	return send_when_full(d);
}

int drain_announce(struct drain *d, const struct thread *t, bool ended)
{
	char path[64], name[THREAD_NAME_BYTES];

	/* The JVM gives native threads their Java names, cut to 15 bytes. */
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", t->tid);
	if (ended || proc_read(path, name, sizeof(name)) < 0)
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return drain_announce_as(d, t, name, ended);
}

int drain_send(struct drain *d)
{
	return d->batch.failed || d->batch.bytes > 0 ? send_batch(d) : 0;
}

int drain_flush(struct drain *d, const uint64_t *counters, const struct window_cost *cost)
{
	Jxp__Batch *m = &d->batch.message;
	uint64_t copy[JXP__COUNTER__COUNTER_MAX];

	memcpy(copy, counters, sizeof(copy));
	m->counters = copy;
	m->n_counters = JXP__COUNTER__COUNTER_MAX;
	m->cpu_ns = cost->cpu_ns;
	m->overhead_ns = cost->overhead_ns;
	m->setup_ns = cost->setup_ns;
	m->period = cost->period;
	return send_batch(d); /* Clears the batch, and with it the pointer to our copy. */
}

uint64_t drain_places_lost(const struct drain *d)
{
	return d->places.lost;
}

uint64_t drain_records_lost(const struct drain *d)
{
	return d->records_lost;
}

uint64_t drain_names_lost(const struct drain *d)
{
	return d->names_lost + atomic_load_explicit(&d->methods->full, memory_order_relaxed) +
	       atomic_load_explicit(&d->methods->unread, memory_order_relaxed);
}

void drain_vm_died(struct drain *d)
{
	d->vm_dead = true;
}
