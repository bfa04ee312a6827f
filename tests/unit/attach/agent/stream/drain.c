/* From rings to the socket: what the engine receives of what handlers recorded. */
#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/stack/code_copy.h"
#include "attach/agent/stream/drain.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/agent/fake_methods.h"
#include "tests/unit/support/agent/link_ends.h"
#include "tests/unit/support/sample_events.h"

/* Two methods in memory, and where they are; their bytecodes are what class files have. */
static struct fake_world one, other;
static struct method_layout layout;

/* The JVM has died before the first record: places have no names, all else is as usual. */
struct fixture {
	struct ends ends;
	struct context_table *contexts;
	struct drain *drain;
	struct thread *thread;
	struct buffer in;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	connect_ends(&f.ends);
	buffer_init(&f.in, 2 * FRAME_MAX_AGENT);
	f.contexts = calloc(1, sizeof(*f.contexts));
	assert_non_null(f.contexts);
	fake_world_init(&one, "p/One", "run");
	fake_world_init(&other, "p/Other$1", "walk");
	layout = fake_method_layout;
	layout.code_known = true;
	for (unsigned i = 0; i < 256; i++)
		layout.java_op[i] = (uint8_t)i;
	assert_int_equal(safe_read_init(), 0);
	assert_int_equal(method_table_init(), 0);
	f.drain = drain_new(&f.ends.link, f.contexts, method_table(), &layout);
	assert_non_null(f.drain);
	drain_vm_died(f.drain);
	assert_int_equal(threads_init(), 0);
	f.thread = thread_take(getpid());
	assert_non_null(f.thread);
	assert_int_equal(thread_allocate(f.thread, 16), 0);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	thread_recycle(f->thread);
	drain_free(f->drain);
	method_table_release();
	free(f->contexts);
	buffer_release(&f->in);
	close_ends(&f->ends);
	return 0;
}

/* A record of a type that came with a batch. */
#define EVENT(frame, type, record, index) \
	((const struct record *)sample_events_get((frame)->batch, type, index))

/* The next batch that was sent, to be freed with jxp__agent_frame__free_unpacked. */
static Jxp__AgentFrame *received(struct fixture *f)
{
	const uint8_t *payload;
	int64_t size;
	Jxp__AgentFrame *frame;

	while ((size = frame_peek(&f->in, FRAME_MAX_AGENT, &payload)) == 0) {
		uint8_t *to = buffer_reserve(&f->in, 4096);
		ssize_t n = read(f->ends.engine, to, 4096);

		assert_true(n > 0);
		buffer_commit(&f->in, (size_t)n);
	}
	assert_true(size > 0);
	frame = jxp__agent_frame__unpack(NULL, (size_t)size, payload);
	frame_consume(&f->in, (size_t)size);
	assert_non_null(frame);
	assert_int_equal(frame->body_case, JXP__AGENT_FRAME__BODY_BATCH);
	return frame;
}

static void expect_silence(struct fixture *f)
{
	uint8_t byte;

	assert_int_equal(recv(f->ends.engine, &byte, 1, MSG_DONTWAIT), -1);
}

static uint32_t number_of(const struct fake_world *w)
{
	return method_number(method_table(), &layout, fake_address(w), 0);
}

static uint32_t context_of(struct fixture *f, uint32_t parent, const struct fake_world *w, int bci)
{
	return context_intern(f->contexts, parent,
			      (struct call){.method = number_of(w), .bci = bci});
}

static struct record trap_in(uint32_t watch, uint32_t trap)
{
	return (struct record){.type = RECORD_TRAPPED,
			       .time_ns = 5,
			       .address = 0x1000,
			       .length = 8,
			       .watch_context = watch,
			       .trap_context = trap,
			       .watch_code = {.length = 1, .bytes = {0xc3}},
			       .trap_code = {.length = 1, .bytes = {0xc3}},
			       .reg = 2,
			       .checked_bytes = 8,
			       .wasteful_as = 1};
}

static void record(struct fixture *f, struct record r)
{
	thread_record(f->thread, &r);
}

TEST(what_a_record_names_comes_with_it_once, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t root = context_of(f, 0, &one, 1);
	uint32_t leaf = context_of(f, root, &one, 7);
	Jxp__AgentFrame *frame;

	record(f, trap_in(root, leaf));
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_methods, 1);
	assert_string_equal(frame->batch->methods[0]->class_name, "p.One");
	assert_string_equal(frame->batch->methods[0]->name, "run");
	assert_string_equal(frame->batch->methods[0]->file, "A.java");
	assert_int_equal(frame->batch->methods[0]->n_lines, 1);
	assert_int_equal(frame->batch->n_instructions, 1); /* The same bytes twice. */
	assert_int_equal(frame->batch->n_nodes, 2);
	assert_int_equal(frame->batch->nodes[0]->id, root);
	assert_int_equal(frame->batch->nodes[1]->id, leaf);
	assert_int_equal(frame->batch->nodes[1]->parent, root);
	assert_int_equal(frame->batch->nodes[1]->bci, 7);
	assert_int_equal(frame->batch->nodes[1]->method, frame->batch->methods[0]->id);
	assert_int_equal(sample_events_count(frame->batch, EVENT_TRANSITION), 1);
	assert_int_equal(EVENT(frame, EVENT_TRANSITION, event_transition, 0)->tid, getpid());
	assert_int_equal(EVENT(frame, EVENT_TRANSITION, event_transition, 0)->reg, 2);
	assert_true(EVENT(frame, EVENT_TRANSITION, event_transition, 0)->wasteful);
	jxp__agent_frame__free_unpacked(frame, NULL);

	record(f, trap_in(leaf, root));
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_nodes, 0);
	assert_int_equal(frame->batch->n_methods, 0);
	assert_int_equal(frame->batch->n_instructions, 0);
	assert_int_equal(EVENT(frame, EVENT_TRANSITION, event_transition, 0)->watch_node, leaf);
	assert_int_equal(EVENT(frame, EVENT_TRANSITION, event_transition, 0)->watch_instruction, 1);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(accesses_are_told_from_transitions, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AgentFrame *frame;

	record(f, (struct record){.type = RECORD_ACCESS,
				  .time_ns = 9,
				  .address = 0x2000,
				  .length = 4,
				  .store = true,
				  .cpu = 3,
				  .epoch = 6,
				  .weight = 1000});
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_TRANSITION), 0);
	assert_int_equal(sample_events_count(frame->batch, EVENT_ACCESS), 1);
	assert_int_equal(EVENT(frame, EVENT_ACCESS, event_access, 0)->cpu, 3);
	assert_int_equal(EVENT(frame, EVENT_ACCESS, event_access, 0)->epoch, 6);
	assert_int_equal(EVENT(frame, EVENT_ACCESS, event_access, 0)->weight, 1000);
	assert_int_equal(EVENT(frame, EVENT_ACCESS, event_access, 0)->node, 0);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(readings_say_how_far_the_counter_went, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AgentFrame *frame;

	record(f, (struct record){.type = RECORD_READING,
				  .reading = {.head = event_head_of(EVENT_READING),
					      .plan = 4,
					      .end = 2,
					      .stepped = -4096}});
	record(f, (struct record){
		      .type = RECORD_READING,
		      .reading = {.head = event_head_of(EVENT_READING), .plan = 5, .left = true}});
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_READING), 2);
	assert_int_equal(EVENT(frame, EVENT_READING, event_reading, 0)->plan, 4);
	assert_int_equal(EVENT(frame, EVENT_READING, event_reading, 0)->tid, getpid());
	assert_int_equal(EVENT(frame, EVENT_READING, event_reading, 0)->end, 2);
	assert_int_equal(EVENT(frame, EVENT_READING, event_reading, 0)->stepped, -4096);
	assert_false(EVENT(frame, EVENT_READING, event_reading, 0)->left);
	assert_int_equal(EVENT(frame, EVENT_READING, event_reading, 1)->plan, 5);
	assert_true(EVENT(frame, EVENT_READING, event_reading, 1)->left);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(ticks_have_their_place_in_code_and_bursts_what_they_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct event_burst *burst;
	Jxp__AgentFrame *frame;

	record(f, (struct record){
		      .type = RECORD_CPU,
		      .tick = {.head = event_head_of(EVENT_TICK), .code = 77, .offset = 12}});
	record(f, (struct record){.type = RECORD_BURST,
				  .burst = {.head = event_head_of(EVENT_BURST),
					    .time_ns = 9,
					    .plan = 4,
					    .headers = 60,
					    .others = 2,
					    .places = {3, 1},
					    .counts = {5, 0},
					    .left = true}});
	record(f, (struct record){
		      .type = RECORD_BURST,
		      .burst = {.head = event_head_of(EVENT_BURST), .plan = 5, .headers = 1}});
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_TICK), 1);
	assert_int_equal(EVENT(frame, EVENT_TICK, event_tick, 0)->code, 77);
	assert_int_equal(EVENT(frame, EVENT_TICK, event_tick, 0)->offset, 12);
	assert_int_equal(sample_events_count(frame->batch, EVENT_BURST), 2);
	burst = EVENT(frame, EVENT_BURST, event_burst, 0);
	assert_int_equal(burst->plan, 4);
	assert_int_equal(burst->tid, getpid());
	assert_int_equal(burst->time_ns, 9);
	assert_int_equal(burst->headers, 60);
	assert_int_equal(burst->others, 2);
	assert_int_equal(burst->places[0], 3);
	assert_int_equal(burst->places[1], 1);
	assert_int_equal(burst->counts[0], 5);
	assert_int_equal(burst->counts[1], 0);
	assert_true(burst->left);
	assert_int_equal(EVENT(frame, EVENT_BURST, event_burst, 1)->others, 0);
	assert_false(EVENT(frame, EVENT_BURST, event_burst, 1)->left);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

static void record_parts(struct fixture *f, const struct event_trace *told, unsigned missing)
{
	for (unsigned i = 0; i < RECORD_TRACE_PARTS; i++) {
		struct record r = {.type = RECORD_TRACE, .part = (uint8_t)i};
		size_t from = (size_t)i * RECORD_TRACE_BYTES, left = sizeof(*told) - from;

		memcpy(r.bytes, (const uint8_t *)told + from,
		       left < RECORD_TRACE_BYTES ? left : RECORD_TRACE_BYTES);
		if (i != missing)
			record(f, r);
	}
}

static struct event_trace told_of(uint32_t plan, uint8_t first, uint8_t second, uint8_t turns)
{
	struct event_trace told = {.head = event_head_of(EVENT_TRACE),
				   .time_ns = 9,
				   .plan = plan,
				   .counts = {first, second},
				   .turn_values = turns,
				   .elapsed_ns = 77};

	for (unsigned i = 0; i < LIMIT_TRACE_VALUES; i++) {
		told.values[0][i] = 100 + i;
		told.values[1][i] = 200 + i;
		told.places[i] = (uint8_t)(i % 3);
	}
	return told;
}

TEST(a_trace_is_put_together_of_its_parts, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_trace instances = told_of(4, LIMIT_TRACE_VALUES, 5, 0);
	struct event_trace turns = told_of(6, 0, 0, 7);
	const struct event_trace *trace;
	Jxp__AgentFrame *frame;

	instances.load = 2;
	instances.cut[0] = true;
	instances.scalar_counts[0] = LIMIT_PLAN_SCALARS;
	instances.scalar_counts[1] = 1;
	instances.scalars[0][3] = 31;
	instances.scalars[1][0] = 32;
	record_parts(f, &instances, RECORD_TRACE_PARTS);
	record(f, (struct record){.type = RECORD_CPU,
				  .tick = {.head = event_head_of(EVENT_TICK), .code = 77}});
	record_parts(f, &turns, RECORD_TRACE_PARTS);
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_TRACE), 2);
	trace = EVENT(frame, EVENT_TRACE, event_trace, 0);
	assert_int_equal(trace->plan, 4);
	assert_int_equal(trace->tid, getpid());
	assert_int_equal(trace->time_ns, 9);
	assert_int_equal(trace->load, 2);
	assert_int_equal(trace->counts[0], LIMIT_TRACE_VALUES);
	assert_int_equal(trace->counts[1], 5);
	assert_memory_equal(trace->values, instances.values, sizeof(instances.values));
	assert_true(trace->cut[0]);
	assert_false(trace->cut[1]);
	assert_int_equal(trace->scalar_counts[0], LIMIT_PLAN_SCALARS);
	assert_int_equal(trace->scalars[0][3], 31);
	assert_int_equal(trace->scalar_counts[1], 1);
	assert_int_equal(trace->scalars[1][0], 32);
	assert_int_equal(trace->turn_values, 0);
	trace = EVENT(frame, EVENT_TRACE, event_trace, 1);
	assert_int_equal(trace->counts[0] + trace->counts[1], 0);
	assert_int_equal(trace->turn_values, 7);
	assert_int_equal(trace->places[4], 1);
	assert_int_equal(trace->values[0][6], 106);
	assert_int_equal(trace->elapsed_ns, 77);
	jxp__agent_frame__free_unpacked(frame, NULL);
	assert_int_equal(drain_records_lost(f->drain), 0);
}

TEST(parts_that_do_not_go_together_are_no_trace, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_trace told = told_of(4, 3, 3, 0);
	Jxp__AgentFrame *frame;

	record_parts(f, &told, RECORD_TRACE_PARTS - 1);
	record_parts(f, &told, 2);
	record_parts(f, &told, 0);
	record_parts(f, &told, RECORD_TRACE_PARTS);
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_true(drain_records_lost(f->drain) > 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_TRACE), 1);
	assert_int_equal(EVENT(frame, EVENT_TRACE, event_trace, 0)->counts[1], 3);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

static struct code_copy *copied_code(void)
{
	struct code_copy *copy = calloc(1, sizeof(*copy));

	assert_non_null(copy);
	copy->blob = (struct code_blob){.start = 0x4000,
					.size = 3,
					.serial = 77,
					.method = fake_address(&one),
					.type = CODE_COMPILED};
	memcpy(copy->bytes, "\x90\x90\xc3", 3);
	copy->frames[0] = (struct scope_call){fake_address(&other), 3};
	copy->frames[1] = (struct scope_call){fake_address(&one), 40};
	copy->frame_count = 2;
	copy->stacks[0] = 0;
	copy->stacks[1] = copy->stacks[2] = 1;
	copy->stack_count = 3;
	copy->records[0] = (struct copied_record){.offset = 0, .first = 0, .count = 2};
	copy->records[1] = (struct copied_record){.offset = 2, .first = 2, .count = 1};
	copy->record_count = 2;
	copy->calls[0] = (struct copied_call){1, CODE_TARGET_JAVA, fake_address(&other)};
	copy->call_count = 1;
	return copy;
}

struct image_arrays {
	const struct code_method *methods;
	const struct code_record *records;
	const struct code_frame *frames;
	const struct code_call *calls;
};

static struct image_arrays arrays_of(const Jxp__CodeImage *image)
{
	return (struct image_arrays){
	    (const void *)image->methods.data, (const void *)image->records.data,
	    (const void *)image->frames.data, (const void *)image->calls.data};
}

TEST(an_image_comes_with_the_methods_that_it_names, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_copy *copy = copied_code();
	const Jxp__CodeImage *image;
	struct image_arrays arrays;
	Jxp__AgentFrame *frame;
	uint32_t root, inlined;

	assert_int_equal(drain_code_image(f->drain, copy, &copy->cut), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_methods, 2);
	assert_int_equal(frame->batch->n_codes, 0);
	assert_string_equal(frame->batch->methods[0]->class_name, "p.One");
	assert_string_equal(frame->batch->methods[1]->class_name, "p.Other$1");
	root = frame->batch->methods[0]->id;
	inlined = frame->batch->methods[1]->id;
	jxp__agent_frame__free_unpacked(frame, NULL);
	frame = received(f);
	assert_int_equal(frame->batch->n_codes, 1);
	image = frame->batch->codes[0];
	assert_int_equal(image->code, 77);
	assert_int_equal(image->start, 0x4000);
	assert_int_equal(image->bytes.len, 3);
	assert_memory_equal(image->bytes.data, copy->bytes, 3);
	assert_int_equal(image->method, root);
	assert_int_equal(drain_method_of(f->drain, root), copy->blob.method);
	arrays = arrays_of(image);
	assert_int_equal(image->methods.len, 2 * sizeof(arrays.methods[0]));
	assert_int_equal(arrays.methods[0].name, root);
	assert_int_equal(arrays.methods[1].name, inlined);
	assert_int_equal(image->records.len, 2 * sizeof(arrays.records[0]));
	assert_int_equal(arrays.records[0].frame_count, 2);
	assert_int_equal(arrays.frames[0].method, 1);
	assert_int_equal(arrays.frames[0].bci, 3);
	assert_int_equal(arrays.frames[1].method, 0);
	assert_int_equal(arrays.records[1].offset, 2);
	assert_int_equal(arrays.records[1].frame_count, 1);
	assert_int_equal(arrays.frames[arrays.records[1].first_frame].bci, 40);
	assert_int_equal(image->calls.len, sizeof(arrays.calls[0]));
	assert_int_equal(arrays.calls[0].method, 2);
	assert_int_equal(arrays.methods[0].bytecode_bytes, FAKE_CODE_SIZE);
	assert_memory_equal(image->bytecodes.data + arrays.methods[0].bytecode,
			    one.const_method.bytes, FAKE_CODE_SIZE);
	assert_int_equal(arrays.methods[1].bytecode_bytes, FAKE_CODE_SIZE);
	assert_string_equal(image->error, "");
	jxp__agent_frame__free_unpacked(frame, NULL);
	free(copy);
}

TEST(code_that_there_is_none_of_has_a_reason, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AgentFrame *frame;

	assert_int_equal(drain_code_refused(f->drain, 5, 6, "it was unloaded"), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_codes, 1);
	assert_int_equal(frame->batch->codes[0]->code, 5);
	assert_int_equal(frame->batch->codes[0]->method, 6);
	assert_string_equal(frame->batch->codes[0]->error, "it was unloaded");
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(a_method_that_is_gone_has_no_part_in_an_image, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_copy *copy = copied_code();
	const Jxp__CodeImage *image;
	struct image_arrays arrays;
	Jxp__AgentFrame *frame;

	other.class.users = 0;
	assert_int_equal(drain_code_image(f->drain, copy, &copy->cut), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_methods, 1);
	jxp__agent_frame__free_unpacked(frame, NULL);
	frame = received(f);
	image = frame->batch->codes[0];
	arrays = arrays_of(image);
	assert_int_equal(image->records.len, 2 * sizeof(arrays.records[0]));
	assert_int_equal(arrays.records[0].frame_count, 1);
	assert_int_equal(arrays.methods[0].name, image->method);
	assert_int_equal(arrays.frames[0].method, 0);
	assert_int_equal(arrays.calls[0].method, 0);
	assert_int_equal(image->bytecodes.len, FAKE_CODE_SIZE);
	jxp__agent_frame__free_unpacked(frame, NULL);
	assert_int_equal(drain_names_lost(f->drain),
			 1); /* A frame and a call name it; it is asked about once. */
	free(copy);
}

TEST(only_methods_that_the_engine_was_told_of_lead_to_code, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t node = context_of(f, 0, &one, 1), unnamed = number_of(&other);
	struct event_allocation a = {
	    .head = event_head_of(EVENT_ALLOCATION), .object = 1, .node = node};

	assert_int_equal(drain_method_of(f->drain, number_of(&one)), 0);
	assert_int_equal(drain_allocation(f->drain, &a), 0);
	assert_int_equal(drain_method_of(f->drain, number_of(&one)), fake_address(&one));
	assert_int_equal(drain_method_of(f->drain, unnamed), 0);
	assert_int_equal(drain_method_of(f->drain, 0), 0);
	assert_int_equal(drain_method_of(f->drain, 99), 0);
	assert_int_equal(drain_method_of(f->drain, METHODS_MAX), 0);
	assert_int_equal(drain_method_of(f->drain, METHODS_MAX + 1), 0);
	assert_int_equal(drain_method_of(f->drain, UINT32_MAX), 0);
}

TEST(the_last_number_is_one_that_can_be_named, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_allocation a = {.head = event_head_of(EVENT_ALLOCATION),
				     .object = 1,
				     .node = context_of(f, 0, &one, 1)};
	struct context_node *node = context_node(f->contexts, a.node);
	struct method_table *t = method_table();

	t->methods[METHODS_MAX - 1] = t->methods[number_of(&one) - 1];
	node->method = METHODS_MAX;
	assert_int_equal(drain_allocation(f->drain, &a), 0);
	assert_int_equal(drain_method_of(f->drain, METHODS_MAX), fake_address(&one));
	assert_int_equal(drain_method_of(f->drain, METHODS_MAX - 1), 0);
}

TEST(a_method_is_what_it_was_met_as, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t interpreted = context_of(f, 0, &one, 1);
	uint32_t compiled = context_of(f, interpreted, &other, 2);
	uint32_t native = context_of(f, compiled, &other, CALL_BCI_NATIVE);
	uint32_t nowhere = context_of(f, compiled, &other, CALL_BCI_UNKNOWN);
	Jxp__AgentFrame *frame;

	method_set_compiled(method_table(), number_of(&other));
	assert_true(method_is_compiled(method_table(), number_of(&other)));
	assert_false(method_is_compiled(method_table(), number_of(&one)));
	record(f, trap_in(native, nowhere));
	assert_int_equal(drain_thread(f->drain, f->thread), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_methods, 2);
	assert_int_equal(frame->batch->n_nodes, 4);
	assert_int_equal(frame->batch->nodes[0]->tier, JXP__TIER__TIER_INTERPRETED);
	assert_int_equal(frame->batch->nodes[1]->tier, JXP__TIER__TIER_JIT);
	assert_int_equal(frame->batch->nodes[2]->tier, JXP__TIER__TIER_NATIVE);
	assert_int_equal(frame->batch->nodes[2]->bci, -1);
	assert_int_equal(frame->batch->nodes[3]->tier, JXP__TIER__TIER_JIT);
	assert_int_equal(frame->batch->nodes[3]->bci, -1);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(nothing_gathered_is_not_sent_but_counters_are, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t counters[JXP__COUNTER__COUNTER_MAX] = {0};
	const struct ledger ledger = {
	    .cpu_ns = 70,
	    .spent_ns = {
		[LEDGER_TICKS] = 4, [LEDGER_SETUP] = 1, [LEDGER_SESSION] = 2, [LEDGER_OPEN] = 1}};
	Jxp__AgentFrame *frame;

	assert_int_equal(drain_send(f->drain), 0);
	expect_silence(f);
	counters[JXP__COUNTER__COUNTER_SAMPLES] = 42;
	assert_int_equal(drain_flush(f->drain, counters, &ledger, 3, 5000), 0);
	frame = received(f);
	assert_int_equal(frame->batch->n_counters, JXP__COUNTER__COUNTER_MAX);
	assert_int_equal(frame->batch->counters[JXP__COUNTER__COUNTER_SAMPLES], 42);
	assert_int_equal(frame->batch->cpu_ns, 70);
	assert_int_equal(frame->batch->overhead_ns, 7);
	assert_int_equal(frame->batch->setup_ns, 3);
	assert_int_equal(frame->batch->period, 5000);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(a_batch_that_is_full_goes_out_by_itself, set_up, tear_down)
{
	struct fixture *f = *state;
	size_t sent = 0, arrived = 0;
	Jxp__AgentFrame *frame;

	/* Until one has gone: there is something to read. */
	while (recv(f->ends.engine, &(uint8_t){0}, 1, MSG_DONTWAIT | MSG_PEEK) < 0) {
		struct event_allocation a = {.head = event_head_of(EVENT_ALLOCATION),
					     .object = (uint32_t)++sent,
					     .size_bytes = 64};

		assert_int_equal(drain_allocation(f->drain, &a), 0);
		assert_true(sent < 1000000);
	}
	assert_int_equal(drain_send(f->drain), 0);
	while (arrived < sent) {
		frame = received(f);
		for (size_t i = 0; i < sample_events_count(frame->batch, EVENT_ALLOCATION); i++)
			assert_int_equal(
			    EVENT(frame, EVENT_ALLOCATION, event_allocation, i)->object, ++arrived);
		jxp__agent_frame__free_unpacked(frame, NULL);
	}
}

TEST(positions_come_in_order_and_the_last_word_settles_the_epoch, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct event_position *p;
	Jxp__AgentFrame *frame;

	for (uint32_t id = 1; id <= 1500; id++)
		assert_int_equal(drain_position(f->drain, 4, id, id % 3 ? id * 16 : 0), 0);
	assert_int_equal(drain_settle(f->drain, 4), 0);
	assert_int_equal(drain_position(f->drain, 5, 1, 0), 0);
	assert_int_equal(drain_send(f->drain), 0);
	frame = received(f);
	assert_int_equal(sample_events_count(frame->batch, EVENT_POSITION), 1501);
	assert_int_equal(sample_events_count(frame->batch, EVENT_SETTLED), 1);
	p = EVENT(frame, EVENT_POSITION, event_position, 2);
	assert_int_equal(p->epoch, 4);
	assert_int_equal(p->object, 3);
	assert_int_equal(p->address, 0);
	assert_int_equal(p[1].address, 64);
	p = EVENT(frame, EVENT_POSITION, event_position, 1500);
	assert_int_equal(p->epoch, 5);
	assert_int_equal(EVENT(frame, EVENT_SETTLED, event_settled, 0)->epoch, 4);
	jxp__agent_frame__free_unpacked(frame, NULL);
}

TEST(what_holds_until_changed_is_in_every_batch, set_up, tear_down)
{
	struct fixture *f = *state;
	Jxp__AgentFrame *frame;

	drain_set_settled(f->drain, 100);
	drain_set_settled(f->drain, 90); /* Never back. */
	drain_set_object_interval(f->drain, 4096);
	drain_set_object_min_size(f->drain, 64);
	drain_refuse_objects(f->drain, "this collector moves objects unseen");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(drain_announce(f->drain, f->thread, i == 1), 0);
		assert_int_equal(drain_send(f->drain), 0);
		frame = received(f);
		assert_int_equal(frame->batch->settled_ns, 100);
		assert_int_equal(frame->batch->object_interval, 4096);
		assert_int_equal(frame->batch->object_min_size, 64);
		assert_string_equal(frame->batch->objects_refused,
				    "this collector moves objects unseen");
		assert_int_equal(frame->batch->threads[0]->tid, getpid());
		assert_int_equal(frame->batch->threads[0]->ended, i == 1);
		assert_int_equal(frame->batch->threads[0]->name[0] == '\0', i == 1);
		assert_null(strchr(frame->batch->threads[0]->name, '\n'));
		jxp__agent_frame__free_unpacked(frame, NULL);
	}
}
