#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/perf/events.h"
#include "daemon/broker/proto.h"
#include "daemon/inspector/inspector.h"
#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/broker_fixture.h"

/* A broker in a process of its own, and something to attach to. */
struct fixture {
	pid_t broker;
	pid_t target;
	int socket;
	struct broker_reply reply; /* the last one */
	int fds[FD_PASS_MAX];
};

static struct fixture f;

static void start_broker(const char *behaviour)
{
	const char *bundle = broker_fixture_bundle(behaviour);
	struct timeval limit = {.tv_sec = 30};
	size_t no_fds = 0;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	f.broker = fork();
	assert_true(f.broker >= 0);
	if (f.broker == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(pair[1], 3);
		(void)execl("/proc/self/exe", "jxperfd", "--broker-fd", "3", "--bundle", bundle,
			    NULL);
		_exit(1);
	}
	(void)close(pair[1]);
	f.socket = pair[0];
	/* A reply that never comes fails the test instead of stopping it. */
	assert_int_equal(setsockopt(f.socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
	assert_int_equal(fd_recv(f.socket, &f.reply, sizeof(f.reply), NULL, &no_fds),
			 sizeof(f.reply));
	assert_int_equal(f.reply.operation, BROKER_HELLO);
	assert_int_equal(f.reply.error, 0);
}

/* Ends it as the engine does, and expects it to follow. */
static void end_broker(void)
{
	int status;

	if (f.socket < 0)
		return;
	(void)close(f.socket);
	f.socket = -1;
	assert_int_equal(waitpid(f.broker, &status, 0), f.broker);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	for (size_t i = 0; i < FD_PASS_MAX; i++)
		f.fds[i] = -1;
	f.socket = -1;
	f.target = broker_fixture_start_target();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fd_close_all(f.fds, FD_PASS_MAX);
	end_broker();
	broker_fixture_end_target(f.target);
	return 0;
}

static struct broker_request request(uint32_t operation)
{
	return (struct broker_request){.operation = operation, .id = 77, .pid = f.target};
}

static struct broker_request clock_request(void)
{
	struct broker_request r = request(BROKER_PERF_OPEN);

	r.namespace_tid = f.target;
	r.clock_period_ns = 1000000;
	return r;
}

static struct broker_request breakpoint_request(uint32_t count)
{
	struct broker_request r = request(BROKER_PERF_OPEN);

	r.namespace_tid = f.target;
	r.breakpoints = count;
	return r;
}

static void submit(const struct broker_request *r)
{
	assert_int_equal(fd_send(f.socket, r, sizeof(*r), NULL, 0), sizeof(*r));
}

/* Receives the next reply into f.reply and f.fds; returns its error. */
static int receive(void)
{
	size_t count = FD_PASS_MAX;

	fd_close_all(f.fds, FD_PASS_MAX);
	assert_int_equal(fd_recv(f.socket, &f.reply, sizeof(f.reply), f.fds, &count),
			 sizeof(f.reply));
	assert_int_equal(f.reply.fds, count);
	if (f.reply.error) {
		assert_int_equal(count, 0);
		assert_true(strlen(f.reply.message) > 0);
	}
	return f.reply.error;
}

static int ask(const struct broker_request *r)
{
	int error;

	submit(r);
	error = receive();
	assert_int_equal(f.reply.operation, r->operation);
	assert_int_equal(f.reply.id, r->id);
	return error;
}

static int attach(void)
{
	struct broker_request r = request(BROKER_ATTACH);

	return ask(&r);
}

static bool says(const char *text)
{
	return strstr(f.reply.message, text) != NULL;
}

/* ---------------------------------------------------------------- what is refused */

static void messages_of_another_size_are_refused(void **state)
{
	static const size_t sizes[] = {1, sizeof(struct broker_request) - 1,
				       sizeof(struct broker_request) + 1, 4096};
	char bytes[4096] = {BROKER_ATTACH};

	(void)state;
	start_broker("ok");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(send(f.socket, bytes, sizes[i], 0), sizes[i]);
		assert_int_equal(receive(), EMSGSIZE);
	}
	assert_int_equal(attach(), 0);
}

static void requests_with_descriptors_are_refused(void **state)
{
	struct broker_request r = request(BROKER_ATTACH);
	int fd = STDERR_FILENO;

	(void)state;
	start_broker("ok");
	assert_int_equal(fd_send(f.socket, &r, sizeof(r), &fd, 1), sizeof(r));
	assert_int_equal(receive(), EMSGSIZE);
}

static void unknown_operations_are_refused(void **state)
{
	static const uint32_t operations[] = {0, 1000, 0xffffffff};

	(void)state;
	start_broker("ok");
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct broker_request r = request(operations[i]);

		assert_int_equal(ask(&r), EINVAL);
	}
}

static void fields_that_an_operation_does_not_use_must_be_zero(void **state)
{
	struct broker_request bad[9];

	(void)state;
	start_broker("ok");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		bad[i] = request(BROKER_ATTACH);
	bad[0].namespace_tid = 1;
	bad[1].breakpoints = 1;
	bad[2].clock_period_ns = 1;
	bad[3].sig_data = 1;
	bad[4].hardware_event = 1;
	bad[5].event_period = 1;
	bad[6].gate.window_end_ns = 1;
	bad[7].gate.interval_ns = 1;
	bad[8].gate.burst_ns = 1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ask(&bad[i]), EINVAL);
}

static void absurd_pids_are_refused(void **state)
{
	static const int32_t pids[] = {0, -1, INT_MIN};
	struct broker_request r = request(BROKER_ATTACH);

	(void)state;
	start_broker("ok");
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		r.pid = pids[i];
		assert_int_equal(ask(&r), EINVAL);
	}
	r.pid = INT_MAX;
	assert_int_equal(ask(&r), ESRCH);
}

static void events_of_a_process_that_was_never_attached_to_are_refused(void **state)
{
	struct broker_request r = clock_request();

	(void)state;
	start_broker("ok");
	assert_int_equal(ask(&r), EPERM);
}

static void events_out_of_range_are_refused(void **state)
{
	struct broker_request bad[11];

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	for (size_t i = 0; i < 3; i++)
		bad[i] = clock_request();
	bad[0].clock_period_ns = 1;
	bad[1].clock_period_ns = UINT64_MAX;
	bad[2].breakpoints = 1;
	for (size_t i = 3; i < 11; i++)
		bad[i] = breakpoint_request(1);
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
		assert_int_equal(ask(&bad[i]), EINVAL);
}

static void threads_of_other_processes_are_refused(void **state)
{
	struct broker_request r = clock_request();

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	r.namespace_tid = getpid();
	assert_int_equal(ask(&r), ESRCH);
}

/* ---------------------------------------------------------------- attach */

static void pages_of_an_attached_process_are_found(void **state)
{
	struct broker_request r = request(BROKER_PAGES);

	(void)state;
	r.page_count = 2;
	r.pages[0] = (uint64_t)(uintptr_t)&f + 1; /* The target is a copy of us. */
	r.pages[1] = 0;
	start_broker("ok");
	assert_int_equal(ask(&r), EPERM);
	assert_int_equal(attach(), 0);
	assert_int_equal(ask(&r), 0);
	assert_int_equal(f.reply.fds, 0);
	assert_true(f.reply.nodes[0] >= 0);
	assert_int_equal(f.reply.nodes[1], -1);
	r.page_count = BROKER_PAGES_MAX + 1;
	assert_int_equal(ask(&r), EINVAL);
	r.page_count = 0;
	assert_int_equal(ask(&r), EINVAL);
}

static void a_question_is_answered_on_a_socket_of_its_own(void **state)
{
	struct broker_request r = {.operation = BROKER_INSPECT, .id = 5, .pid = INSPECT_MACHINE};
	Jxp__ControlReply *answer;
	uint8_t bytes[1u << 16];
	size_t size = 0;
	ssize_t n;

	(void)state;
	start_broker("ok");
	assert_int_equal(ask(&r), 0);
	assert_int_equal(f.reply.fds, 1);
	while ((n = read(f.fds[0], bytes + size, sizeof(bytes) - size)) > 0)
		size += (size_t)n;
	assert_true(size > FRAME_HEADER_BYTES);
	answer =
	    jxp__control_reply__unpack(NULL, size - FRAME_HEADER_BYTES, bytes + FRAME_HEADER_BYTES);
	assert_non_null(answer);
	assert_int_equal(answer->body_case, JXP__CONTROL_REPLY__BODY_CHECK);
	assert_string_equal(answer->check->items[0]->name, "kernel");
	jxp__control_reply__free_unpacked(answer, NULL);
}

static void a_process_is_watched_until_it_is_released(void **state)
{
	struct broker_request r = request(BROKER_WATCH);
	uint8_t bytes[1024];
	ssize_t n;

	(void)state;
	start_broker("ok");
	assert_int_equal(ask(&r), 0);
	assert_int_equal(f.reply.fds, 1);
	for (int records = 0; records < 2; records++) {
		Jxp__WatchRecord *record;
		size_t size;

		assert_int_equal(recv(f.fds[0], bytes, FRAME_HEADER_BYTES, MSG_WAITALL),
				 FRAME_HEADER_BYTES);
		size = bytes[0] | (size_t)bytes[1] << 8;
		assert_int_equal(recv(f.fds[0], bytes, size, MSG_WAITALL), size);
		record = jxp__watch_record__unpack(NULL, size, bytes);
		assert_non_null(record);
		assert_true(record->page_faults > 0 && record->uptime_ns > 0);
		assert_non_null(strstr(record->no_data, "no performance data"));
		jxp__watch_record__free_unpacked(record, NULL);
	}
	r.operation = BROKER_RELEASE;
	assert_int_equal(send(f.socket, &r, sizeof(r), 0), sizeof(r));
	while ((n = read(f.fds[0], bytes, sizeof(bytes))) > 0)
		;
	assert_int_equal(n, 0);
}

static void a_watcher_of_a_process_that_does_not_exist_ends(void **state)
{
	struct broker_request r = request(BROKER_WATCH);
	char byte;

	(void)state;
	start_broker("ok");
	r.pid = 0x3fffff;
	assert_int_equal(ask(&r), 0);
	assert_int_equal(read(f.fds[0], &byte, 1), 0);
	r.pid = 0;
	assert_int_equal(ask(&r), EINVAL);
}

static void a_question_about_no_process_is_refused(void **state)
{
	struct broker_request r = {.operation = BROKER_INSPECT, .id = 5, .pid = INSPECT_LIST - 1};

	(void)state;
	start_broker("ok");
	assert_int_equal(ask(&r), EINVAL);
}

static void the_helpers_descriptor_is_handed_on(void **state)
{
	char bytes[8];

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	assert_int_equal(f.reply.fds, 1);
	assert_int_equal(read(f.fds[0], bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "agent", 5);
	assert_string_equal(f.reply.message, "shop.jar");
}

static void the_helpers_refusal_is_handed_on(void **state)
{
	(void)state;
	start_broker("refuse");
	assert_int_equal(attach(), EPERM);
	assert_string_equal(f.reply.message, "not today");
	assert_int_equal(attach(), EPERM); /* It is not taken for attached. */
}

static void a_helper_that_crashes_is_reported_as_such(void **state)
{
	(void)state;
	start_broker("crash");
	assert_int_equal(attach(), EIO);
	assert_true(says("killed by signal 9"));
}

/* As one in a file system of the target that never answers. */
static void a_helper_that_cannot_be_killed_stops_neither_broker_nor_later_attaches(void **state)
{
	struct broker_request r = request(BROKER_ATTACH);

	(void)state;
	start_broker("stuck");
	assert_int_equal(attach(), ETIMEDOUT);
	assert_true(says("cannot be killed"));
	assert_int_equal(attach(), EBUSY);
	assert_true(says("still hangs"));
	r.pid = getpid(); /* Another one is attempted. */
	submit(&r);
	assert_int_equal(receive(), ETIMEDOUT);
}

static void a_helper_without_a_result_is_reported_as_such(void **state)
{
	(void)state;
	start_broker("silent");
	assert_int_equal(attach(), EIO);
	assert_true(says("without a result (exit status 7)"));
}

static void a_helper_that_talks_nonsense_is_reported_as_such(void **state)
{
	(void)state;
	start_broker("garbage");
	assert_int_equal(attach(), EPROTO);
	end_broker();
	start_broker("no-fd");
	assert_int_equal(attach(), EPROTO);
}

static void a_bundle_without_helper_is_reported_as_such(void **state)
{
	char name[PATH_MAX];

	(void)state;
	start_broker("ok");
	(void)snprintf(name, sizeof(name), "%s/jxperf-attach", broker_fixture_bundle("ok"));
	assert_int_equal(unlink(name), 0);
	assert_int_equal(attach(), ENOENT);
	assert_true(says("reinstall"));
	broker_fixture_remove(); /* Made anew by the next test. */
}

/* There is no helper that could be run, so whoever tries to says something else. */
static void a_kernel_that_would_kill_the_target_is_refused_before_the_helper(void **state)
{
	struct broker_request events = clock_request();
	char name[PATH_MAX];

	(void)state;
	start_broker("old-kernel");
	(void)snprintf(name, sizeof(name), "%s/jxperf-attach", broker_fixture_bundle("old-kernel"));
	assert_int_equal(unlink(name), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(attach(), EOPNOTSUPP);
		assert_string_equal(f.reply.message,
				    "this kernel kills a process whose watchpoint fires in a "
				    "signal handler: use Linux 5.19 or later");
	}
	assert_int_equal(ask(&events), EPERM); /* Nobody is attached to. */
	broker_fixture_remove();               /* Made anew by the next test. */
}

static void a_process_is_attached_to_once(void **state)
{
	struct broker_request r = request(BROKER_ATTACH);
	struct broker_request release = request(BROKER_RELEASE);

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	assert_int_equal(attach(), EBUSY);
	submit(&release);
	assert_int_equal(attach(), 0);
	end_broker();
	start_broker("wait");
	submit(&r);
	assert_int_equal(attach(), EBUSY);
}

static void a_waiting_helper_holds_up_nobody_else(void **state)
{
	pid_t other = broker_fixture_start_target();
	struct broker_request r = request(BROKER_ATTACH);
	struct broker_request events = clock_request();

	(void)state;
	start_broker("wait");
	submit(&r);
	assert_int_equal(ask(&events), EPERM);
	r.pid = other;
	r.id = 78;
	submit(&r);
	r.operation = BROKER_RELEASE;
	submit(&r);
	assert_int_equal(receive(), ECANCELED);
	assert_int_equal(f.reply.id, 78);
	broker_fixture_end_target(other);
}

static void a_released_attach_is_cancelled(void **state)
{
	struct broker_request r = request(BROKER_ATTACH);
	struct broker_request release = request(BROKER_RELEASE);

	(void)state;
	start_broker("wait");
	submit(&r);
	submit(&release);
	assert_int_equal(receive(), ECANCELED);
	assert_int_equal(f.reply.id, r.id);
}

static void release_of_a_stranger_is_ignored(void **state)
{
	struct broker_request release = request(BROKER_RELEASE);

	(void)state;
	start_broker("ok");
	submit(&release);
	assert_int_equal(attach(), 0);
}

/* end_broker waits for it, so a broker that waited for the helper would not return. */
static void the_end_of_the_engine_ends_broker_and_helpers(void **state)
{
	struct broker_request r = request(BROKER_ATTACH);

	(void)state;
	start_broker("wait");
	submit(&r);
	assert_int_equal(attach(), EBUSY); /* The helper runs. */
	end_broker();
}

/* Fills text with the pids of the broker's children. False where the kernel does not tell. */
static bool read_children(char *text, size_t size)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", f.broker, f.broker);
	file = fopen(path, "re");
	if (!file)
		return false;
	text[0] = '\0';
	(void)!fgets(text, (int)size, file);
	(void)fclose(file);
	return true;
}

static void helpers_and_workers_that_are_done_are_reaped(void **state)
{
	char children[64] = "";

	(void)state;
	start_broker("refuse");
	for (int i = 0; i < 3; i++)
		assert_int_equal(attach(), EPERM);
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

	(void)snprintf(path, sizeof(path), "/proc/%d/status", f.broker);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, field, strlen(field)) == 0)
			value = strtoull(line + strlen(field) + 1, NULL, 16);
	(void)fclose(file);
	return value;
}

static void the_broker_keeps_only_the_privileges_it_needs(void **state)
{
	static const int needed[] = {CAP_SETUID,          CAP_SETGID, CAP_SYS_PTRACE,
				     CAP_DAC_READ_SEARCH, CAP_KILL,   38 /* CAP_PERFMON */};
	uint64_t mask = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		mask |= UINT64_C(1) << needed[i];
	start_broker("ok");
	assert_int_equal(attach(), 0); /* It is past its beginning. */
	assert_int_equal(broker_status("NoNewPrivs:"), 1);
	assert_int_equal(broker_status("CapEff:") & ~mask, 0);
	assert_int_equal(broker_status("CapPrm:") & ~mask, 0);
	if (geteuid() == 0)
		assert_int_equal(broker_status("CapBnd:") & ~mask, 0);
}

/* ---------------------------------------------------------------- events */

/* Skips the test where the machine, not the broker, forbids events. */
static void require_events(int error)
{
	if (error == EACCES || error == ENOSYS)
		skip();
	assert_int_equal(error, 0);
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

static void the_clock_event_comes_alone(void **state)
{
	struct broker_request r = clock_request();

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	require_events(ask(&r));
	assert_int_equal(f.reply.fds, 1);
	assert_is_event(f.fds[0]);
}

static void breakpoints_come_together(void **state)
{
	struct broker_request r = breakpoint_request(3);

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	require_events(ask(&r));
	assert_int_equal(f.reply.fds, 3);
	for (int i = 0; i < 3; i++)
		assert_is_event(f.fds[i]);
}

static void too_many_breakpoints_leave_none_open(void **state)
{
	struct broker_request one = breakpoint_request(1), four = breakpoint_request(4);
	int kept;

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	require_events(ask(&one));
	kept = f.fds[0];
	f.fds[0] = -1;
	assert_int_equal(ask(&four), ENOSPC);
	assert_true(says("debug registers are in use"));
	(void)close(kept);
	assert_int_equal(ask(&four), 0); /* So the three that could be had were closed again. */
	assert_int_equal(f.reply.fds, 4);
}

static void after_release_there_are_no_more_events(void **state)
{
	struct broker_request r = clock_request();
	struct broker_request release = request(BROKER_RELEASE);

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	submit(&release);
	assert_int_equal(ask(&r), EPERM);
}

static void a_target_that_ended_has_no_more_events(void **state)
{
	struct broker_request r = clock_request();

	(void)state;
	start_broker("ok");
	assert_int_equal(attach(), 0);
	broker_fixture_end_target(f.target);
	assert_int_equal(ask(&r), ESRCH);
}

/* ---------------------------------------------------------------- gate */

static struct broker_request gate_request(void)
{
	struct broker_request r = request(BROKER_GATE);

	r.gate = (struct gate_limits){
	    .window_end_ns = UINT64_MAX, .interval_ns = 1000, .burst_ns = 1000000};
	return r;
}

/* Attaches and opens the gate, whose program is returned. */
static int open_gate(void)
{
	struct broker_request r = gate_request();
	int program;

	start_broker("ok");
	assert_int_equal(attach(), 0);
	if (ask(&r) != 0) {
		print_message("# %s\n", f.reply.message);
		skip();
	}
	assert_int_equal(f.reply.fds, 1);
	program = f.fds[0];
	f.fds[0] = -1;
	return program;
}

static void the_gates_program_is_passed_once(void **state)
{
	struct broker_request r = gate_request();
	int program = open_gate();

	(void)state;
	(void)close(program);
	assert_int_equal(ask(&r), 0);
	assert_int_equal(f.reply.fds, 0);
}

static void sampling_events_come_with_the_gate_and_breakpoints_without(void **state)
{
	struct broker_request clock = clock_request(), breakpoint = breakpoint_request(1);
	int program = open_gate();

	(void)state;
	require_events(ask(&clock));
	assert_int_equal(perf_set_gate(f.fds[0], program), -EEXIST);
	assert_int_equal(ask(&breakpoint), 0);
	assert_int_equal(perf_set_gate(f.fds[0], program), 0);
	(void)close(program);
}

static void without_a_gate_events_come_without_its_program(void **state)
{
	struct broker_request clock = clock_request(), remove = request(BROKER_GATE);
	int program = open_gate();

	(void)state;
	assert_int_equal(ask(&remove), 0);
	require_events(ask(&clock));
	assert_int_equal(perf_set_gate(f.fds[0], program), 0);
	(void)close(program);
}

static void a_gate_can_be_removed_once_also_of_a_target_that_ended(void **state)
{
	struct broker_request remove = request(BROKER_GATE);
	int program = open_gate();

	(void)state;
	(void)close(program);
	broker_fixture_end_target(f.target);
	assert_int_equal(ask(&remove), 0);
	assert_int_equal(ask(&remove), ENOENT);
}

static void a_gate_takes_only_limits_in_range(void **state)
{
	struct broker_request r = gate_request();
	int program = open_gate();

	(void)state;
	(void)close(program);
	r.gate.interval_ns = 0;
	assert_int_equal(ask(&r), EINVAL);
}

static void a_process_that_was_never_attached_to_gets_no_gate(void **state)
{
	struct broker_request r = gate_request(), remove = request(BROKER_GATE);

	(void)state;
	start_broker("ok");
	assert_int_equal(ask(&r), EPERM);
	assert_int_equal(ask(&remove), EPERM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    TEST(messages_of_another_size_are_refused),
	    TEST(requests_with_descriptors_are_refused),
	    TEST(unknown_operations_are_refused),
	    TEST(fields_that_an_operation_does_not_use_must_be_zero),
	    TEST(absurd_pids_are_refused),
	    TEST(events_of_a_process_that_was_never_attached_to_are_refused),
	    TEST(events_out_of_range_are_refused),
	    TEST(threads_of_other_processes_are_refused),
	    TEST(pages_of_an_attached_process_are_found),
	    TEST(a_question_is_answered_on_a_socket_of_its_own),
	    TEST(a_question_about_no_process_is_refused),
	    TEST(a_process_is_watched_until_it_is_released),
	    TEST(a_watcher_of_a_process_that_does_not_exist_ends),
	    TEST(the_helpers_descriptor_is_handed_on),
	    TEST(the_helpers_refusal_is_handed_on),
	    TEST(a_helper_that_crashes_is_reported_as_such),
	    TEST(a_helper_that_cannot_be_killed_stops_neither_broker_nor_later_attaches),
	    TEST(a_helper_without_a_result_is_reported_as_such),
	    TEST(a_helper_that_talks_nonsense_is_reported_as_such),
	    TEST(a_bundle_without_helper_is_reported_as_such),
	    TEST(a_kernel_that_would_kill_the_target_is_refused_before_the_helper),
	    TEST(a_process_is_attached_to_once),
	    TEST(a_waiting_helper_holds_up_nobody_else),
	    TEST(a_released_attach_is_cancelled),
	    TEST(release_of_a_stranger_is_ignored),
	    TEST(the_end_of_the_engine_ends_broker_and_helpers),
	    TEST(helpers_and_workers_that_are_done_are_reaped),
	    TEST(the_broker_keeps_only_the_privileges_it_needs),
	    TEST(the_clock_event_comes_alone),
	    TEST(breakpoints_come_together),
	    TEST(too_many_breakpoints_leave_none_open),
	    TEST(after_release_there_are_no_more_events),
	    TEST(a_target_that_ended_has_no_more_events),
	    TEST(the_gates_program_is_passed_once),
	    TEST(sampling_events_come_with_the_gate_and_breakpoints_without),
	    TEST(without_a_gate_events_come_without_its_program),
	    TEST(a_gate_can_be_removed_once_also_of_a_target_that_ended),
	    TEST(a_gate_takes_only_limits_in_range),
	    TEST(a_process_that_was_never_attached_to_gets_no_gate),
	};
	int r;

	broker_fixture_main(argc, argv);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	broker_fixture_remove();
	return r;
}
