/* Events that the daemon opens, where the JVM may not have their descriptors. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "attach/agent/window/opener.h"
#include "tests/unit/support/agent/link_ends.h"

#define EVENTS 4

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* The daemon's answer, before the question: the agent reads it when it has asked. Any descriptors
 * do: the agent does not look at them. */
static void answer(const struct ends *e, uint32_t count, int error)
{
	Jxp__PerfOpened opened = JXP__PERF_OPENED__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	int fds[EVENTS];

	for (uint32_t i = 0; i < count; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	opened.tid = (uint32_t)own_tid();
	opened.count = count;
	opened.error = error;
	frame.body_case = JXP__ENGINE_FRAME__BODY_PERF_OPENED;
	frame.perf_opened = &opened;
	send_to_agent(e, &frame, fds, count);
	fd_close_all(fds, count);
}

TEST(descriptors_that_do_not_arrive_are_a_shortage_and_the_session_goes_on)
{
	struct rlimit limit, none;
	int fds[EVENTS] = {-1, -1, -1, -1};
	struct opener o = {.through_daemon = true};
	struct ends e;

	connect_ends(&e);
	o.link = &e.link;
	answer(&e, EVENTS, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* poll(2) takes no more entries than the limit says, so it is one. */
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(opener_breakpoints(&o, own_tid(), EVENTS, 1, fds), -EMFILE);
	assert_int_equal(fds[0], -1);
	answer(&e, 0, 0); /* Of a thread's other event, which came without, too. */
	assert_int_equal(opener_clock(&o, own_tid(), 1000000, 1), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	answer(&e, EVENTS, 0); /* In step. */
	assert_int_equal(opener_breakpoints(&o, own_tid(), EVENTS, 1, fds), 0);
	assert_true(fds[0] >= 0 && fds[EVENTS - 1] >= 0);
	fd_close_all(fds, EVENTS);
	close_ends(&e);
}

TEST(another_number_of_descriptors_than_asked_for_ends_the_session)
{
	int fds[EVENTS] = {-1, -1, -1, -1};
	struct opener o = {.through_daemon = true};
	struct ends e;

	connect_ends(&e);
	o.link = &e.link;
	answer(&e, EVENTS - 1, 0);
	assert_int_equal(opener_breakpoints(&o, own_tid(), EVENTS, 1, fds), -EPROTO);
	close_ends(&e);
}

TEST(the_daemons_error_is_the_result)
{
	int fds[EVENTS] = {-1, -1, -1, -1};
	struct opener o = {.through_daemon = true};
	struct ends e;

	connect_ends(&e);
	o.link = &e.link;
	answer(&e, 0, ESRCH);
	assert_int_equal(opener_breakpoints(&o, own_tid(), EVENTS, 1, fds), -ESRCH);
	close_ends(&e);
}

TEST(an_order_that_comes_before_the_reply_is_noted)
{
	int fds[EVENTS] = {-1, -1, -1, -1};
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__StopObjects stop = JXP__STOP_OBJECTS__INIT;
	struct orders orders = {0};
	struct opener o = {.through_daemon = true, .orders = &orders};
	struct ends e;

	connect_ends(&e);
	o.link = &e.link;
	frame.body_case = JXP__ENGINE_FRAME__BODY_STOP_OBJECTS;
	frame.stop_objects = &stop;
	send_to_agent(&e, &frame, NULL, 0);
	answer(&e, EVENTS, 0);
	assert_int_equal(opener_breakpoints(&o, own_tid(), EVENTS, 1, fds), 0);
	assert_true(orders.stop_objects);
	assert_false(orders.stop);
	fd_close_all(fds, EVENTS);
	close_ends(&e);
}
