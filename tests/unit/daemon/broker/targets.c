#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "daemon/broker/targets.h"
#include "tests/unit/support/broker_peer.h"
#include "tests/unit/support/fuse_fixture.h"

TEST(the_helpers_descriptor_is_handed_on, peer_set_up, peer_tear_down)
{
	char bytes[8];

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	assert_int_equal(peer.reply.fds, 1);
	assert_int_equal(read(peer.fds[0], bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "agent", 5);
	assert_string_equal(peer.reply.message, "shop.jar");
}

TEST(the_helpers_refusal_is_handed_on, peer_set_up, peer_tear_down)
{
	peer_start("refuse");
	assert_int_equal(peer_attach(), EPERM);
	assert_string_equal(peer.reply.message, "not today");
	assert_int_equal(peer_attach(), EPERM); /* It is not taken for attached. */
}

TEST(a_helper_that_crashes_is_reported_as_such, peer_set_up, peer_tear_down)
{
	peer_start("crash");
	assert_int_equal(peer_attach(), EIO);
	assert_true(peer_says("killed by signal 9"));
}

/* As one in a file system of the target that never answers. */
TEST(a_helper_that_cannot_be_killed_stops_neither_broker_nor_later_attaches, peer_set_up,
     peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);

	peer_start("stuck");
	assert_int_equal(peer_attach(), ETIMEDOUT);
	assert_true(peer_says("cannot be killed"));
	assert_int_equal(peer_attach(), EBUSY);
	assert_true(peer_says("still hangs"));
	r.pid = getpid(); /* Another one is attempted. */
	peer_submit(&r);
	assert_int_equal(peer_receive(), ETIMEDOUT);
}

TEST(a_helper_without_a_result_is_reported_as_such, peer_set_up, peer_tear_down)
{
	peer_start("silent");
	assert_int_equal(peer_attach(), EIO);
	assert_true(peer_says("without a result (exit status 7)"));
}

TEST(a_helper_that_talks_nonsense_is_reported_as_such, peer_set_up, peer_tear_down)
{
	peer_start("garbage");
	assert_int_equal(peer_attach(), EPROTO);
	peer_end();
	peer_start("no-fd");
	assert_int_equal(peer_attach(), EPROTO);
}

TEST(a_bundle_without_helper_is_reported_as_such, peer_set_up, peer_tear_down)
{
	char name[PATH_MAX];

	peer_start("ok");
	(void)snprintf(name, sizeof(name), "%s/jxperf-attach", broker_fixture_bundle("ok"));
	assert_int_equal(unlink(name), 0);
	assert_int_equal(peer_attach(), ENOENT);
	assert_true(peer_says("reinstall"));
	broker_fixture_remove(); /* Made anew by the next test. */
}

/* There is no helper that could be run, so whoever tries to says something else. */
TEST(a_kernel_that_would_kill_the_target_is_refused_before_the_helper, peer_set_up, peer_tear_down)
{
	struct broker_request events = peer_clock_request();
	char name[PATH_MAX];

	peer_start("old-kernel");
	(void)snprintf(name, sizeof(name), "%s/jxperf-attach", broker_fixture_bundle("old-kernel"));
	assert_int_equal(unlink(name), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(peer_attach(), EOPNOTSUPP);
		assert_string_equal(peer.reply.message,
				    "this kernel kills a process whose watchpoint fires in a "
				    "signal handler: use Linux 5.19 or later");
	}
	assert_int_equal(peer_ask(&events), EPERM); /* Nobody is attached to. */
	broker_fixture_remove();                    /* Made anew by the next test. */
}

TEST(a_process_is_attached_to_once, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);
	struct broker_request release = peer_request(BROKER_RELEASE);

	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	assert_int_equal(peer_attach(), EBUSY);
	peer_submit(&release);
	assert_int_equal(peer_attach(), 0);
	peer_end();
	peer_start("wait");
	peer_submit(&r);
	assert_int_equal(peer_attach(), EBUSY);
}

TEST(a_waiting_helper_holds_up_nobody_else, peer_set_up, peer_tear_down)
{
	pid_t other = broker_fixture_start_target();
	struct broker_request r = peer_request(BROKER_ATTACH);
	struct broker_request release = peer_request(BROKER_RELEASE);
	struct broker_request events = peer_clock_request();

	peer_start("wait");
	peer_submit(&r);
	assert_int_equal(peer_ask(&events), EPERM);
	r.pid = other;
	r.id = 78;
	peer_submit(&r);
	release.pid = other;
	peer_submit(&release);
	assert_int_equal(peer_receive(), ECANCELED);
	assert_int_equal(peer.reply.id, 78);
	broker_fixture_end_target(other);
}

TEST(a_released_attach_is_cancelled, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);
	struct broker_request release = peer_request(BROKER_RELEASE);

	peer_start("wait");
	peer_submit(&r);
	peer_submit(&release);
	assert_int_equal(peer_receive(), ECANCELED);
	assert_int_equal(peer.reply.id, r.id);
}

TEST(release_of_a_stranger_is_ignored, peer_set_up, peer_tear_down)
{
	struct broker_request release = peer_request(BROKER_RELEASE);

	peer_start("ok");
	peer_submit(&release);
	assert_int_equal(peer_attach(), 0);
}

static void submit(uint32_t operation, uint32_t id)
{
	struct broker_request r =
	    operation == BROKER_PERF_OPEN ? peer_clock_request() : peer_request(operation);

	r.id = id;
	peer_submit(&r);
}

static int stop_fuse(void **state)
{
	fuse_fixture_stop();
	return peer_tear_down(state);
}

TEST(a_helper_that_cannot_be_killed_holds_up_nobody_meanwhile, peer_set_up, stop_fuse)
{
	char page[PATH_MAX];

	if (geteuid() != 0 || !fuse_fixture_start()) {
		print_message("# SKIP needs root and /dev/fuse\n");
		skip();
	}
	(void)snprintf(page, sizeof(page), "%s/page", broker_fixture_bundle("fuse"));
	assert_int_equal(symlink(fuse_fixture_file(), page), 0);
	peer_start("fuse");
	submit(BROKER_ATTACH, 1);
	assert_true(fuse_fixture_wait_for_write()); /* It has refused, and cannot end. */
	submit(BROKER_PERF_OPEN, 2);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 2);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 1);
	assert_int_equal(peer.reply.error, ETIMEDOUT);
	assert_true(peer_says("cannot be killed"));
	submit(BROKER_ATTACH, 3);
	(void)peer_receive();
	assert_int_equal(peer.reply.error, EBUSY);
	assert_int_equal(unlink(page), 0);
}

TEST(a_process_of_another_user_is_answered_as_if_it_were_not_there, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);
	struct err absent;

	peer_start("ok");
	(void)proc_absent(r.pid, &absent); /* Only its text is wanted. */
	for (int i = 0; i < 2; i++) {      /* The second time it is being profiled. */
		r.owner = geteuid() + 1;
		assert_int_equal(peer_ask(&r), ESRCH);
		assert_string_equal(peer.reply.message, absent.message);
		r.owner = geteuid();
		assert_int_equal(peer_ask(&r), i == 0 ? 0 : EBUSY);
	}
}

TEST(another_process_that_has_the_pid_is_not_attached_to, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_ATTACH);
	uint64_t start_ticks;

	peer_start("ok");
	assert_int_equal(proc_start_time(r.pid, &start_ticks), 0);
	r.start_ticks = start_ticks - 1;
	assert_int_equal(peer_ask(&r), ESRCH);
	assert_true(peer_says("another one has its pid"));
	r.start_ticks = start_ticks;
	assert_int_equal(peer_ask(&r), 0);
}

TEST(the_reply_says_whose_the_process_is, peer_set_up, peer_tear_down)
{
	peer_start("ok");
	assert_int_equal(peer_attach(), 0);
	assert_int_equal(peer.reply.owner, geteuid());
}

static void on_worker_answered(void *arg, const struct worker_question *question,
			       const struct worker_answer *answer, int *fds)
{
	(void)arg;
	(void)question;
	(void)answer;
	(void)fds;
}

struct attached {
	unsigned count;
	int fd;
	char message[ERR_MESSAGE_MAX];
};

static void on_attached(void *arg, uint32_t request_id, int fd, const struct proc_identity *who,
			double cpu_limit, const struct err *words)
{
	struct attached *a = arg;

	(void)request_id;
	(void)who;
	(void)cpu_limit;
	a->count++;
	a->fd = fd;
	strcpy(a->message, words->message);
}

/* It became another user's program after the broker had looked and before its worker did. */
TEST(a_process_that_turns_out_to_be_another_users_is_not_attached_to, peer_set_up, peer_tear_down)
{
	static struct broker_targets t;
	struct broker_request r = peer_request(BROKER_ATTACH);
	const struct worker_question question = {.request = r};
	const struct worker_answer answer = {
	    .identity = {.effective_uid = geteuid() + 1, .one_uid = true}};
	struct broker_workers workers = {0};
	const struct agent_files agent = broker_fixture_agent("ok");
	struct attached attached = {0};
	struct err err;

	broker_targets_init(&t);
	t.agent = &agent;
	t.workers = &workers;
	t.sigtrap_trial = sigtrap_trial;
	t.attached = on_attached;
	t.arg = &attached;
	workers.answered = on_worker_answered;
	workers.program = broker_fixture_children();
	r.owner = geteuid();
	assert_int_equal(broker_targets_attach(&t, &r, &err), 0);
	broker_targets_answered(&t, &question, &answer);
	assert_int_equal(attached.count, 1);
	assert_int_equal(attached.fd, -ESRCH);
	(void)proc_absent(r.pid, &err); /* Only its text is wanted. */
	assert_string_equal(attached.message, err.message);
	broker_workers_end(&workers);
	(void)close(workers.program);
	broker_targets_free(&t);
}

/* Of a user whose attempts cannot be ended no more are begun, whoever asks; others' are. */
TEST(of_a_users_attempts_that_hang_few_are_left_behind, peer_set_up, peer_tear_down)
{
	pid_t others[BROKER_STUCK_OF_USER];
	struct broker_request r = peer_request(BROKER_ATTACH);

	peer_start("stuck");
	for (unsigned i = 0; i < BROKER_STUCK_OF_USER; i++) {
		r.pid = others[i] = broker_fixture_start_target();
		peer_submit(&r);
		assert_int_equal(peer_receive(), ETIMEDOUT);
	}
	r.pid = getpid();
	assert_int_equal(peer_ask(&r), EDQUOT);
	assert_true(peer_says("4 attempts to attach that hang"));
	for (unsigned i = 0; i < BROKER_STUCK_OF_USER; i++)
		broker_fixture_end_target(others[i]);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
