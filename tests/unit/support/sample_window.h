/*
 * A window that ran for twelve seconds, with pairs of two kinds, objects of two sites, NUMA nodes,
 * ticks and effects: something of everything that a report shows.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_WINDOW_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_WINDOW_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "profile/window/result.h"

#define SAMPLE_WINDOW_START_NS (UINT64_C(1795248000) * NS_PER_S)

static inline uint32_t sample_window_text(struct window_result *w, const char *text)
{
	uint32_t id = 0;
	int r = strings_intern(&w->profile.strings, text, &id);

	assert(r == 0);
	(void)r;
	return id;
}

/* A context below parent, in a method of org.example.Main. */
static inline uint32_t sample_window_node(struct window_result *w, uint32_t parent,
					  const char *method, int32_t line)
{
	struct cct_method m = {sample_window_text(w, "org.example.Main"),
			       sample_window_text(w, method), sample_window_text(w, "Main.java")};
	struct cct_node node = {
	    .parent = parent, .bci = 4, .line = line, .tier = JXP__TIER__TIER_JIT};
	uint32_t id = 0;
	int r = cct_add_method(&w->profile.cct, &m, &node.method);

	assert(r == 0);
	r = cct_add_node(&w->profile.cct, &node, &id);
	assert(r == 0);
	(void)r;
	return id;
}

/* A field of an object in which all pairs lie. */
static inline uint32_t sample_window_field(struct window_result *w)
{
	struct location l = {.kind = JXP__LOCATION__KIND__FIELD,
			     .class_name = sample_window_text(w, "org.example.Main$Sub"),
			     .field = sample_window_text(w, "total"),
			     .declared_in = sample_window_text(w, "org.example.Main"),
			     .type = sample_window_text(w, "long")};
	uint32_t id = 0;
	int r = locations_add(&w->profile.locations, &l, &id);

	assert(r == 0);
	(void)r;
	return id;
}

/* count pairs of eight bytes in heap memory, each of 5 ms of CPU time. */
static inline void sample_window_pairs(struct window_result *w, Jxp__Kind kind, uint32_t watch,
				       uint32_t trap, unsigned count, bool wasteful)
{
	struct observation o = {.kind = kind,
				.region = JXP__REGION__REGION_HEAP,
				.wasteful = wasteful,
				.checked_bytes = 8,
				.cpu_ns = 5 * NS_PER_MS,
				.location = sample_window_field(w),
				.watch_node = watch,
				.trap_node = trap,
				.watch_instruction = sample_window_text(w, "mov [rax], edx"),
				.trap_instruction = sample_window_text(w, "mov edx, [rax]")};

	for (unsigned i = 0; i < count; i++) {
		int r = profile_add(&w->profile, &o);

		assert(r == 0);
		(void)r;
	}
}

/* Empty, of 12 s, ended as planned; for pairs, objects and two NUMA nodes. */
static inline struct window_result *sample_window_empty(unsigned number, const char *app)
{
	struct window_request request = {.kinds = {false, true, true, true},
					 .kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .kinds[JXP__KIND__KIND_NUMA] = true,
					 .duration_ns = 12 * NS_PER_S,
					 .budget = 0.01,
					 .registers = 4,
					 .max_frames = 128,
					 .objects_max = 1000};
	struct window_findings findings = {.sampler = JXP__SAMPLER__SAMPLER_CLOCK,
					   .sampler_reason = "it was asked for",
					   .period = 5 * NS_PER_MS,
					   .numa = {.node_count = 2, .node_id = {0, 1}},
					   .kernel_gate = true,
					   .cpu_limit = 1.5};
	struct window_result *w = window_result_new(number, 4242, &request, &findings);

	assert(w);
	window_result_start(w);
	window_result_end(w, NULL);
	w->finished = true;
	w->owner = 1000;
	w->asker = (struct window_asker){.uid = 1000, .pid = 77};
	(void)snprintf(w->app, sizeof(w->app), "%s", app);
	(void)snprintf(w->jdk, sizeof(w->jdk), "17.0.12+7");
	(void)snprintf(w->vm, sizeof(w->vm), "OpenJDK 64-Bit Server VM");
	(void)snprintf(w->gc, sizeof(w->gc), "G1");
	w->start_unix_ns = SAMPLE_WINDOW_START_NS + number * NS_PER_S;
	w->end_unix_ns = w->start_unix_ns + 12 * NS_PER_S;
	w->start_ns = 1000 * NS_PER_S;
	w->end_ns = 1012 * NS_PER_S;
	w->cpu_ns = 11 * NS_PER_S;
	w->overhead_ns = 90 * NS_PER_MS;
	w->effective_period = 5 * NS_PER_MS;
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 2000;
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 1900; /* 1.5 s of CPU time without. */
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 1900 * 5 * NS_PER_MS;
	return w;
}

/* Accesses to objects that are older than the window, each of the weight of one tick. */
static inline void sample_window_older(struct window_result *w, const char *class_name,
				       const char *field, uint32_t node, int count)
{
	struct location l = {.kind = JXP__LOCATION__KIND__FIELD};
	struct object_access a = {.node = node, .object_bytes = 32, .weight = 5e6};
	int r;

	l.class_name = l.declared_in = a.class_name = sample_window_text(w, class_name);
	l.field = sample_window_text(w, field);
	l.type = sample_window_text(w, "int");
	r = locations_add(&w->profile.locations, &l, &a.location);
	for (int i = 0; i < count && r == 0; i++)
		r = object_profile_untracked(&w->objects, JXP__REGION__REGION_HEAP, &a);
	assert(r == 0);
}

static inline void sample_window_objects(struct window_result *w, uint32_t node, uint32_t access)
{
	struct object_profile *o = &w->objects;
	uint32_t first = 0, second = 0;
	int r = object_profile_site(o, sample_window_text(w, "float[]"), node, &first);

	assert(r == 0);
	r = object_profile_site(o, sample_window_text(w, "java.lang.Object"), node, &second);
	assert(r == 0);
	object_profile_allocated(o, first, 3, 4096);
	object_profile_allocated(o, second, 5, 16);
	object_profile_judged(o, 0, w->start_ns + NS_PER_S);
	object_profile_allocated(o, second, 2, 16);
	object_profile_died(o, first, 3, 4096, 0);
	for (int i = 0; i < 30; i++) {
		r = object_profile_access(
		    o, first, &(struct object_access){.node = access, .weight = 5e6}, 3, i * 5e6);
		assert(r == 0);
	}
	r = object_profile_access(o, second, &(struct object_access){.node = node, .weight = 5e6},
				  5, 0);
	assert(r == 0);
	(void)r;
	for (int i = 0; i < 40; i++)
		object_profile_untracked(o, JXP__REGION__REGION_HEAP,
					 &(struct object_access){.weight = 5e6});
	object_profile_untracked(o, JXP__REGION__REGION_STACK,
				 &(struct object_access){.weight = 5e6});
}

static inline void sample_window_numa(struct window_result *w)
{
	struct numa_access access = {.site = 0, .from = 1, .weight = 5e6, .object_weight = 3};

	for (int i = 0; i < 20; i++) {
		int r = numa_profile_place(&w->numa, &access, (uint8_t)(i % 2), 0);

		assert(r == 0);
		(void)r;
	}
	w->numa.touch_traced = true;
}

static inline void sample_window_effects(struct window_result *w)
{
	Jxp__WatchRecord m = JXP__WATCH_RECORD__INIT;

	w->side_effects.watched = true;
	for (unsigned i = 0; i < 40; i++) {
		m.time_ns = w->start_ns - 5 * NS_PER_S + i * NS_PER_S / 4;
		m.uptime_ns = 60 * NS_PER_S + i * NS_PER_S / 4;
		m.cpu_ns = 50 * NS_PER_S + i * NS_PER_S / 5;
		m.page_faults = 1000 + i;
		m.collections = 10 + i / 4;
		m.gc_time_ns = NS_PER_S + i * NS_PER_MS;
		m.heap_after_bytes = (20 + i % 3) << 20;
		if (i == 20)
			side_effects_begin(&w->side_effects, w->start_ns);
		if (!side_effects_add(&w->side_effects, &m))
			assert(false);
	}
}

/* Ticks of 5 ms each. */
static inline void sample_window_ticks(struct window_result *w, uint32_t node,
				       Jxp__CpuSample__State state, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int r = cpu_profile_add(&w->cpu, state, node, false, 5 * NS_PER_MS);

		assert(r == 0);
		(void)r;
	}
}

/* Some of its ticks in a thread of its own. */
static inline void sample_window_thread(struct window_result *w, uint32_t tid, const char *name,
					Jxp__CpuSample__State state, unsigned count)
{
	struct event_tick tick = {.tid = tid, .cpu_ns = 5 * NS_PER_MS, .state = (uint8_t)state};
	int r = thread_table_update(&w->threads, tid, name, false);

	for (unsigned i = 0; i < count && r == 0; i++)
		r = thread_table_tick(&w->threads, &tick);
	assert(r == 0);
}

/* In all states, some cut, and with what the JVM's own threads used. */
static inline void sample_window_cpu(struct window_result *w, uint32_t main, uint32_t fill,
				     uint32_t sum)
{
	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	sample_window_ticks(w, sum, JXP__CPU_SAMPLE__STATE__COMPILED, 1000);
	sample_window_ticks(w, fill, JXP__CPU_SAMPLE__STATE__COMPILED, 600);
	sample_window_ticks(w, fill, JXP__CPU_SAMPLE__STATE__INTERPRETED, 50);
	sample_window_ticks(w, main, JXP__CPU_SAMPLE__STATE__NATIVE, 100);
	sample_window_ticks(w, main, JXP__CPU_SAMPLE__STATE__KERNEL, 60);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL, 20);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__NO_JAVA, 30);
	sample_window_ticks(w, 0, JXP__CPU_SAMPLE__STATE__UNKNOWN, 20);
	for (unsigned i = 0; i < 10; i++)
		if (cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, sum, true,
				    5 * NS_PER_MS) < 0)
			assert(false);
	sample_window_thread(w, 4250, "", JXP__CPU_SAMPLE__STATE__COMPILED, 100);
	sample_window_thread(w, 4243, "main", JXP__CPU_SAMPLE__STATE__COMPILED, 1690);
	sample_window_thread(w, 4243, "main", JXP__CPU_SAMPLE__STATE__KERNEL, 80);
	w->cpu.beside = (struct cpu_beside){.span_ns = 12 * NS_PER_S,
					    .gc_ns = 0.6 * (double)NS_PER_S,
					    .jit_ns = 0.35 * (double)NS_PER_S};
}

/* A loop of method, called from node, with a share of the 1,890 ticks of sample_window_cpu. */
static inline struct loop *sample_window_loop(struct window_result *w, uint32_t method,
					      uint32_t header, int32_t line, uint32_t node,
					      enum loop_type type, unsigned ticks)
{
	struct loop_key key = {.method = method, .mapped = true, .header = header, .line = line};
	struct cpu_sum sum = {.samples = ticks, .ns = ticks * 5.0 * (double)NS_PER_MS};
	struct loop_profile *p = &w->loops;
	uint32_t row, context;

	if (loop_profile_row(p, &key, &row) < 0 || loop_profile_context(p, row, node, &context) < 0)
		assert(false);
	p->rows[row].own = p->rows[row].within = sum;
	p->rows[row].type_ns[type] = sum.ns;
	p->rows[row].latch_bci = (int32_t)header + 20;
	p->rows[row].unroll = 8;
	p->contexts[context].sum = sum;
	cpu_sum_add(&p->in_loops, &sum, 1);
	cpu_sum_add(&p->mapped, &sum, 1);
	return &p->rows[row];
}

/* So many bursts of 2,048 turns, every nth of which has met one event. */
static inline void sample_window_bursts(struct loop *row, struct loop_counts *counts,
					unsigned bursts, unsigned nth)
{
	for (unsigned i = 0; i < bursts; i++) {
		row->bursts++;
		loop_counts_burst(counts, 2048, nth && i % nth == 0 ? 1 : 0, 1, 1);
	}
}

/* So many pairs of instances of a loop, which load at line, where part of the values is there
 * again, and begin with a value that is the same in all but one of them. */
static inline void sample_window_instances(struct window_result *w, uint32_t loop, int32_t line,
					   unsigned pairs, double part)
{
	struct loop *row = &w->loops.rows[loop];
	struct loop_compared load = {
	    .loop = loop, .method = row->key.method, .bci = line, .line = line};
	struct loop_compared scalar = {.loop = loop, .scalar = true, .bci = -1, .line = -1};
	uint32_t load_at, scalar_at;

	if (loop_profile_input(&w->loops, &load, &load_at) < 0 ||
	    loop_profile_input(&w->loops, &scalar, &scalar_at) < 0)
		assert(false);
	for (unsigned i = 0; i < pairs; i++) {
		repeat_sum_add(&w->loops.inputs[load_at].same, part);
		repeat_sum_add(&w->loops.inputs[scalar_at].same, i > 0);
		repeat_sum_add(&row->together, i > 0);
		row->pairs++;
	}
}

/* A search that takes long, one that stores rarely, one that has not been counted enough, one that
 * stores always and does what it did before, one that waits, one that takes little time, and a
 * method that calls itself. */
static inline void sample_window_loops(struct window_result *w, uint32_t main)
{
	struct loop_place place = {.line = 24, .bci = 17, .result = LOOP_RESULT_EXIT};
	struct loop *row;
	uint32_t at;

	w->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	row = sample_window_loop(w, 2, 4, 22, main, LOOP_LAST, 600);
	sample_window_bursts(row, &row->results, 90, 3);
	sample_window_bursts(row, &row->entries, 90, 3);
	row->bursts = 90;
	place.loop = 0;
	place.method = row->key.method;
	if (loop_profile_place(&w->loops, &place, &at) < 0)
		assert(false);
	w->loops.places[at].counted = 30;
	w->loops.places[at].bursts = 90;
	row = sample_window_loop(w, 3, 40, 33, main, LOOP_SOME, 300);
	sample_window_bursts(row, &row->results, 60, 0);
	row = sample_window_loop(w, 3, 80, 38, main, LOOP_SOME, 200);
	sample_window_bursts(row, &row->results, 12, 4);
	row->doubt_ns[1] = row->own.ns;
	row->bursts_least = 12;
	(void)sample_window_loop(w, 3, 120, 44, main, LOOP_EVERY, 100);
	sample_window_instances(w, 3, 45, 54, 0.97);
	w->loops.rows[3].pairs_cut = 12;
	row = sample_window_loop(w, 1, 8, 12, 0, LOOP_NEVER, 60);
	row->waits_ns = row->own.ns;
	(void)sample_window_loop(w, 1, 30, 15, 0, LOOP_SOME, 10);
	row = sample_window_loop(w, 2, 0, 21, main, LOOP_TYPE_UNKNOWN, 70);
	row->key.recursion = true;
	row->turns = (struct turn_sums){.traces = 60,
					.tuples = 1900,
					.distinct = 25,
					.turns = 240000,
					.estimated = 25,
					.low = 25,
					.high = 15000};
	w->loops.looked_at = w->loops.in_loops;
	w->loops.looked_at.ns *= 1.05;
	w->loops.compiled = (struct cpu_sum){.samples = 1600, .ns = 8.0 * (double)NS_PER_S};
}

/* All of it; wasteful: how many of 60 dead stores' observations. */
static inline struct window_result *sample_window(unsigned number, const char *app,
						  unsigned wasteful)
{
	struct window_result *w = sample_window_empty(number, app);
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t fill = sample_window_node(w, main, "fill", 21);
	uint32_t sum = sample_window_node(w, main, "sum", 31);

	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, fill, fill, wasteful, true);
	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, fill, sum, 60 - wasteful, false);
	sample_window_pairs(w, JXP__KIND__KIND_SILENT_LOAD, sum, sum, 25, true);
	sample_window_objects(w, fill, sum);
	sample_window_older(w, "org.example.Cache", "hits", sum, 12);
	sample_window_numa(w);
	sample_window_cpu(w, main, fill, sum);
	sample_window_effects(w);
	w->losses[LOSS_PAIRS] = 2;
	return w;
}

#endif
