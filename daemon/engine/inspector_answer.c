#include "daemon/engine/inspector_answer.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/intake/stream.h"
#include "proto/failure.h"
#include "proto/limits.h"

struct inspector_answer {
	uv_loop_t *loop;
	struct broker_client *broker;
	int request; /* to the broker; 0 once answered */
	struct stream *stream;
	inspector_answer_done_fn done; /* NULL once called */
	void *arg;
};

static void finish(struct inspector_answer *i, Jxp__ControlReply *answer)
{
	inspector_answer_done_fn done = i->done;

	i->done = NULL;
	if (done)
		done(i->arg, answer);
}

static void fail(struct inspector_answer *i, const char *message)
{
	struct failure_reply f;

	failure_reply_init(&f, message, false);
	finish(i, &f.reply);
}

/* An inspector reads what JVMs wrote, so its answer is not taken for granted either. */
static bool is_answer(const Jxp__ControlReply *reply)
{
	return reply && (reply->body_case == JXP__CONTROL_REPLY__BODY_CHECK ||
			 reply->body_case == JXP__CONTROL_REPLY__BODY_JVMS ||
			 reply->body_case == JXP__CONTROL_REPLY__BODY_FAILURE);
}

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	Jxp__ControlReply *reply = jxp__control_reply__unpack(NULL, size, payload);

	if (is_answer(reply))
		finish(arg, reply);
	else
		fail(arg, "looking at processes gave no valid answer");
	if (reply)
		jxp__control_reply__free_unpacked(reply, NULL);
}

static void on_end(void *arg, const char *reason)
{
	(void)reason; /* Whether it was killed in the middle of a frame makes no difference. */
	fail(arg,
	     "looking at processes took too long or failed: a file system that one of them uses "
	     "may not answer");
}

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	static const struct stream_limits limits = {.in_frame = FRAME_MAX_REPLY, .out_frame = 1};
	struct inspector_answer *i = arg;
	const struct stream_callbacks callbacks = {.arg = i, .frame = on_frame, .end = on_end};
	struct err err;

	i->request = 0;
	if (reply->error || reply->fds != 1) {
		fail(i, reply->error ? reply->message : "the broker gave no connection");
		return;
	}
	if (stream_new(&i->stream, i->loop, fds[0], &limits, &callbacks, &err) < 0)
		fail(i, err.message);
	else
		fds[0] = -1; /* The stream's now. */
}

int inspector_answer_new(struct inspector_answer **out, uv_loop_t *loop,
			 struct broker_client *broker, const struct broker_request *question,
			 inspector_answer_done_fn done, void *arg, struct err *err)
{
	struct inspector_answer *i = calloc(1, sizeof(*i));
	struct broker_request request = *question;
	int r;

	if (!i)
		return err_set(err, ENOMEM, "out of memory");
	*i = (struct inspector_answer){.loop = loop, .broker = broker, .done = done, .arg = arg};
	request.operation = BROKER_INSPECT;
	r = broker_client_ask(broker, &request, on_reply, i);
	if (r < 0) {
		free(i);
		return err_set_errno(err, -r, "cannot ask the privileged half of jxperfd");
	}
	i->request = r;
	*out = i;
	return 0;
}

void inspector_answer_free(struct inspector_answer *i)
{
	if (!i)
		return;
	if (i->request)
		broker_client_forget(i->broker, i->request);
	stream_free(i->stream);
	free(i);
}
