#include "tests/unit/support/test.h"

#include <signal.h>

#include "daemon/hangups.h"
#include "tests/unit/support/loop_helper.h"

#define PACE_MS 200
#define STORM   500

struct host {
	uv_loop_t loop;
	struct hangups hangups;
	unsigned readings;
	bool again; /* there was another than the first */
};

static void count(void *arg)
{
	struct host *h = arg;

	h->again = h->readings++ > 0;
}

static void set_up(struct host *h)
{
	*h = (struct host){0};
	assert_int_equal(uv_loop_init(&h->loop), 0);
	hangups_start(&h->hangups, &h->loop, PACE_MS, count, h);
}

static void tear_down(struct host *h)
{
	hangups_close(&h->hangups);
	loop_finish(&h->loop);
}

static void storm(struct host *h)
{
	for (int i = 0; i < STORM; i++)
		assert_int_equal(raise(SIGHUP), 0);
	loop_settle(&h->loop);
}

TEST(the_first_one_is_heard_at_once)
{
	struct host h;

	set_up(&h);
	assert_int_equal(raise(SIGHUP), 0);
	loop_settle(&h.loop);
	assert_int_equal(h.readings, 1);
	tear_down(&h);
}

TEST(a_storm_is_one_reading_in_its_time_and_one_after_it)
{
	struct host h;

	set_up(&h);
	storm(&h);
	assert_int_equal(h.readings, 1);
	loop_until(&h.loop, &h.again);
	assert_int_equal(h.readings, 2);
	tear_down(&h);
}

TEST(one_that_comes_later_is_heard_at_once_again)
{
	struct host h;

	set_up(&h);
	storm(&h);
	loop_until(&h.loop, &h.again);
	while (uv_is_active((uv_handle_t *)&h.hangups.pace))
		(void)uv_run(&h.loop, UV_RUN_ONCE);
	h.readings = 0;
	assert_int_equal(raise(SIGHUP), 0);
	loop_settle(&h.loop);
	assert_int_equal(h.readings, 1);
	tear_down(&h);
}
