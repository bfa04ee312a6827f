#include "daemon/inspector/inspector.h"

#include <stdlib.h>

#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/inspector/check.h"
#include "daemon/inspector/check_look.h"
#include "daemon/inspector/jvm_list.h"
#include "proto/failure.h"
#include "proto/frame.h"
#include "proto/limits.h"

static int send_reply(int fd, const Jxp__ControlReply *reply)
{
	_cleanup_(buffer_release) struct buffer out;
	int r;

	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_REPLY);
	r = frame_append(&out, &reply->base, FRAME_MAX_REPLY);
	return r < 0 ? r : fd_write_all(fd, buffer_head(&out), buffer_length(&out));
}

static int send_failure(int fd, const char *message)
{
	struct failure_reply f;

	failure_reply_init(&f, message, false);
	return send_reply(fd, &f.reply);
}

static int send_list(int fd, const struct inspector_question *q, const struct startup *startup,
		     struct err *err)
{
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	int r = jvm_list_new(&reply.jvms, q->owner, q->only, q->jars, startup, err);

	if (r < 0)
		return r;
	reply.body_case = JXP__CONTROL_REPLY__BODY_JVMS;
	r = send_reply(fd, &reply);
	jxp__jvm_list__free_unpacked(reply.jvms, NULL);
	return r < 0 ? err_set_errno(err, -r, "cannot answer") : 0;
}

/* Checks a process that stays the owner's: what was found out must not be of another program, which
 * it has become meanwhile. */
static int check_owned(Jxp__CheckResult **out, pid_t pid, uid_t owner,
		       const struct agent_files *agent, struct err *err)
{
	Jxp__CheckResult *result = NULL;
	int r = proc_check_owner(pid, owner, err);

	if (r == 0)
		r = check_look(&result, pid, owner, agent, err);
	if (r == 0)
		r = proc_check_owner(pid, owner, err);
	if (r == 0)
		*out = TAKE_PTR(result);
	if (result)
		jxp__check_result__free_unpacked(result, NULL);
	return r;
}

static int send_check(int fd, const struct inspector_question *q, const struct agent_files *agent,
		      const struct check_reasons *reasons, struct err *err)
{
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	int r = q->pid == INSPECTOR_MACHINE
		    ? check_machine(&reply.check, agent->bundle_dir, reasons, err)
		    : check_owned(&reply.check, q->pid, q->owner, agent, err);

	if (r < 0)
		return r;
	reply.body_case = JXP__CONTROL_REPLY__BODY_CHECK;
	r = send_reply(fd, &reply);
	jxp__check_result__free_unpacked(reply.check, NULL);
	return r < 0 ? err_set_errno(err, -r, "cannot answer") : 0;
}

int inspector_main(int fd, const struct inspector_question *question, const struct startup *startup,
		   const struct check_reasons *reasons)
{
	struct err err;
	int r = proc_check_numbers(&err);

	if (r == 0)
		r = question->pid == INSPECTOR_LIST
			? send_list(fd, question, startup, &err)
			: send_check(fd, question, &startup->agent, reasons, &err);
	if (r < 0)
		r = send_failure(fd, err.message);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
