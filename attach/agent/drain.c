#include "attach/agent/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/budget.h"
#include "attach/agent/id_map.h"
#include "attach/agent/method_set.h"
#include "attach/agent/thread.h"
#include "common/clock.h"
#include "common/proc.h"
#include "proto/limits.h"

/* AsyncGetCallTrace's bci for a native method (forte.cpp). */
#define BCI_NATIVE (-3)

#define INSTRUCTION_TEXT_BYTES 128
#define THREAD_NAME_BYTES      32

struct drain {
	struct link *link;
	struct vm *vm;
	struct context_table *contexts;
	struct batch batch;
	struct id_map methods;      /* jmethodID -> id */
	struct id_map instructions; /* code bytes -> id */
	uint64_t names_lost;
	bool vm_dead;
};

struct drain *drain_new(struct link *link, struct vm *vm, struct context_table *contexts)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->link = link;
	d->vm = vm;
	d->contexts = contexts;
	batch_init(&d->batch);
	id_map_init(&d->methods);
	id_map_init(&d->instructions);
	return d;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	batch_clear(&d->batch);
	id_map_release(&d->methods);
	id_map_release(&d->instructions);
	free(d);
}

/* The id of a method, 0 when it has no name. Names are asked for at the first sight: later its
 * class may be gone. */
static uint32_t method_id(struct drain *d, uint64_t method)
{
	struct vm_method names;
	bool added;
	uint32_t id;

	if (method == 0)
		return 0;
	id = id_map_intern(&d->methods, (struct id_key){method, 1}, &added);
	if (id == 0) {
		d->batch.failed = true;
		return 0;
	}
	if (!added)
		return id;
	if (d->vm_dead || !vm_method_resolve(d->vm, (jmethodID)(uintptr_t)method, &names)) {
		struct vm_method unnamed = {.class_name = (char *)"", .name = (char *)""};

		d->names_lost++;
		(void)batch_method(&d->batch, id, &unnamed); /* batch.failed tells. */
		return id;
	}
	(void)batch_method(&d->batch, id, &names); /* batch.failed tells. */
	vm_method_release(d->vm, &names);
	return id;
}

static Jxp__Tier tier_of(const struct context_node *node)
{
	if (node->bci == BCI_NATIVE)
		return JXP__TIER__TIER_NATIVE;
	if (node->method == 0)
		return JXP__TIER__TIER_UNKNOWN;
	return method_set_has(node->method) ? JXP__TIER__TIER_JIT : JXP__TIER__TIER_INTERPRETED;
}

static void send_node(struct drain *d, uint32_t id)
{
	struct context_node *node = context_node(d->contexts, id);
	uint32_t method = method_id(d, node->method);
	Jxp__Node *message = batch_node(&d->batch);

	if (!message)
		return;
	message->id = id;
	message->parent = node->parent;
	message->method = method;
	message->bci = node->bci >= 0 ? node->bci : -1;
	message->tier = tier_of(node);
	node->sent = true;
}

/* Sends the nodes of a context that were not sent before, root first. */
static void send_context(struct drain *d, uint32_t leaf)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf;
	     id && !context_node(d->contexts, id)->sent && depth < MAX_FRAMES_LIMIT;
	     id = context_node(d->contexts, id)->parent)
		path[depth++] = id;
	while (depth > 0)
		send_node(d, path[--depth]);
}

static uint32_t instruction_id(struct drain *d, const struct code_bytes *code)
{
	char text[INSTRUCTION_TEXT_BYTES];
	struct id_key key = {0};
	uint32_t id;
	bool added;

	if (code->length == 0)
		return 0;
	_Static_assert(sizeof(struct code_bytes) == sizeof(struct id_key), "the bytes are the key");
	memcpy(&key, code, sizeof(key));
	id = id_map_intern(&d->instructions, key, &added);
	if (id == 0) {
		d->batch.failed = true;
	} else if (added) {
		insn_format(code->bytes, code->length, text, sizeof(text));
		(void)batch_instruction(&d->batch, id, text); /* batch.failed tells. */
	}
	return id;
}

static void add_record(struct drain *d, const struct thread *t, const struct record *r)
{
	uint32_t watch_instruction = instruction_id(d, &r->watch_code);
	uint32_t trap_instruction = instruction_id(d, &r->trap_code);
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
	m->wasteful = r->wasteful;
	m->jvm_access = r->jvm_access;
}

static int send_batch(struct drain *d)
{
	d->batch.message.time_ns = clock_monotonic_ns();
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

	while (t->memory && result == 0 && ring_pop(&t->memory->ring, &r)) {
		add_record(d, t, &r);
		result = send_when_full(d);
	}
	return result;
}

int drain_announce(struct drain *d, const struct thread *t, bool ended)
{
	char path[64], name[THREAD_NAME_BYTES];

	/* The JVM gives native threads their Java names, cut to 15 bytes. */
	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", t->tid);
	if (ended || proc_read(path, name, sizeof(name)) < 0)
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	(void)batch_thread(&d->batch, (uint32_t)t->tid, name, ended); /* batch.failed tells. */
	return send_when_full(d);
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

uint64_t drain_names_lost(const struct drain *d)
{
	return d->names_lost;
}

void drain_vm_died(struct drain *d)
{
	d->vm_dead = true;
}
