#include "tests/unit/support/test.h"

#include "report/loops/loop_pairs.h"
#include "tests/unit/support/sample_window.h"

struct fixture {
	struct window_result *window;
	uint32_t method; /* of "find" */
	struct report_loops loops;
	struct loop_pairs pairs;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct window_result *w = sample_window_empty(5, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 10);
	uint32_t find = sample_window_node(w, main, "find", 22);

	w->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	sample_window_cpu(w, main, find, find);
	f = (struct fixture){.window = w, .method = cct_node(&w->profile.cct, find)->method};
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	loop_pairs_release(&f->pairs);
	report_loops_release(&f->loops);
	window_result_free(f->window);
	return 0;
}

/* From header to latch, with so many ticks: the more, the lower the rank. */
static void loop(struct fixture *f, uint32_t header, int32_t latch, int32_t line, unsigned ticks)
{
	sample_window_loop(f->window, f->method, header, line, 0, LOOP_SOME, ticks)->latch_bci =
	    latch;
}

static uint32_t frame(struct fixture *f, uint32_t parent, int32_t bci, int32_t line)
{
	struct cct_node node = {.parent = parent, .method = f->method, .bci = bci, .line = line};
	uint32_t id;

	assert_int_equal(cct_add_node(&f->window->profile.cct, &node, &id), 0);
	return id;
}

static void find_loops(struct fixture *f)
{
	assert_int_equal(report_loops_init(&f->loops, f->window), 0);
	assert_int_equal(loop_pairs_init(&f->pairs, &f->loops, f->window), 0);
}

TEST(a_loop_calls_what_is_in_none_itself, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct cct *t = &f->window->profile.cct;
	uint32_t outer = frame(f, 0, 12, 21), inner = frame(f, outer, 30, 23);
	uint32_t leaf = sample_window_node(f->window, inner, "get", 5);
	struct loop_around found;

	loop(f, 10, 60, 20, 100);
	loop(f, 20, 50, 22, 5); /* Takes too little time. */
	find_loops(f);
	found = loop_pairs_context(&f->pairs, t, leaf);
	assert_int_equal(found.loop->row->key.header, 10);
	assert_true(found.called);
	found = loop_pairs_context(&f->pairs, t, inner);
	assert_int_equal(found.loop->row->key.header, 20);
	assert_false(found.called);
	assert_null(loop_pairs_frame(&f->pairs, t, leaf).loop);
	assert_null(loop_pairs_context(&f->pairs, t, 0).loop);
}

TEST(pairs_are_counted_where_the_first_access_is, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t in = frame(f, 0, 30, 23), out = frame(f, 0, 70, 30);
	const struct loop_waste *waste;

	loop(f, 10, 60, 20, 100);
	sample_window_pairs(f->window, JXP__KIND__KIND_SILENT_LOAD, in, out, 20, true);
	sample_window_pairs(f->window, JXP__KIND__KIND_SILENT_LOAD, in, in, 20, false);
	sample_window_pairs(f->window, JXP__KIND__KIND_SILENT_LOAD, out, in, 50, true);
	sample_window_pairs(f->window, JXP__KIND__KIND_DEAD_STORE, in, in, LOOP_PAIRS_MIN - 1,
			    true);
	find_loops(f);
	waste = loop_pairs_waste(&f->pairs, 0, 2);
	assert_int_equal(waste->pairs, 40);
	assert_int_equal(waste->wasteful, 20);
	assert_float_equal(waste->fraction, 0.5, 0);
	assert_true(waste->ci95.low > 0.3 && waste->ci95.high < 0.7);
	assert_null(loop_pairs_waste(&f->pairs, 0, 0));
}
