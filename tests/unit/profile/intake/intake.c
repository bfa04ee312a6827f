#include "tests/unit/support/test.h"

#include <unistd.h>

#include <stdlib.h>

#include "profile/intake/intake.h"
#include "common/clock.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"

#define DEAD   JXP__KIND__KIND_DEAD_STORE
#define SILENT JXP__KIND__KIND_SILENT_LOAD

struct fixture {
	struct window_result *window;
	struct intake intake;
	struct sample_batch sample;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds = {false, true, true, true}};

	f.window = window_result_new(1, 42, &request, &sample_findings);
	window_result_start(f.window);
	intake_init(&f.intake, f.window);
	sample_batch_init(&f.sample);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	intake_release(&f->intake);
	window_result_free(f->window);
	return 0;
}

static void apply(struct fixture *f)
{
	assert_int_equal(intake_batch(&f->intake, &f->sample.batch), 0);
}

static uint64_t lost(const struct fixture *f, enum loss loss)
{
	return f->window->losses[loss];
}

TEST(a_pair_arrives_with_its_contexts_and_lines, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct profile *p = &f->window->profile;
	const struct cct_node *leaf;

	(void)sample_pair(&f->sample, DEAD, 2, 3, 8, 1);
	apply(f);
	assert_int_equal(p->pair_count, 1);
	leaf = cct_node(&p->cct, p->pairs[0].trap_node);
	assert_int_equal(leaf->line, 31);
	assert_string_equal(strings_get(&p->strings, cct_method(&p->cct, leaf->method)->name),
			    "sum");
	assert_int_equal(cct_node(&p->cct, leaf->parent)->line, 10);
	assert_string_equal(strings_get(&p->strings, p->pairs[0].watch_instruction),
			    "mov qword ptr [rax+rcx*8+0x10], rdx");
	for (int i = 0; i < LOSS_MAX; i++)
		assert_int_equal(lost(f, (enum loss)i), 0);
}

TEST(the_same_context_under_two_ids_is_one_pair, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_pair(&f->sample, DEAD, 2, 3, 8, 1);
	sample_pair(&f->sample, DEAD, 2, 4, 8, 1)->trap_node = 3;
	f->sample.nodes[0].id = 4; /* Known as 1 to other batches: here the ids are 4, 2 and 3. */
	f->sample.nodes[1].parent = f->sample.nodes[2].parent = 4;
	apply(f);
	assert_int_equal(f->window->profile.pair_count, 1);
	assert_int_equal(f->window->profile.pairs[0].count, 2);
}

TEST(a_line_comes_from_the_last_entry_at_or_before_the_bci, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__LineEntry entries[3] = {JXP__LINE_ENTRY__INIT, JXP__LINE_ENTRY__INIT,
				     JXP__LINE_ENTRY__INIT};
	Jxp__LineEntry *pointers[3] = {&entries[0], &entries[1], &entries[2]};
	static const int32_t bcis[3] = {0, 4, 9}, lines[3] = {7, 8, 9};

	for (int i = 0; i < 3; i++) {
		entries[i].bci = bcis[i];
		entries[i].line = lines[i];
	}
	f->sample.methods[0].n_lines = 3;
	f->sample.methods[0].lines = pointers;
	f->sample.nodes[0].bci = 8;
	apply(f);
	assert_int_equal(cct_node(&f->window->profile.cct, 1)->line, 8);
}

TEST(line_tables_count_as_memory, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__LineEntry entry = JXP__LINE_ENTRY__INIT, *pointers[1000];

	for (size_t i = 0; i < 1000; i++)
		pointers[i] = &entry;
	f->sample.methods[0].n_lines = 1000;
	f->sample.methods[0].lines = pointers;
	apply(f);
	assert_true(intake_memory_bytes(&f->intake) >= 1000 * sizeof(struct line));
}

TEST(a_frame_without_a_bci_has_no_line, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sample.nodes[0].bci = -3;
	apply(f);
	assert_int_equal(cct_node(&f->window->profile.cct, 1)->line, -1);
	assert_int_equal(cct_node(&f->window->profile.cct, 1)->bci, -1);
}

TEST(a_node_before_its_parent_is_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sample.nodes[0].parent = 3; /* a cycle 1 -> 3 -> 1 */
	apply(f);
	assert_int_equal(f->window->profile.cct.node_count, 0);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 3);
}

TEST(a_repeated_id_keeps_its_first_meaning, set_up, tear_down)
{
	struct fixture *f = *state;

	apply(f);
	f->sample.methods[0].name = (char *)"other";
	f->sample.nodes[1].parent = 0;
	f->sample.instructions[0].text = (char *)"nop";
	f->sample.batch.n_threads = 0;
	(void)sample_pair(&f->sample, DEAD, 2, 2, 8, 1);
	apply(f);
	assert_int_equal(lost(f, LOSS_REPEATED_IDS), 11);
	assert_int_equal(cct_depth(&f->window->profile.cct, f->window->profile.pairs[0].trap_node),
			 2);
}

TEST(a_pair_with_unknown_contexts_still_counts, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct profile *p = &f->window->profile;

	(void)sample_pair(&f->sample, DEAD, 77, 3, 8, 1);
	apply(f);
	assert_int_equal(p->kinds[DEAD].application.checked_bytes, 8);
	assert_int_equal(p->pairs[0].watch_node, 0);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 1);
}

TEST(a_pair_arrives_with_its_place_and_its_cpu_time, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct profile *p = &f->window->profile;
	struct event_transition *t = sample_pair(&f->sample, DEAD, 2, 3, 8, 1);
	struct location l;

	t->location = 1;
	t->cpu_ns = LIMIT_PAIR_CPU_NS;
	apply(f);
	assert_int_equal(p->pair_count, 1);
	l = locations_get(&p->locations, p->pairs[0].location);
	assert_int_equal(l.kind, JXP__LOCATION__KIND__FIELD);
	assert_string_equal(strings_get(&p->strings, l.field), "total");
	assert_true(p->pairs[0].cpu.ns == (double)LIMIT_PAIR_CPU_NS);
	assert_true(p->kinds[DEAD].regions[t->region].wasteful_cpu.ns == p->pairs[0].cpu.ns);
}

TEST(a_layout_that_cannot_be_is_not_told, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct locations *known = &f->window->profile.locations;
	Jxp__Location *fits = &f->sample.locations[0], *beyond = &f->sample.locations[1];

	fits->offset = 16, fits->bytes = 8, fits->object_bytes = 24;
	beyond->offset = 20, beyond->bytes = 8, beyond->object_bytes = 24;
	apply(f);
	assert_int_equal(known->list[0].bytes, 8);
	assert_int_equal(known->list[0].object_bytes, 24);
	assert_int_equal(known->list[1].bytes, 0);
}

TEST(an_unknown_place_is_none_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->location = 77;
	apply(f);
	assert_int_equal(f->window->profile.pairs[0].location, 0);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 1);
}

TEST(only_the_clock_counts_cpu_time, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->cpu_ns = 5;
	apply(f);
	assert_true(f->window->profile.pairs[0].cpu.ns == 0);
}

TEST(id_0_is_no_definition, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sample.methods[0].id = 0;
	f->sample.nodes[2].id = 0;
	f->sample.instructions[0].id = 0;
	apply(f);
	assert_int_equal(lost(f, LOSS_INVALID), 3);
}

TEST(transitions_out_of_range_are_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_transition *armed_elsewhere;

	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->type = 99;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->type = JXP__TRANSITION__TYPE__NONE;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->reg = 5; /* 4: a pair that needed none */
	armed_elsewhere = sample_pair(&f->sample, DEAD, 2, 3, 8, 1);
	armed_elsewhere->type = JXP__TRANSITION__TYPE__ARMED;
	armed_elsewhere->reg = 4;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->length = 0;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->length = 9;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->checked_bytes = 0;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->checked_bytes = 1u << 31;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->cpu_ns = LIMIT_PAIR_CPU_NS + 1;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->region = 255;
	sample_pair(&f->sample, DEAD, 2, 3, 8, 1)->region = 4;
	(void)sample_pair(&f->sample, (Jxp__Kind)0, 2, 3, 8, 1);
	(void)sample_pair(&f->sample, (Jxp__Kind)-5, 2, 3, 8, 1);
	(void)sample_pair(&f->sample, (Jxp__Kind)4, 2, 3, 8, 1);
	apply(f);
	assert_int_equal(lost(f, LOSS_INVALID), 14);
	assert_int_equal(window_result_dropped(f->window), 14);
	assert_int_equal(f->window->profile.pair_count, 0);
}

TEST(a_kind_that_was_not_asked_for_is_dropped, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[SILENT] = false;
	(void)sample_pair(&f->sample, SILENT, 2, 3, 8, 1);
	apply(f);
	assert_int_equal(lost(f, LOSS_INVALID), 1);
}

TEST(cumulative_counters_never_fall, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sample.counters[JXP__COUNTER__COUNTER_SAMPLES] = 10;
	f->sample.batch.cpu_ns = 1000;
	f->sample.batch.overhead_ns = 10;
	apply(f);
	f->sample.counters[JXP__COUNTER__COUNTER_SAMPLES] = 5;
	f->sample.batch.cpu_ns = 400;
	apply(f);
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_SAMPLES], 10);
	assert_float_equal(window_result_overhead_fraction(f->window), 0.01, 0.000001F);
}

TEST(counts_that_cannot_be_are_not_believed, set_up, tear_down)
{
	struct fixture *f = *state;

	/* What the gate in the kernel counted is there, too. */
	f->window->counters[JXP__COUNTER__COUNTER_GATE_PASSED] = 3;
	f->sample.counters[JXP__COUNTER__COUNTER_SAMPLES] = UINT64_MAX;
	f->sample.counters[JXP__COUNTER__COUNTER_GATE_PASSED] = UINT64_MAX;
	f->sample.counters[JXP__COUNTER__COUNTER_TICKS] = LIMIT_COUNTER;
	f->sample.batch.cpu_ns = UINT64_MAX;
	f->sample.batch.overhead_ns = UINT64_MAX;
	f->sample.batch.setup_ns = LIMIT_CPU_NS;
	apply(f);
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_SAMPLES], 0);
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_GATE_PASSED], 3);
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_TICKS], LIMIT_COUNTER);
	assert_int_equal(f->window->cpu_ns, 0);
	assert_int_equal(f->window->overhead_ns, 0);
	assert_int_equal(f->window->setup_ns, LIMIT_CPU_NS);
	assert_int_equal(lost(f, LOSS_INVALID), 4);
}

/* All processors at work all the time, and a little for clocks that differ. */
static uint64_t possible_ns(uint64_t elapsed_ns)
{
	return (elapsed_ns + elapsed_ns / 64 + NS_PER_S) * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
}

TEST(cpu_time_that_the_processors_did_not_have_is_cut_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	intake_bound_cpu(&f->intake, 30 * NS_PER_S, 40 * NS_PER_S);
	f->sample.batch.cpu_ns = possible_ns(30 * NS_PER_S);
	f->sample.batch.overhead_ns = possible_ns(30 * NS_PER_S) + 1;
	f->sample.batch.setup_ns = LIMIT_CPU_NS;
	apply(f);
	assert_int_equal(f->window->cpu_ns, possible_ns(30 * NS_PER_S));
	assert_int_equal(f->window->overhead_ns, possible_ns(30 * NS_PER_S));
	assert_int_equal(f->window->setup_ns, possible_ns(40 * NS_PER_S));
	assert_int_equal(lost(f, LOSS_CPU_TIME), 2);
	/* Some more of it later on. */
	intake_bound_cpu(&f->intake, 60 * NS_PER_S, 70 * NS_PER_S);
	apply(f);
	assert_int_equal(f->window->setup_ns, possible_ns(70 * NS_PER_S));
	assert_int_equal(lost(f, LOSS_CPU_TIME), 3);
}

TEST(counters_this_engine_does_not_know_are_ignored, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t counters[JXP__COUNTER__COUNTER_MAX + 50];

	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX + 50; i++)
		counters[i] = i + 1;
	f->sample.batch.counters = counters;
	f->sample.batch.n_counters = JXP__COUNTER__COUNTER_MAX + 50;
	apply(f);
	assert_int_equal(f->window->counters[JXP__COUNTER__COUNTER_MAX - 1],
			 JXP__COUNTER__COUNTER_MAX);
}

TEST(nodes_deeper_than_the_limit_are_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__Node *node = &f->sample.nodes[0];

	apply(f);
	f->sample.batch.n_methods = f->sample.batch.n_instructions = 0;
	f->sample.batch.n_threads = 0;
	f->sample.batch.n_nodes = 1;
	for (uint32_t i = 0; i < MAX_FRAMES_LIMIT; i++) {
		node->parent = i == 0 ? 1 : 1000 + i - 1;
		node->id = 1000 + i;
		apply(f);
	}
	assert_int_equal(lost(f, LOSS_NODES), 1);
}

/* ---------------------------------------------------------------- ticks */

static struct event_tick *tick(struct fixture *f, Jxp__CpuSample__State state, uint32_t node)
{
	struct event_tick *t = sample_event(&f->sample.events, &f->sample.batch, EVENT_TICK);

	t->state = (uint8_t)state;
	t->node = node;
	t->cpu_ns = 5000000;
	t->tid = 11;
	return t;
}

TEST(ticks_arrive_with_their_contexts, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct cpu_profile *c = &f->window->cpu;
	const struct watched_thread *threads;

	f->window->request.kinds[JXP__KIND__KIND_CPU] = true;
	(void)tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 2);
	(void)tick(f, JXP__CPU_SAMPLE__STATE__NATIVE, 2);
	(void)tick(f, JXP__CPU_SAMPLE__STATE__NO_JAVA, 0);
	tick(f, JXP__CPU_SAMPLE__STATE__INTERPRETED, 3)->truncated = 1;
	tick(f, JXP__CPU_SAMPLE__STATE__KERNEL, 2)->tid = 12;
	tick(f, JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL, 0)->tid = 12;
	apply(f);
	threads = f->window->threads.threads;
	assert_int_equal(c->context_count, 1);
	assert_int_equal(cct_node(&f->window->profile.cct, c->contexts[0].node)->line, 21);
	assert_int_equal(cpu_context_sum(&c->contexts[0]).samples, 3);
	assert_float_equal(cpu_profile_all(c).ns, 3e7, 0);
	assert_int_equal(c->truncated.samples, 1);
	assert_int_equal(threads[f->window->threads.count - 1].tid, 12);
	assert_float_equal(threads[f->window->threads.count - 1].kernel.ns, 1e7, 0);
	assert_float_equal(threads[f->window->threads.count - 2].ticks.ns, 2e7, 0);
	assert_float_equal(threads[f->window->threads.count - 2].kernel.ns, 0, 0);
	assert_int_equal(lost(f, LOSS_INVALID), 0);
}

TEST(ticks_of_unknown_contexts_are_in_none, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_CPU] = true;
	(void)tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 77);
	(void)tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 0);
	apply(f);
	assert_int_equal(f->window->cpu.context_count, 0);
	assert_int_equal(f->window->cpu.lost.samples, 2);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 1);
}

TEST(ticks_that_cannot_be_are_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_CPU] = true;
	(void)tick(f, (Jxp__CpuSample__State)CPU_STATES, 0);
	(void)tick(f, (Jxp__CpuSample__State)-1, 0);
	(void)tick(f, JXP__CPU_SAMPLE__STATE__NO_JAVA, 2);
	tick(f, JXP__CPU_SAMPLE__STATE__UNKNOWN, 0)->truncated = 1;
	tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 2)->cpu_ns = LIMIT_TICK_CPU_NS + 1;
	apply(f);
	assert_int_equal(cpu_profile_all(&f->window->cpu).samples, 0);
	assert_int_equal(lost(f, LOSS_INVALID), 5);
}

/* It is finished when the target has stopped, and again when its connection is closed. */
TEST(what_nobody_can_tell_is_counted_once, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_CPU] = true;
	tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 2)->code = 7;
	apply(f);
	assert_int_equal(intake_finish(&f->intake), 0);
	assert_int_equal(intake_finish(&f->intake), 0);
	assert_int_equal(f->window->ticks_attributed[CERTAINTY_UNKNOWN], 1);
}

TEST(ticks_that_nobody_asked_for_are_dropped, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)tick(f, JXP__CPU_SAMPLE__STATE__COMPILED, 2);
	apply(f);
	f->window->request.kinds[JXP__KIND__KIND_CPU] = true;
	f->window->findings.sampler = JXP__SAMPLER__SAMPLER_IBS;
	apply(f);
	assert_int_equal(cpu_profile_all(&f->window->cpu).samples, 0);
	assert_int_equal(lost(f, LOSS_INVALID), 2);
}
