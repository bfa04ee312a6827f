/* A batch under construction: what is added to it is what the engine unpacks. */
#include "tests/unit/support/test.h"
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stream/batch.h"
#include "proto/limits.h"
#include "tests/unit/support/agent/fake_methods.h"
#include "tests/unit/support/sample_events.h"

/* As the engine gets it; to be freed with jxp__batch__free_unpacked. */
static Jxp__Batch *received(struct batch *b)
{
	size_t size;
	uint8_t *bytes;
	Jxp__Batch *copy;

	b->message.events.data = buffer_head(&b->events);
	b->message.events.len = buffer_length(&b->events);
	size = jxp__batch__get_packed_size(&b->message);
	bytes = malloc(size);
	assert_non_null(bytes);
	assert_int_equal(jxp__batch__pack(&b->message, bytes), size);
	copy = jxp__batch__unpack(NULL, size, bytes);
	assert_non_null(copy);
	free(bytes);
	return copy;
}

TEST(parts_arrive_in_order_however_many_there_are)
{
	struct batch b;
	Jxp__Batch *m;

	batch_init(&b);
	for (uint32_t i = 1; i <= 100; i++) {
		const struct event_tick tick = {.head = event_head_of(EVENT_TICK), .tid = i};
		const struct event_settled settled = {.head = event_head_of(EVENT_SETTLED),
						      .epoch = i};

		batch_node(&b)->id = i;
		batch_add(&b, &tick.head);
		batch_add(&b, &settled.head);
	}
	m = received(&b);
	assert_int_equal(m->n_nodes, 100);
	assert_int_equal(sample_events_count(m, EVENT_TICK), 100);
	for (uint32_t i = 1; i <= 100; i++) {
		const struct event_tick *tick = sample_events_get(m, EVENT_TICK, i - 1);
		const struct event_settled *settled = sample_events_get(m, EVENT_SETTLED, i - 1);

		assert_int_equal(m->nodes[i - 1]->id, i);
		assert_int_equal(tick->tid, i);
		assert_int_equal(settled->epoch, i);
	}
	jxp__batch__free_unpacked(m, NULL);
	batch_clear(&b);
}

TEST(names_are_copied_and_cut)
{
	char name[2 * LIMIT_STRING_BYTES];
	static struct fake_world w;
	struct batch b;
	Jxp__Batch *m;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	fake_world_init(&w, name, "main");
	w.pool.file = 0;
	memcpy(w.const_method.bytes + FAKE_CODE_SIZE, (uint8_t[]){3 << 3 | 7, 6 << 3 | 1, 0}, 3);
	assert_int_equal(safe_read_init(), 0);
	assert_int_equal(method_table_init(), 0);
	assert_int_equal(method_number(method_table(), &fake_method_layout, fake_address(&w), 0),
			 1);
	batch_init(&b);
	assert_true(
	    batch_method(&b, 7, method_of_number(method_table(), 1), fake_method_layout.byte_base));
	assert_true(batch_thread(&b, 5, "worker", true));
	assert_true(batch_instruction(&b, 1, "ret"));
	assert_true(batch_object_class(&b, 2, "long[]"));
	method_table_release();
	m = received(&b);
	assert_int_equal(m->methods[0]->id, 7);
	assert_int_equal(strlen(m->methods[0]->class_name), LIMIT_STRING_BYTES - 1);
	assert_string_equal(m->methods[0]->name, "main");
	assert_string_equal(m->methods[0]->file, "");
	assert_int_equal(m->methods[0]->n_lines, 2);
	assert_int_equal(m->methods[0]->lines[1]->bci, 9);
	assert_int_equal(m->methods[0]->lines[1]->line, 8);
	assert_string_equal(m->threads[0]->name, "worker");
	assert_true(m->threads[0]->ended);
	assert_string_equal(m->instructions[0]->text, "ret");
	assert_string_equal(m->classes[0]->name, "long[]");
	jxp__batch__free_unpacked(m, NULL);
	batch_clear(&b);
}

TEST(a_full_batch_still_fits_a_frame_with_its_largest_part)
{
	const struct event_trace trace = {.head = event_head_of(EVENT_TRACE)};
	struct batch b;
	Jxp__Batch *m;

	batch_init(&b);
	while (!batch_is_full(&b))
		batch_add(&b, &trace.head);
	m = received(&b);
	assert_true(jxp__batch__get_packed_size(m) < FRAME_MAX_AGENT);
	jxp__batch__free_unpacked(m, NULL);
	batch_clear(&b);
	assert_false(batch_is_full(&b));
	m = received(&b);
	assert_int_equal(m->events.len, 0);
	jxp__batch__free_unpacked(m, NULL);
}
