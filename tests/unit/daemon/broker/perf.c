#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/support/broker_peer.h"

TEST(events_of_a_process_that_was_never_attached_to_are_refused, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_clock_request();

	peer_start("ok");
	assert_int_equal(peer_ask(&r), EPERM);
}

TEST(events_out_of_range_are_refused, peer_set_up, peer_tear_down)
{
	struct broker_request bad[11];

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	for (size_t i = 0; i < 3; i++)
		bad[i] = peer_clock_request();
	bad[0].clock_period_ns = 1;
	bad[1].clock_period_ns = UINT64_MAX;
	bad[2].breakpoints = 1;
	for (size_t i = 3; i < 11; i++)
		bad[i] = peer_breakpoint_request(1);
	bad[3].breakpoints = 0;
	bad[4].breakpoints = 5;
	bad[5].namespace_tid = 0;
	bad[6].namespace_tid = -1;
	bad[7].hardware_event = 1; /* and a breakpoint */
	bad[8].event_period = 1000000;
	for (size_t i = 9; i < 11; i++)
		bad[i].breakpoints = 0;
	bad[9].hardware_event = 3; /* no selection has so many */
	bad[9].event_period = 1000000;
	bad[10].hardware_event = 1;
	bad[10].event_period = 1; /* too often, where there is such an event at all */
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(peer_ask(&bad[i]), EINVAL);
}

TEST(threads_of_other_processes_are_refused, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_clock_request();

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	r.namespace_tid = getpid();
	assert_int_equal(peer_ask(&r), ESRCH);
}

static void assert_is_event(int fd)
{
	char link[64], name[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	assert_true(n > 0);
	name[n] = '\0';
	assert_string_equal(name, "anon_inode:[perf_event]");
}

TEST(the_clock_event_comes_alone, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_clock_request();

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	peer_require_events(peer_ask(&r));
	assert_int_equal(peer.reply.fds, 1);
	assert_is_event(peer.fds[0]);
}

TEST(breakpoints_come_together, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_breakpoint_request(3);

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	peer_require_events(peer_ask(&r));
	assert_int_equal(peer.reply.fds, 3);
	for (int i = 0; i < 3; i++)
		assert_is_event(peer.fds[i]);
}

TEST(too_many_breakpoints_leave_none_open, peer_set_up, peer_tear_down)
{
	struct broker_request one = peer_breakpoint_request(1), four = peer_breakpoint_request(4);
	int kept;

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	peer_require_events(peer_ask(&one));
	kept = peer.fds[0];
	peer.fds[0] = -1;
	assert_int_equal(peer_ask(&four), ENOSPC);
	assert_true(peer_says("debug registers are in use"));
	(void)close(kept);
	assert_int_equal(peer_ask(&four),
			 0); /* So the three that could be had were closed again. */
	assert_int_equal(peer.reply.fds, 4);
}

TEST(after_release_there_are_no_more_events, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_clock_request();
	struct broker_request release = peer_request(BROKER_RELEASE);

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	peer_submit(&release);
	assert_int_equal(peer_ask(&r), EPERM);
}

TEST(a_target_that_ended_has_no_more_events, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_clock_request();

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	broker_fixture_end_target(peer.target);
	assert_int_equal(peer_ask(&r), ESRCH);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
