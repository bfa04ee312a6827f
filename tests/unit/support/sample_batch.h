/*
 * A batch as an agent would send it, for tests: methods, three contexts, three places (1 a field, 2
 * elements of an array, 3 a spill), and pairs of each kind.
 *
 *   Main.main:10 ─┬─ Main.fill:21       (node 2)
 *                 └─ Main.sum:31        (node 3)
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_BATCH_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_BATCH_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/sample_events.h"

struct sample_batch {
	Jxp__Batch batch;
	Jxp__LineEntry lines[3];
	Jxp__LineEntry *line_pointers[3];
	Jxp__Method methods[3];
	Jxp__Method *method_pointers[3];
	Jxp__Node nodes[3];
	Jxp__Node *node_pointers[3];
	Jxp__Instruction instructions[2];
	Jxp__Instruction *instruction_pointers[2];
	Jxp__Thread thread;
	Jxp__Thread *thread_pointers[1];
	Jxp__Location locations[3];
	Jxp__Location *location_pointers[3];
	struct sample_events events;
	uint64_t counters[JXP__COUNTER__COUNTER_MAX];
};

static void sample_method(struct sample_batch *s, uint32_t i, const char *name, int32_t line)
{
	Jxp__Method *m = &s->methods[i];

	jxp__line_entry__init(&s->lines[i]);
	s->lines[i].bci = 0;
	s->lines[i].line = line;
	s->line_pointers[i] = &s->lines[i];
	jxp__method__init(m);
	m->id = i + 1;
	m->class_name = (char *)"org.example.Main";
	m->name = (char *)name;
	m->file = (char *)"Main.java";
	m->n_lines = 1;
	m->lines = &s->line_pointers[i];
	s->method_pointers[i] = m;
}

static void sample_node(struct sample_batch *s, uint32_t i, uint32_t parent)
{
	Jxp__Node *n = &s->nodes[i];

	jxp__node__init(n);
	n->id = i + 1;
	n->parent = parent;
	n->method = i + 1;
	n->bci = 4;
	n->tier = JXP__TIER__TIER_JIT;
	s->node_pointers[i] = n;
}

static void sample_instruction(struct sample_batch *s, uint32_t i, const char *text)
{
	jxp__instruction__init(&s->instructions[i]);
	s->instructions[i].id = i + 1;
	s->instructions[i].text = (char *)text;
	s->instruction_pointers[i] = &s->instructions[i];
}

static void sample_location(struct sample_batch *s, uint32_t i, Jxp__Location__Kind kind,
			    const char *class_name, const char *field, const char *type)
{
	Jxp__Location *l = &s->locations[i];

	jxp__location__init(l);
	l->id = i + 1;
	l->kind = kind;
	l->class_name = (char *)class_name;
	l->field = (char *)field;
	l->declared_in =
	    kind == JXP__LOCATION__KIND__FIELD ? (char *)"org.example.Main$Base" : (char *)"";
	l->type = (char *)type;
	s->location_pointers[i] = l;
}

/* The definitions, one thread, and no transition yet. The batch points into *s. */
static void sample_batch_init(struct sample_batch *s)
{
	*s = (struct sample_batch){0};
	jxp__batch__init(&s->batch);
	sample_method(s, 0, "main", 10);
	sample_method(s, 1, "fill", 21);
	sample_method(s, 2, "sum", 31);
	sample_node(s, 0, 0);
	sample_node(s, 1, 1);
	sample_node(s, 2, 1);
	sample_instruction(s, 0, "mov qword ptr [rax+rcx*8+0x10], rdx");
	sample_instruction(s, 1, "add rdx, qword ptr [rax+rcx*8+0x10]");
	sample_location(s, 0, JXP__LOCATION__KIND__FIELD, "org.example.Main$Sub", "total", "long");
	sample_location(s, 1, JXP__LOCATION__KIND__ELEMENT, "long[]", "", "long");
	sample_location(s, 2, JXP__LOCATION__KIND__SPILL, "", "", "");
	jxp__thread__init(&s->thread);
	s->thread.tid = 100;
	s->thread.name = (char *)"main";
	s->thread_pointers[0] = &s->thread;
	s->batch.methods = s->method_pointers;
	s->batch.n_methods = 3;
	s->batch.nodes = s->node_pointers;
	s->batch.n_nodes = 3;
	s->batch.instructions = s->instruction_pointers;
	s->batch.n_instructions = 2;
	s->batch.locations = s->location_pointers;
	s->batch.n_locations = 3;
	s->batch.threads = s->thread_pointers;
	s->batch.n_threads = 1;
	s->batch.counters = s->counters;
	s->batch.n_counters = JXP__COUNTER__COUNTER_MAX;
}

/* Adds a completed pair and returns it for changes. */
static inline struct event_transition *sample_pair(struct sample_batch *s, Jxp__Kind kind,
						   uint32_t watch, uint32_t trap, uint32_t bytes,
						   bool wasteful)
{
	struct event_transition *t = sample_event(&s->events, &s->batch, EVENT_TRANSITION);

	t->type = JXP__TRANSITION__TYPE__TRAPPED;
	t->tid = 100;
	t->kind = (uint8_t)kind;
	t->region = JXP__REGION__REGION_HEAP;
	t->length = (uint8_t)bytes;
	t->checked_bytes = bytes;
	t->wasteful = wasteful;
	t->watch_node = watch;
	t->trap_node = trap;
	t->watch_instruction = kind == JXP__KIND__KIND_SILENT_LOAD ? 2 : 1;
	t->trap_instruction = t->watch_instruction;
	return t;
}

#endif
