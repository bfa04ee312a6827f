#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/perf/events.h"
#include "daemon/broker/outbox.h"
#include "daemon/inspector/inspector.h"
#include "tests/unit/support/broker_peer.h"

TEST(messages_of_another_size_are_refused, peer_set_up, peer_tear_down)
{
	static const size_t sizes[] = {1, sizeof(struct broker_request) - 1,
				       sizeof(struct broker_request) + 1, 4096};
	char bytes[4096] = {BROKER_ATTACH};

	peer_start("ok");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(send(peer.socket, bytes, sizes[i], 0), sizes[i]);
		assert_int_equal(peer_receive(), EMSGSIZE);
	}
	assert_int_equal(peer_attach(), 0);
}

TEST(requests_with_descriptors_are_refused, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);
	int fd = STDERR_FILENO;

	peer_start("ok");
	assert_int_equal(fd_send(peer.socket, &r, sizeof(r), &fd, 1), sizeof(r));
	assert_int_equal(peer_receive(), EMSGSIZE);
}

TEST(unknown_operations_are_refused, peer_set_up, peer_tear_down)
{
	static const uint32_t operations[] = {0, 1000, 0xffffffff};

	peer_start("ok");
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct broker_request r = peer_request(operations[i]);

		assert_int_equal(peer_ask(&r), EINVAL);
	}
}

TEST(fields_that_an_operation_does_not_use_must_be_zero, peer_set_up, peer_tear_down)
{
	struct broker_request bad[16];

	peer_start("ok");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = peer_request(BROKER_ATTACH);
	bad[0].namespace_tid = 1;
	bad[1].breakpoints = 1;
	bad[2].clock_period_ns = 1;
	bad[3].sig_data = 1;
	bad[4].hardware_event = 1;
	bad[5].event_period = 1;
	bad[6].gate.window_end_ns = 1;
	bad[7].gate.interval_ns = 1;
	bad[8].gate.burst_ns = 1;
	bad[9].timeout_ms = ATTACH_TIMEOUT_MS_MIN - 1;
	bad[10] = peer_request(BROKER_PAGES);
	bad[10].owner = 1;
	bad[10].page_count = 1;
	bad[11] = peer_request(BROKER_PAGES);
	bad[11].timeout_ms = ATTACH_TIMEOUT_MS_MIN;
	bad[11].page_count = 1;
	bad[12].timeout_ms = ATTACH_TIMEOUT_MS_MAX + 1;
	bad[13].jars = 1;
	bad[14] = peer_request(BROKER_INSPECT); /* A check. */
	bad[14].jars = 1;
	bad[15] = peer_request(BROKER_INSPECT);
	bad[15].pid = INSPECTOR_LIST;
	bad[15].jars = 2;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(peer_ask(&bad[i]), EINVAL);
}

TEST(absurd_pids_are_refused, peer_set_up, peer_tear_down)
{
	static const int32_t pids[] = {0, -1, INT_MIN};
	struct broker_request r = peer_request(BROKER_ATTACH);

	peer_start("ok");
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		r.pid = pids[i];
		assert_int_equal(peer_ask(&r), EINVAL);
	}
	r.pid = INT_MAX;
	assert_int_equal(peer_ask(&r), ESRCH);
}

/* end_broker waits for it, so a broker that waited for the helper would not return. */
TEST(the_end_of_the_engine_ends_broker_and_helpers, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);

	peer_start("wait");
	peer_submit(&r);
	assert_int_equal(peer_attach(), EBUSY); /* The helper runs. */
	peer_end();
}

/* Does it end by itself, in time? */
static bool broker_ends(int timeout_ms)
{
	struct pollfd p = {.fd = peer.socket};

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLHUP);
}

/* Requests with the ids 0, 1 and so on, until neither direction has room; returns how many. */
static uint32_t submit_until_full(void)
{
	static const struct timespec pause = {.tv_nsec = 100000000};
	struct broker_request r = peer_request(1000);
	uint32_t before, sent = 0;

	do {
		before = sent;
		for (r.id = sent; send(peer.socket, &r, sizeof(r), MSG_DONTWAIT) > 0; r.id = sent)
			sent++;
		(void)nanosleep(&pause, NULL); /* For the broker to answer. */
	} while (sent > before);
	return sent;
}

TEST(an_engine_that_takes_no_reply_is_cut_off, peer_set_up, peer_tear_down)
{
	peer_start("ok");
	assert_true(submit_until_full() > 0);
	assert_true(broker_ends(4 * BROKER_REPLIES_LATE_MS));
}

TEST(an_engine_that_is_slow_has_every_reply, peer_set_up, peer_tear_down)
{
	uint32_t sent;

	peer_start("ok");
	sent = submit_until_full();
	assert_true(sent > 0);
	for (uint32_t i = 0; i < sent; i++) {
		assert_int_equal(peer_receive(), EINVAL);
		assert_int_equal(peer.reply.id, i);
	}
	assert_int_equal(peer_attach(), 0);
}

/* Fills text with the pids of the broker's children. False where the kernel does not tell. */
static bool read_children(char *text, size_t size)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", peer.broker, peer.broker);
	file = fopen(path, "re");
	if (!file)
		return false;
	text[0] = '\0';
	(void)!fgets(text, (int)size, file);
	(void)fclose(file);
	return true;
}

TEST(helpers_and_workers_that_are_done_are_reaped, peer_set_up, peer_tear_down)
{
	char children[64] = "";

	peer_start("refuse");
	for (int i = 0; i < 3; i++)
		assert_int_equal(peer_attach(), EPERM);
	do { /* What stays is found by the test's time limit. */
		if (!read_children(children, sizeof(children)))
			skip(); /* A kernel without CONFIG_PROC_CHILDREN. */
	} while (children[0]);
}

/* A field of /proc/PID/status of the broker, read as hexadecimal. */
static uint64_t broker_status(const char *field)
{
	char path[64], line[256];
	uint64_t value = UINT64_MAX;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", peer.broker);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, field, strlen(field)) == 0)
			value = strtoull(line + strlen(field) + 1, NULL, 16);
	(void)fclose(file);
	return value;
}

TEST(the_broker_keeps_only_the_privileges_it_needs, peer_set_up, peer_tear_down)
{
	static const int needed[] = {CAP_SETUID,          CAP_SETGID, CAP_SYS_PTRACE,
				     CAP_DAC_READ_SEARCH, CAP_KILL,   38 /* CAP_PERFMON */};
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		mask |= UINT64_C(1) << needed[i];
	peer_start("ok");
	assert_int_equal(peer_attach(), 0); /* It is past its beginning. */
	assert_int_equal(broker_status("NoNewPrivs:"), 1);
	assert_int_equal(broker_status("CapEff:") & ~mask, 0);
	assert_int_equal(broker_status("CapPrm:") & ~mask, 0);
	if (geteuid() == 0)
		assert_int_equal(broker_status("CapBnd:") & ~mask, 0);
}

static struct broker_request gate_request(void)
{
	struct broker_request r = peer_request(BROKER_GATE);

	r.gate = (struct gate_limits){
	    .window_end_ns = UINT64_MAX, .interval_ns = 1000, .burst_ns = 1000000};
	return r;
}

/* Attaches and opens the gate, whose program is returned. */
static int open_gate(void)
{
	struct broker_request r = gate_request();
	int program;

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	if (peer_ask(&r) != 0) {
		print_message("# %s\n", peer.reply.message);
		skip();
	}
	assert_int_equal(peer.reply.fds, 1);
	program = peer.fds[0];
	peer.fds[0] = -1;
	return program;
}

TEST(the_gates_program_is_passed_once, peer_set_up, peer_tear_down)
{
	struct broker_request r = gate_request();
	int program = open_gate();

	(void)close(program);
	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(peer.reply.fds, 0);
}

TEST(sampling_events_come_with_the_gate_and_breakpoints_without, peer_set_up, peer_tear_down)
{
	struct broker_request clock = peer_clock_request(), breakpoint = peer_breakpoint_request(1);
	int program = open_gate();

	peer_require_events(peer_ask(&clock));
	assert_int_equal(perf_set_gate(peer.fds[0], program), -EEXIST);
	assert_int_equal(peer_ask(&breakpoint), 0);
	assert_int_equal(perf_set_gate(peer.fds[0], program), 0);
	(void)close(program);
}

TEST(without_a_gate_events_come_without_its_program, peer_set_up, peer_tear_down)
{
	struct broker_request clock = peer_clock_request(), remove = peer_request(BROKER_GATE);
	int program = open_gate();

	assert_int_equal(peer_ask(&remove), 0);
	peer_require_events(peer_ask(&clock));
	assert_int_equal(perf_set_gate(peer.fds[0], program), 0);
	(void)close(program);
}

TEST(a_gate_can_be_removed_once_also_of_a_target_that_ended, peer_set_up, peer_tear_down)
{
	struct broker_request remove = peer_request(BROKER_GATE);
	int program = open_gate();

	(void)close(program);
	broker_fixture_end_target(peer.target);
	assert_int_equal(peer_ask(&remove), 0);
	assert_int_equal(peer_ask(&remove), ENOENT);
}

TEST(a_gate_takes_only_limits_in_range, peer_set_up, peer_tear_down)
{
	struct broker_request r = gate_request();
	int program = open_gate();

	(void)close(program);
	r.gate.interval_ns = 0;
	assert_int_equal(peer_ask(&r), EINVAL);
}

TEST(a_process_that_was_never_attached_to_gets_no_gate, peer_set_up, peer_tear_down)
{
	struct broker_request r = gate_request(), remove = peer_request(BROKER_GATE);

	peer_start("ok");
	assert_int_equal(peer_ask(&r), EPERM);
	assert_int_equal(peer_ask(&remove), EPERM);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
