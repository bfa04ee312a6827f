/* Runs an event loop in a test until something happened, or fails the test after a time. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_LOOP_HELPER_H
#define JXPERF_TESTS_UNIT_SUPPORT_LOOP_HELPER_H

#include <stdbool.h>
#include <uv.h>

#define LOOP_PATIENCE_MS 5000

static void loop_on_timeout(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

/* Turns the loop until *flag; the caller's callbacks set it. */
__attribute__((unused)) static void loop_until(uv_loop_t *loop, const bool *flag)
{
	bool expired = false;
	uv_timer_t timer;

	assert_int_equal(uv_timer_init(loop, &timer), 0);
	timer.data = &expired;
	assert_int_equal(uv_timer_start(&timer, loop_on_timeout, LOOP_PATIENCE_MS, 0), 0);
	while (!*flag && !expired)
		(void)uv_run(loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(loop, UV_RUN_NOWAIT);
	assert_false(expired);
}

/* Handles what is ready now, a few rounds deep. */
__attribute__((unused)) static void loop_settle(uv_loop_t *loop)
{
	for (int i = 0; i < 20; i++)
		(void)uv_run(loop, UV_RUN_NOWAIT);
}

/* Everything was closed: nothing may keep the loop alive. */
__attribute__((unused)) static void loop_finish(uv_loop_t *loop)
{
	(void)uv_run(loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(loop), 0);
}

#endif
