#include "daemon/inspector/check_look.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/process/jvm.h"
#include "daemon/child/look.h"
#include "daemon/inspector/check_items.h"
#include "proto/failure.h"

/* For a look at the process, and for the whole check, which runs the attach helper's probe: that
 * has 6 s (daemon/child/helper.c). */
#define LOOK_DEADLINE_MS  2000
#define CHECK_DEADLINE_MS 7000

struct question {
	pid_t pid;
	uid_t owner;
	const struct agent_files *agent;
	Jxp__ControlReply *reply; /* check or failure */
};

/* The number of the error goes where a version would: the reply does not leave this file. */
static size_t pack_failure(int error, const char *message, uint8_t *answer)
{
	struct failure_reply f;

	failure_reply_init(&f, message, false);
	f.reply.protocol = (uint32_t)-error;
	return jxp__control_reply__pack(&f.reply, answer);
}

/* In a child: does it answer at all? */
static size_t knock(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES])
{
	static struct jvm_info info; /* Large; a child has one thread. */

	(void)answer;
	(void)jvm_inspect_steps(pid, ((struct question *)arg)->owner, step, &info,
				NULL); /* The check says what it found. */
	return 0;
}

/* In a child. */
static size_t look(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES])
{
	const struct question *q = arg;
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	struct err err;
	size_t size;
	int r = check_jvm(&reply.check, pid, q->owner, q->agent, step, &err);

	if (r < 0)
		return pack_failure(r, err.message, answer);
	reply.body_case = JXP__CONTROL_REPLY__BODY_CHECK;
	/* A line is shorter than half a KiB, so it fits. */
	_Static_assert(CHECK_ITEMS_MAX * (ERR_MESSAGE_MAX + 64) <= LOOK_ANSWER_BYTES, "lines");
	size = jxp__control_reply__pack(&reply, answer);
	jxp__check_result__free_unpacked(reply.check, NULL);
	return size;
}

static void answered(void *arg, pid_t pid, const uint8_t *answer, size_t size)
{
	(void)pid;
	if (size > 0)
		((struct question *)arg)->reply = jxp__control_reply__unpack(NULL, size, answer);
}

static void hangs(void *arg, pid_t pid, const char *step)
{
	struct question *q = arg;
	Jxp__ControlReply *reply = malloc(sizeof(*reply));
	struct jvm_info info = {.name = ""};
	struct check_items c;

	if (!reply)
		return;
	(void)jvm_outline(pid, &info); /* Empty says enough. */
	check_items_init(&c);
	check_items_add(&c, "process", CHECK_FAILED,
			"%s, user %s: it does not answer who reads %s: end it, or what it waits "
			"for: the file system that this lies on, or that it has mapped",
			info.name, info.user, step);
	jxp__control_reply__init(reply);
	reply->body_case = JXP__CONTROL_REPLY__BODY_CHECK;
	reply->check = check_items_take(&c);
	q->reply = reply;
}

int check_look(Jxp__CheckResult **out, pid_t pid, uid_t owner, const struct agent_files *agent,
	       struct err *err)
{
	struct question q = {.pid = pid, .owner = owner, .agent = agent};
	struct look_task task = {.look = knock,
				 .answered = answered,
				 .hangs = hangs,
				 .arg = &q,
				 .deadline_ms = LOOK_DEADLINE_MS};
	size_t passed_over = 0;
	int r = look_at_all(&task, &pid, 1, &passed_over, err);

	if (r == 0 && !passed_over && !q.reply) {
		task.look = look;
		task.deadline_ms = CHECK_DEADLINE_MS;
		r = look_at_all(&task, &pid, 1, &passed_over, err);
	}
	if (r < 0)
		return r;
	if (passed_over)
		return err_set(err, EAGAIN,
			       "too many other processes of the user of process %d hang: see "
			       "'jxperfctl list', and end those",
			       pid);
	if (!q.reply)
		return err_set(err, ENOMEM, "out of memory");
	if (q.reply->body_case == JXP__CONTROL_REPLY__BODY_CHECK && q.reply->check) {
		*out = q.reply->check;
		q.reply->check = NULL;
	} else if (q.reply->body_case == JXP__CONTROL_REPLY__BODY_FAILURE) {
		r = err_set(err, (int)q.reply->protocol, "%s", q.reply->failure->message);
	} else {
		r = err_set(err, ENOMEM, "out of memory");
	}
	jxp__control_reply__free_unpacked(q.reply, NULL);
	return r;
}
