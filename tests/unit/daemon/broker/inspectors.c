#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/proc.h"
#include "daemon/inspector/inspector.h"
#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/broker_peer.h"

/* What the inspector answers, to be freed. */
static Jxp__ControlReply *inspect(int pid, uid_t owner)
{
	struct broker_request r = {
	    .operation = BROKER_INSPECT, .id = 5, .pid = pid, .owner = owner};
	Jxp__ControlReply *answer;
	uint8_t bytes[1u << 16];
	size_t size = 0;
	ssize_t n;

	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(peer.reply.fds, 1);
	while ((n = read(peer.fds[0], bytes + size, sizeof(bytes) - size)) > 0)
		size += (size_t)n;
	assert_true(size > FRAME_HEADER_BYTES);
	answer =
	    jxp__control_reply__unpack(NULL, size - FRAME_HEADER_BYTES, bytes + FRAME_HEADER_BYTES);
	assert_non_null(answer);
	return answer;
}

TEST(a_question_is_answered_on_a_socket_of_its_own, peer_set_up, peer_tear_down)
{
	Jxp__ControlReply *answer;

	peer_start("ok");
	answer = inspect(INSPECTOR_MACHINE, geteuid() + 1); /* The machine is everybody's. */
	assert_int_equal(answer->body_case, JXP__CONTROL_REPLY__BODY_CHECK);
	assert_string_equal(answer->check->items[0]->name, "kernel");
	jxp__control_reply__free_unpacked(answer, NULL);
}

TEST(a_process_of_another_user_is_answered_as_if_it_were_not_there, peer_set_up, peer_tear_down)
{
	Jxp__ControlReply *answer;
	struct err err;

	peer_start("ok");
	answer = inspect(peer.target, geteuid() + 1);
	assert_int_equal(answer->body_case, JXP__CONTROL_REPLY__BODY_FAILURE);
	(void)proc_absent(peer.target, &err); /* Only its text is wanted. */
	assert_string_equal(answer->failure->message, err.message);
	jxp__control_reply__free_unpacked(answer, NULL);
	answer = inspect(peer.target, geteuid());
	assert_int_equal(answer->body_case, JXP__CONTROL_REPLY__BODY_CHECK);
	jxp__control_reply__free_unpacked(answer, NULL);
}

TEST(a_question_about_no_process_is_refused, peer_set_up, peer_tear_down)
{
	struct broker_request r = {.operation = BROKER_INSPECT, .id = 5, .pid = INSPECTOR_LIST - 1};

	peer_start("ok");
	assert_int_equal(peer_ask(&r), EINVAL);
}

/* Whatever this host says of the target, which has it from who runs the test. */
TEST(who_has_logged_in_is_read_of_a_process_of_that_user, peer_set_up, peer_tear_down)
{
	struct broker_request r = {
	    .operation = BROKER_LOGIN, .id = 5, .pid = peer.target, .owner = geteuid()};
	char text[16];

	peer_start("ok");
	if (proc_read("/proc/self/loginuid", text, sizeof(text)) <= 0) {
		assert_int_equal(peer_ask(&r), ENODATA);
		return;
	}
	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(peer.reply.login, strtoul(text, NULL, 10));
	assert_int_equal(peer.reply.fds, 0);
	r.owner = geteuid() + 1;
	assert_int_equal(peer_ask(&r), ESRCH);
	r.owner = geteuid();
	r.pid = 0;
	assert_int_equal(peer_ask(&r), EINVAL);
	r.pid = peer.target;
	r.pid_count = 1;
	assert_int_equal(peer_ask(&r), EINVAL);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
