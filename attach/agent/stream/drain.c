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
	uint32_t classes_sent;   /* numbers of class_table up to this one */
	struct event_trace told; /* the trace that is being put together, */
	uint8_t told_parts;      /* of which so many parts are there */
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

/* The tier of what was compiled at least once when it was met. */
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

static void add_transition(struct drain *d, const struct thread *t, const struct record *r)
{
	uint32_t watch_instruction = instruction_id(d, &r->watch_code);
	uint32_t trap_instruction = instruction_id(d, &r->trap_code);
	uint8_t element = r->element;
	uint32_t location = place_id(d, &r->place, &element);
	struct event_transition m = {.head = event_head_of(EVENT_TRANSITION),
				     .tid = (uint32_t)t->tid,
				     .time_ns = r->time_ns,
				     .address = r->address,
				     .cpu_ns = r->cpu_ns,
				     .watch_node = r->watch_context,
				     .trap_node = r->trap_context,
				     .watch_instruction = watch_instruction,
				     .trap_instruction = trap_instruction,
				     .checked_bytes = r->checked_bytes,
				     .location = location,
				     .type = r->type,
				     .reg = r->reg,
				     .kind = r->kind,
				     .region = r->region,
				     .length = r->length,
				     .wasteful = r->wasteful_as >> element & 1,
				     .jvm_access = r->jvm_access};

	send_context(d, r->watch_context);
	send_context(d, r->trap_context);
	if (r->type == RECORD_TRAPPED) {
		m.watch_calls = r->watch_calls;
		m.watch_code = code_copy_place(r->watch_at, r->watch_code.bytes,
					       r->watch_code.length, &m.watch_offset);
	}
	if (r->type == RECORD_TRAPPED && !r->jvm_access) {
		m.trap_calls = r->trap_calls;
		m.trap_code = code_copy_place(r->trap_at, r->trap_code.bytes, r->trap_code.length,
					      &m.trap_offset);
	}
	batch_add(&d->batch, &m.head);
}

static void add_access(struct drain *d, const struct thread *t, const struct record *r)
{
	uint8_t element = 0;
	uint32_t location = place_id(d, &r->place, &element);
	struct event_access m = {.head = event_head_of(EVENT_ACCESS),
				 .tid = (uint32_t)t->tid,
				 .time_ns = r->time_ns,
				 .address = r->address,
				 .weight = r->weight,
				 .object_bytes = (uint64_t)r->place.words * 8,
				 .epoch = r->epoch,
				 .node = r->watch_context,
				 .location = location,
				 .cpu = r->cpu,
				 .length = r->length,
				 .store = r->store,
				 .region = r->region,
				 .calls = r->access_calls};

	send_context(d, r->watch_context);
	m.code =
	    code_copy_place(r->access_at, r->watch_code.bytes, r->watch_code.length, &m.offset);
	batch_add(&d->batch, &m.head);
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
	d->told.tid = (uint32_t)t->tid;
	batch_add(&d->batch, &d->told.head);
}

/* Names what the record refers to, and says whose it is. */
static void add_record(struct drain *d, const struct thread *t, struct record *r)
{
	switch (r->type) {
	case RECORD_ACCESS:
		add_access(d, t, r);
		break;
	case RECORD_CPU:
		send_context(d, r->tick.node);
		r->tick.tid = (uint32_t)t->tid;
		batch_add(&d->batch, &r->tick.head);
		break;
	case RECORD_BURST:
		r->burst.tid = (uint32_t)t->tid;
		batch_add(&d->batch, &r->burst.head);
		break;
	case RECORD_READING:
		r->reading.tid = (uint32_t)t->tid;
		batch_add(&d->batch, &r->reading.head);
		break;
	case RECORD_TRACE:
		add_trace_part(d, t, r);
		break;
	default:
		add_transition(d, t, r);
	}
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

int drain_allocation(struct drain *d, const struct event_allocation *a)
{
	send_classes(d, a->class_id);
	send_context(d, a->node);
	batch_add(&d->batch, &a->head);
	return send_when_full(d);
}

int drain_position(struct drain *d, uint32_t epoch, uint32_t id, uint64_t address)
{
	const struct event_position p = {.head = event_head_of(EVENT_POSITION),
					 .epoch = epoch,
					 .address = address,
					 .object = id};

	batch_add(&d->batch, &p.head);
	return send_when_full(d);
}

int drain_settle(struct drain *d, uint32_t epoch)
{
	const struct event_settled s = {.head = event_head_of(EVENT_SETTLED), .epoch = epoch};

	batch_add(&d->batch, &s.head);
	return send_when_full(d);
}

/* Names may be many: they go as batches of their own. */
static uint32_t number_for_image(void *arg, uint64_t method)
{
	struct drain *d = arg;
	uint32_t number = method_number(d->methods, d->layout, method, 0);

	if (number)
		name_method(d, number);
	return send_when_full(d) == 0 ? number : 0; /* The next send tells of a failure. */
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

int drain_flush(struct drain *d, const uint64_t *counters, const struct ledger *ledger,
		uint64_t setup_ns, uint64_t period)
{
	Jxp__Batch *m = &d->batch.message;
	uint64_t copy[JXP__COUNTER__COUNTER_MAX];

	memcpy(copy, counters, sizeof(copy));
	m->counters = copy;
	m->n_counters = JXP__COUNTER__COUNTER_MAX;
	m->cpu_ns = ledger->cpu_ns;
	m->overhead_ns = ledger_overhead_ns(ledger);
	m->setup_ns = setup_ns;
	m->period = period;
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
