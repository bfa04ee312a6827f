#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/intake/attribution_intake.h"
#include "proto/limits.h"
#include "tests/unit/support/sample_image.h"
#include "tests/unit/support/sample_intake.h"

struct fixture {
	struct sample_intake in;
	struct attribution_intake makers;
	struct sample_image image;
	uint32_t field; /* location */
	/* What was applied, the last one as it was. */
	size_t applied;
	struct attribution_held last;
};

/* ---------------------------------------------------------------- fixture */

static int apply(void *arg, const struct attribution_held *held)
{
	struct fixture *f = arg;

	f->applied++;
	f->last = *held;
	return 0;
}

/* What the agent says so far: one image has cost image_ns, of so much CPU time. */
static void images_cost(struct fixture *f, uint64_t image_ns, uint64_t cpu_ns)
{
	f->in.window->counters[JXP__COUNTER__COUNTER_CODES_SENT] = 1;
	f->in.window->counters[JXP__COUNTER__COUNTER_IMAGES_NS] = image_ns;
	f->in.window->cpu_ns = cpu_ns;
}

/* Main.fill's node is of compiled code, Main.sum's of the interpreter. */
static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds = {false, true}, .budget = 1.0};

	f = (struct fixture){0};
	sample_intake_begin(&f.in, &request);
	images_cost(&f, 1, UINT64_C(1000000000));
	f.in.sample.nodes[SUM - 1].tier = JXP__TIER__TIER_INTERPRETED;
	sample_intake_apply(&f.in);
	assert_true(agent_ids_get(&f.in.intake.locations, 1, &f.field));
	attribution_intake_init(&f.makers, f.in.window, &f.in.intake.methods, apply, &f);
	f.makers.waiting_min = 1;
	sample_image_init(&f.image);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	attribution_intake_release(&f->makers);
	sample_intake_end(&f->in);
	return 0;
}

static struct attribution_query load_at(const struct fixture *f, uint64_t code, uint32_t offset)
{
	return (struct attribution_query){
	    .code = code, .offset = offset, .node = FILL, .location = f->field, .loads = true};
}

static void add(struct fixture *f, struct attribution_query query)
{
	const struct attribution_held held = {.queries = {query}};

	assert_int_equal(attribution_intake_add(&f->makers, &held), 0);
}

static void add_load(struct fixture *f, uint64_t code)
{
	add(f, load_at(f, code, READS));
}

static size_t ask(struct fixture *f, uint64_t codes[CODES_OPEN_MAX])
{
	return attribution_intake_ask(&f->makers, codes);
}

static void assert_asks_for(struct fixture *f, uint64_t code)
{
	uint64_t codes[CODES_OPEN_MAX];

	assert_int_equal(ask(f, codes), 1);
	assert_int_equal(codes[0], code);
}

static void assert_asks_for_nothing(struct fixture *f)
{
	uint64_t codes[CODES_OPEN_MAX];

	assert_int_equal(ask(f, codes), 0);
}

static void send_image(struct fixture *f, uint64_t code)
{
	int error;

	f->image.image.code = code;
	assert_true(attribution_intake_image(&f->makers, &f->image.image, &error));
	assert_int_equal(error, 0);
}

static void refuse(struct fixture *f, uint64_t code)
{
	f->image.image.error = (char *)"it was unloaded";
	send_image(f, code);
	f->image.image.error = (char *)"";
}

/* As the engine does, on a thread of the pool. */
static void analyse(struct fixture *f)
{
	const struct attribution_options options = {0};
	struct attribution attribution;
	struct code_image image;
	uint32_t code;
	int r;

	assert_true(attribution_intake_take_image(&f->makers, &image, &code));
	r = attribution_make(&attribution, &image, &options);
	assert_int_equal(attribution_intake_analysed(&f->makers, code, r, &attribution), 0);
	code_image_release(&image);
}

static void assert_lost(const struct fixture *f, enum loss loss, uint64_t count)
{
	assert_int_equal(f->in.window->losses[loss], count);
}

static const struct cct_node *node_of(const struct fixture *f, uint32_t id)
{
	const struct cct_node *node = cct_node(&f->in.window->profile.cct, id);

	assert_non_null(node);
	return node;
}

static void assert_sums(const struct fixture *f, uint64_t count, enum certainty certainty)
{
	for (int i = 0; i < CERTAINTY_VALUES; i++)
		assert_int_equal(f->in.window->attributed[i], i == (int)certainty ? count : 0);
}

/* What was applied is Main.sum's, which Main.fill calls at 1, which Main.main calls. */
static void assert_corrected(const struct fixture *f, size_t count)
{
	const struct cct_node *getter, *caller;

	assert_int_equal(f->applied, count);
	getter = node_of(f, f->last.queries[0].node);
	caller = node_of(f, getter->parent);
	assert_int_equal(getter->method, SUM);
	assert_int_equal(getter->bci, 1);
	assert_int_equal(getter->line, 31);
	assert_int_equal(getter->tier, JXP__TIER__TIER_JIT);
	assert_int_equal(getter->certainty, CERTAINTY_CHECKED);
	assert_int_equal(caller->method, FILL);
	assert_int_equal(caller->bci, 1);
	assert_int_equal(caller->line, 21);
	assert_int_equal(caller->parent, 1);
	assert_int_equal(node_of(f, FILL)->certainty, CERTAINTY_NONE);
	assert_sums(f, count, CERTAINTY_CHECKED);
}

/* What was applied is as the JVM has it, and known to be no more than that. */
static void assert_as_it_was(const struct fixture *f, size_t count)
{
	assert_int_equal(f->applied, count);
	assert_int_equal(f->last.queries[0].node, FILL);
	assert_int_equal(node_of(f, FILL)->certainty, CERTAINTY_UNKNOWN);
	assert_sums(f, count, CERTAINTY_UNKNOWN);
}

/* ---------------------------------------------------------------- what waits */

TEST(an_access_waits_until_its_code_is_analysed, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	assert_int_equal(f->applied, 0);
	send_image(f, CODE);
	assert_int_equal(f->applied, 0);
	analyse(f);
	assert_corrected(f, 1);
	add_load(f, CODE); /* The next one need not wait. */
	assert_corrected(f, 2);
	assert_lost(f, LOSS_CODE, 0);
}

TEST(who_asks_for_more_than_any_program_is_told_no_more, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query;
	uint64_t begin = f->makers.work;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	analyse(f);
	assert_corrected(f, 1);
	assert_true(f->makers.work > begin);
	f->makers.work = ATTRIBUTION_WORK_MAX + 1;
	add_load(f, CODE); /* Remembered. */
	assert_corrected(f, 2);
	query = load_at(f, CODE + 1, READS);
	query.calls = 1;
	add(f, query);
	assert_asks_for(f, CODE + 1);
	send_image(f, CODE + 1);
	analyse(f);
	assert_int_equal(f->in.window->attributed[CERTAINTY_METHOD], 1);
}

TEST(two_accesses_of_one_code_cause_one_request, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	add_load(f, CODE);
	assert_asks_for(f, CODE);
	add_load(f, CODE);
	assert_asks_for_nothing(f);
	send_image(f, CODE);
	assert_asks_for_nothing(f);
	analyse(f);
	assert_asks_for_nothing(f);
	assert_corrected(f, 3);
}

TEST(a_pair_waits_for_the_code_of_both, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_held pair = {.is_pair = true};
	uint64_t codes[CODES_OPEN_MAX];

	add_load(f, CODE);
	pair.queries[0] = load_at(f, CODE, READS);
	pair.queries[1] = load_at(f, CODE + 1, READS);
	assert_int_equal(attribution_intake_add(&f->makers, &pair), 0);
	assert_int_equal(ask(f, codes), 2);
	assert_int_equal(codes[1], CODE + 1);
	send_image(f, CODE);
	analyse(f);
	assert_corrected(f, 1);
	refuse(f, CODE + 1);
	assert_int_equal(f->applied, 2);
	assert_true(f->last.is_pair);
	assert_int_equal(node_of(f, f->last.queries[0].node)->method, SUM);
	assert_int_equal(f->last.queries[1].node, FILL);
	assert_int_equal(f->in.window->attributed[CERTAINTY_CHECKED], 2);
	assert_int_equal(f->in.window->attributed[CERTAINTY_UNKNOWN], 1);
}

TEST(at_the_end_what_waits_is_applied, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	assert_int_equal(attribution_intake_finish(&f->makers), 0);
	assert_as_it_was(f, 1);
}

TEST(at_the_end_code_that_came_is_analysed, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	assert_int_equal(attribution_intake_finish(&f->makers), 0);
	assert_corrected(f, 1);
}

TEST(no_more_wait_than_there_is_room_for, set_up, tear_down)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ATTRIBUTION_HELD_MAX; i++)
		add_load(f, CODE);
	assert_int_equal(f->applied, 0);
	add_load(f, CODE);
	assert_as_it_was(f, 1);
	assert_int_equal(f->makers.held_count, ATTRIBUTION_HELD_MAX);
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	analyse(f);
	assert_int_equal(f->applied, ATTRIBUTION_HELD_MAX + 1);
	assert_int_equal(f->makers.held_count, 0);
	assert_int_equal(f->in.window->attributed[CERTAINTY_CHECKED], ATTRIBUTION_HELD_MAX);
}

/* ---------------------------------------------------------------- code that never comes */

TEST(what_is_in_no_code_does_not_wait, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query = load_at(f, 0, 0);

	query.calls = 1;
	add(f, query);
	assert_int_equal(f->applied, 1);
	assert_int_equal(f->last.queries[0].node, FILL);
	assert_sums(f, 1, CERTAINTY_METHOD);
	assert_asks_for_nothing(f);
}

/* Its methods may have been compiled when they were named. */
TEST(what_was_interpreted_is_told_whatever_the_method_is_now, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, 0);
	assert_int_equal(f->applied, 1);
	assert_int_equal(f->last.queries[0].node, FILL);
	assert_sums(f, 1, CERTAINTY_EXACT);
	assert_asks_for_nothing(f);
}

TEST(of_the_interpreter_the_jvm_tells_the_bytecode, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query = load_at(f, 0, 0);

	query.node = SUM;
	add(f, query);
	assert_int_equal(f->applied, 1);
	assert_int_equal(f->last.queries[0].node, SUM);
	assert_int_equal(node_of(f, SUM)->certainty, CERTAINTY_EXACT);
	assert_sums(f, 1, CERTAINTY_EXACT);
	assert_asks_for_nothing(f);
}

TEST(what_has_no_context_is_counted_nowhere, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query = load_at(f, CODE, READS);

	query.node = 0;
	add(f, query);
	assert_int_equal(f->applied, 1);
	assert_sums(f, 0, CERTAINTY_NONE);
	assert_asks_for_nothing(f);
}

TEST(code_that_is_refused_leaves_accesses_as_they_are, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	refuse(f, CODE);
	assert_as_it_was(f, 1);
	add_load(f, CODE);
	assert_as_it_was(f, 2);
	assert_asks_for_nothing(f);
	assert_lost(f, LOSS_CODE, 0); /* The agent counts it. */
}

/* Main.sum is inlined in Main.fill by what the JVM says: nobody knows whether it is Main.sum's. */
TEST(without_its_code_an_access_is_the_compiled_methods, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query = load_at(f, CODE, READS);
	const struct cct_node inlined = {.parent = FILL,
					 .method = node_of(f, SUM)->method,
					 .tier = JXP__TIER__TIER_JIT,
					 .bci = 1,
					 .line = 12};

	assert_int_equal(cct_add_node(&f->in.window->profile.cct, &inlined, &query.node), 0);
	query.calls = 2;
	add(f, query);
	assert_asks_for(f, CODE);
	refuse(f, CODE);
	assert_int_equal(f->applied, 1);
	assert_int_equal(node_of(f, f->last.queries[0].node)->method, node_of(f, FILL)->method);
	assert_int_equal(node_of(f, f->last.queries[0].node)->parent, node_of(f, FILL)->parent);
	assert_int_equal(node_of(f, f->last.queries[0].node)->bci, -1);
	assert_int_equal(f->in.window->attributed[CERTAINTY_METHOD], 1);
}

TEST(what_no_bytecode_tells_waits_for_no_code, set_up, tear_down)
{
	struct fixture *f = *state;
	struct attribution_query query = load_at(f, CODE, READS);

	query.location = 0;
	add(f, query);
	assert_int_equal(f->applied, 1);
	assert_asks_for_nothing(f);
	assert_int_equal(f->in.window->attributed[CERTAINTY_UNKNOWN], 1);
}

TEST(an_image_of_no_known_method_leaves_accesses_as_they_are, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	f->image.image.method = 77;
	send_image(f, CODE);
	assert_as_it_was(f, 1);
	assert_asks_for_nothing(f);
	assert_lost(f, LOSS_CODE, 1);
}

TEST(code_that_is_too_tangled_leaves_accesses_as_they_are, set_up, tear_down)
{
	struct fixture *f = *state;

	add_load(f, CODE);
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	f->makers.requests.images[0].size = 0; /* Nothing to take apart. */
	analyse(f);
	assert_as_it_was(f, 1);
	assert_asks_for_nothing(f);
	assert_lost(f, LOSS_CODE, 1);
}

TEST(an_offset_that_the_flow_does_not_lead_to_is_told_by_bytecodes, set_up, tear_down)
{
	struct fixture *f = *state;

	add(f, load_at(f, CODE, ENDS));
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	analyse(f);
	assert_corrected(f, 1);
}

TEST(code_that_nobody_asked_for_is_not_taken, set_up, tear_down)
{
	struct fixture *f = *state;
	int error;

	add_load(f, CODE);
	assert_false(attribution_intake_image(&f->makers, &f->image.image, &error));
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	assert_false(attribution_intake_image(&f->makers, &f->image.image, &error)); /* Again. */
	analyse(f);
	assert_false(attribution_intake_image(&f->makers, &f->image.image, &error));
	assert_corrected(f, 1);
}

/* ---------------------------------------------------------------- how much is asked for */

TEST(code_is_asked_for_in_turns, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];

	for (uint64_t i = 0; i < CODES_OPEN_MAX + 2; i++)
		add_load(f, CODE + i);
	assert_int_equal(ask(f, codes), CODES_OPEN_MAX);
	for (uint64_t i = 0; i < CODES_OPEN_MAX; i++)
		assert_int_equal(codes[i], CODE + i);
	assert_asks_for_nothing(f);
	for (uint64_t i = 0; i < CODES_OPEN_MAX; i++)
		send_image(f, CODE + i);
	assert_asks_for_nothing(f); /* Images that wait are open, too. */
	analyse(f);
	assert_asks_for(f, CODE + CODES_OPEN_MAX);
	for (uint64_t i = 1; i < CODES_OPEN_MAX; i++)
		analyse(f);
	refuse(f, CODE + CODES_OPEN_MAX);
	assert_asks_for(f, CODE + CODES_OPEN_MAX + 1);
	assert_int_equal(f->in.window->attributed[CERTAINTY_CHECKED], CODES_OPEN_MAX);
	assert_int_equal(f->in.window->attributed[CERTAINTY_UNKNOWN], 1);
}

TEST(what_will_not_be_asked_for_is_not_waited_for, set_up, tear_down)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < ATTRIBUTION_ASKED_MAX; i++) {
		add_load(f, CODE + i);
		assert_asks_for(f, CODE + i);
		refuse(f, CODE + i);
	}
	add_load(f, CODE + ATTRIBUTION_ASKED_MAX);
	assert_asks_for_nothing(f);
	add_load(f, CODE + ATTRIBUTION_ASKED_MAX);
	assert_as_it_was(f, ATTRIBUTION_ASKED_MAX + 2);
}

TEST(code_that_few_wait_for_is_not_asked_for, set_up, tear_down)
{
	struct fixture *f = *state;

	f->makers.waiting_min = ATTRIBUTION_WAITING_MIN;
	add_load(f, 8);
	for (unsigned i = 0; i + 1 < ATTRIBUTION_WAITING_MIN; i++)
		add_load(f, CODE);
	assert_asks_for_nothing(f);
	add_load(f, CODE);
	assert_asks_for(f, CODE);
	/* In the end they are the compiled methods'. */
	assert_int_equal(attribution_intake_finish(&f->makers), 0);
	assert_int_equal(f->applied, ATTRIBUTION_WAITING_MIN + 1);
}

TEST(code_that_most_wait_for_is_asked_for_first, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];

	for (uint64_t i = 0; i < CODES_OPEN_MAX + 1; i++)
		for (uint64_t waiting = 0; waiting <= i; waiting++)
			add_load(f, CODE + i);
	assert_int_equal(ask(f, codes), CODES_OPEN_MAX);
	for (uint64_t i = 0; i < CODES_OPEN_MAX; i++)
		assert_int_equal(codes[i], CODE + CODES_OPEN_MAX - i);
}

/* An image has cost 2 ms: five take a fifth of 50 ms. */
TEST(images_take_a_part_of_the_budget, set_up, tear_down)
{
	const uint64_t image_ns = 2000000, cpu_ns = 100000000;
	struct fixture *f = *state;
	uint64_t codes[CODES_OPEN_MAX];
	unsigned asked = 0;

	images_cost(f, image_ns, cpu_ns);
	for (uint64_t i = 0; i < 2 * (ATTRIBUTION_ASKED_FREE + 5); i++) {
		add_load(f, CODE + i);
		if (ask(f, codes) == 1) {
			asked++;
			refuse(f, CODE + i);
		}
	}
	assert_int_equal(asked, ATTRIBUTION_ASKED_FREE + 5);
	images_cost(f, image_ns, 2 * cpu_ns);
	assert_int_equal(ask(f, codes), CODES_OPEN_MAX);
	assert_int_equal(codes[0], CODE + asked);
}

/* ---------------------------------------------------------------- how much is kept */

/* Code is needed for the first time, with a name that takes as much as names may. */
static void know_large(struct fixture *f, uint64_t code)
{
	static char texts[LIMIT_CODE_TEXT];

	memcpy(texts, SAMPLE_TEXTS, sizeof(SAMPLE_TEXTS));
	f->image.image.texts = SENT(texts);
	add_load(f, code);
	assert_asks_for(f, code);
	send_image(f, code);
	analyse(f);
}

/* How many of them there is no room for. */
static uint64_t fill_room(struct fixture *f)
{
	uint64_t count = 0;

	do {
		know_large(f, CODE + count);
		count++;
	} while (f->makers.codes[0].is.state == CODE_KNOWN && count < 100);
	assert_int_not_equal(f->makers.codes[0].is.state, CODE_KNOWN);
	assert_true(f->makers.bytes <= ATTRIBUTION_BYTES_MAX);
	assert_int_equal(f->makers.codes[1].is.state, CODE_KNOWN);
	assert_corrected(f, count);
	return count;
}

TEST(code_that_was_needed_longest_ago_makes_room, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t count = fill_room(f);

	assert_true(count > ATTRIBUTION_BYTES_MAX / (LIMIT_CODE_TEXT + 65536));
	add(f, load_at(f, CODE + 1, POLLS)); /* A new question: it is needed again. */
	know_large(f, CODE + count);
	assert_int_equal(f->makers.codes[1].is.state, CODE_KNOWN);
	assert_int_not_equal(f->makers.codes[2].is.state, CODE_KNOWN);
	assert_true(f->makers.bytes <= ATTRIBUTION_BYTES_MAX);
}

/* What nobody asks about need not come back: it would only drive out others. */
TEST(code_that_made_room_is_asked_for_when_it_is_needed, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t count = fill_room(f);

	assert_asks_for_nothing(f);
	add_load(f, CODE); /* The answer is kept. */
	assert_corrected(f, count + 1);
	assert_asks_for_nothing(f);
	add(f, load_at(f, CODE, POLLS));
	assert_int_equal(f->applied, count + 1);
	assert_asks_for(f, CODE);
	send_image(f, CODE);
	analyse(f);
	assert_int_equal(f->applied, count + 2);
	assert_asks_for_nothing(f);
	assert_true(f->makers.bytes <= ATTRIBUTION_BYTES_MAX);
}

/* ---------------------------------------------------------------- offered */

TEST(an_image_that_is_offered_is_taken_once, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(attribution_intake_offer(&f->makers, &f->image.image), 0);
	assert_int_equal(attribution_intake_offer(&f->makers, &f->image.image), 0);
	assert_int_equal(f->makers.requests.image_count, 1);
	analyse(f);
	assert_int_equal(attribution_intake_offer(&f->makers, &f->image.image), 0);
	assert_int_equal(f->makers.requests.image_count, 0);
	/* Accesses have it, too. */
	add_load(f, CODE);
	assert_corrected(f, 1);
}
