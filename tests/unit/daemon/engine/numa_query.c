#include "tests/unit/support/test.h"

#include <string.h>

#include "daemon/engine/numa_query.h"
#include "tests/unit/support/fake_broker.h"

static struct numa_topology topology = {.node_count = 2, .node_id = {0, 1}};
static struct numa_profile profile;
static struct numa_query query;
static uint64_t touches_lost;

static int set_up(void **state)
{
	(void)state;
	memset(&fake_broker, 0, sizeof(fake_broker));
	profile = (struct numa_profile){0};
	/* The stand-in never looks at the client. */
	numa_query_init(&query, (struct broker_client *)&topology, 42, &topology, &profile,
			&touches_lost);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	numa_query_release(&query);
	numa_profile_release(&profile);
	return 0;
}

static void add_accesses(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct numa_access access = {.address = 0x1000 * (i + 1),
					     .site = NUMA_NO_SITE,
					     .from = 1,
					     .alloc_node = NUMA_NONE,
					     .weight = 1};

		assert_int_equal(numa_profile_access(&profile, &access), 0);
	}
}

static void answer(int16_t node, int error)
{
	struct broker_reply reply = {.operation = BROKER_PAGES, .error = error};

	assert_int_not_equal(fake_broker.pages_id, 0);
	fake_broker.pages_id = 0;
	for (size_t i = 0; i < BROKER_PAGES_MAX; i++)
		reply.nodes[i] = node;
	fake_broker.pages_fn(fake_broker.pages_arg, &reply, NULL);
}

TEST(nothing_is_asked_when_nothing_waits, set_up, tear_down)
{
	numa_query_pump(&query);
	assert_int_equal(fake_broker.last_id, 0);
}

TEST(answers_place_accesses_and_ask_for_the_next, set_up, tear_down)
{
	add_accesses(BROKER_PAGES_MAX + 2);
	numa_query_pump(&query);
	assert_int_equal(fake_broker.page_count, BROKER_PAGES_MAX);
	assert_int_equal(fake_broker.pages[0], 0x1000);
	numa_query_pump(&query); /* One question at a time. */
	assert_int_equal(fake_broker.last_id, 1);
	answer(0, 0);
	assert_int_equal(fake_broker.page_count, 2);
	answer(1, 0);
	assert_int_equal(profile.samples, BROKER_PAGES_MAX + 2);
	assert_int_equal(profile.remote_samples, BROKER_PAGES_MAX);
	assert_int_equal(fake_broker.pages_id, 0);
}

TEST(pages_without_a_node_and_failures_are_unplaced, set_up, tear_down)
{
	add_accesses(1);
	numa_query_pump(&query);
	answer(-1, 0);
	assert_int_equal(profile.unplaced, 1);
	add_accesses(1);
	numa_query_pump(&query);
	answer(0, ESRCH);
	assert_int_equal(profile.unplaced, 2);
	fake_broker.refuse = EAGAIN;
	add_accesses(1);
	numa_query_pump(&query);
	assert_int_equal(profile.unplaced, 3);
	assert_int_equal(profile.samples, 0);
}

TEST(an_open_question_at_the_end_is_forgotten, set_up, tear_down)
{
	add_accesses(3);
	numa_query_pump(&query);
	numa_query_release(&query);
	assert_int_equal(fake_broker.pages_id, 0);
	assert_int_equal(profile.unplaced, 3);
}
