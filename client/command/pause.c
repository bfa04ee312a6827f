/* jxperfctl pause, resume: no window begins on this host until somebody says otherwise. */
#include <stdio.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"

static struct pause_settings {
	uint64_t for_ns; /* 0: until somebody resumes */
} settings;

static const struct argument_option options[] = {
    {.name = "for",
     .type = ARGUMENT_DURATION,
     .field = offsetof(struct pause_settings, for_ns),
     .value = "T",
     .help = "for so long",
     .unset = "until 'jxperfctl resume'"},
    {0},
};

static int ask(struct client *c, Jxp__ControlRequest__BodyCase asked, void *body, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, asked, body, &reply, err);

	if (r == 0)
		(void)puts(reply->done->message); /* Checked by main's fflush. */
	return r;
}

static int pause_windows(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__PauseRequest request = JXP__PAUSE_REQUEST__INIT;

	request.for_ns = settings.for_ns;
	if (call->operands[0])
		request.reason = (char *)call->operands[0];
	return ask(c, JXP__CONTROL_REQUEST__BODY_PAUSE, &request, err);
}

static int resume_windows(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__ResumeRequest request = JXP__RESUME_REQUEST__INIT;

	(void)call; /* There are no operands. */
	return ask(c, JXP__CONTROL_REQUEST__BODY_RESUME, &request, err);
}

const struct command cmd_pause = {"pause",
				  "[option...] [REASON]",
				  "have no window begin on this host",
				  "[REASON]",
				  .run = pause_windows,
				  .options = options,
				  .settings = &settings};

const struct command cmd_resume = {"resume", "", "end the pause", "", .run = resume_windows};
