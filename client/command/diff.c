/* jxperfctl diff: what differs between two windows, or the windows of two periods. */
#include <errno.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/values.h"
#include "client/daemon/exchange.h"
#include "client/output/output.h"
#include "common/arguments.h"
#include "common/clock.h"

struct diff_options {
	const char *app;
	Jxp__Format format;
	uint32_t rows;
	const char *output;
};

#define FIELD(member) .field = offsetof(struct diff_options, member)

static const struct argument_option diff_arguments[] = {
    {.name = "app", .type = ARGUMENT_TEXT, FIELD(app), .noun = "an application"},
    {.name = "format", .type = ARGUMENT_PARSED, .parse = value_format, FIELD(format)},
    {.name = "rows", .type = ARGUMENT_PARSED, .parse = value_count, FIELD(rows)},
    {.name = "output", .letter = 'o', .type = ARGUMENT_TEXT, FIELD(output), .noun = "a file"},
    {0},
};

/* A side's text as what the daemon is asked for, borrowed. */
static int read_side(Jxp__Selection *s, const char *text, const char *app, struct err *err)
{
	jxp__selection__init(s);
	if (!parse_is_period(text)) {
		s->window = (char *)text;
		return 0;
	}
	if (!app)
		return err_set(err, EINVAL,
			       "'%s' is a period: say with --app NAME whose windows are meant",
			       text);
	s->app = (char *)app;
	return parse_period(text, clock_ns(CLOCK_REALTIME), &s->since_unix_ns, &s->until_unix_ns,
			    err);
}

static int diff(struct client *c, const struct diff_options *o, const char *const sides[2],
		struct err *err)
{
	Jxp__DiffRequest diff = JXP__DIFF_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	Jxp__Selection a, b;
	int r;

	if ((r = read_side(&a, sides[0], o->app, err)) < 0 ||
	    (r = read_side(&b, sides[1], o->app, err)) < 0)
		return r;
	if (o->app && !a.app[0] && !b.app[0])
		return err_set(err, EINVAL,
			       "--app is for periods, and '%s' and '%s' are windows: leave it out",
			       sides[0], sides[1]);
	diff.a = &a;
	diff.b = &b;
	diff.format = o->format;
	diff.rows = o->rows;
	request.body_case = JXP__CONTROL_REQUEST__BODY_DIFF;
	request.diff = &diff;
	if ((r = output_open(&output, o->output, err)) < 0 ||
	    (r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_DOCUMENT, &reply, err)) < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	return output_commit(&output, reply->document->text.data, reply->document->text.len, err);
}

int cmd_diff(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl",
						  .options = diff_arguments,
						  .operands = "two windows or periods",
						  .operand_count = 2};
	struct diff_options o = {.format =
				     c->json ? JXP__FORMAT__FORMAT_JSON : JXP__FORMAT__FORMAT_TEXT};
	const char *sides[2];
	struct err err;
	int r = arguments_parse(&spec, argc, argv, &o, sides, NULL, &err);

	if (r == 0)
		r = diff(c, &o, sides, &err);
	return r < 0 ? command_fail(r, &err) : EXIT_SUCCESS;
}
