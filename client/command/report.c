/* jxperfctl report: prints the report of a window that the daemon still has. */
#include <errno.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/daemon/exchange.h"
#include "client/output/output.h"

struct report_options {
	Jxp__Format format;
	uint32_t pairs;
	const char *output;
};

static int set_format(void *settings, const char *value, struct err *err)
{
	return parse_format(value, &((struct report_options *)settings)->format, err);
}

static int set_pairs(void *settings, const char *value, struct err *err)
{
	return parse_count(value, &((struct report_options *)settings)->pairs, err);
}

static int set_output(void *settings, const char *value, struct err *err)
{
	if (value[0] == '\0')
		return err_set(err, EINVAL, "'' is not a file");
	((struct report_options *)settings)->output = value;
	return 0;
}

static const struct argument_option report_arguments[] = {
    {"format", 0, true, set_format},
    {"pairs", 0, true, set_pairs},
    {"output", 'o', true, set_output},
    {0},
};

static int report(struct client *c, const struct report_options *o, const char *window,
		  struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	report.window = (char *)window;
	report.format = o->format;
	report.pairs = o->pairs;
	request.body_case = JXP__CONTROL_REQUEST__BODY_REPORT;
	request.report = &report;
	if ((r = output_open(&output, o->output, err)) < 0 ||
	    (r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_DOCUMENT, &reply, err)) < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	return output_commit(&output, reply->document->text.data, reply->document->text.len, err);
}

int cmd_report(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.options = report_arguments,
						  .operands = "WINDOW"};
	struct report_options o = {.format = c->json ? JXP__FORMAT__FORMAT_JSON
						     : JXP__FORMAT__FORMAT_TEXT};
	const char *window;
	struct err err;
	int r = arguments_parse(&spec, argc, argv, &o, &window, NULL, &err);

	if (r == 0)
		r = report(c, &o, window, &err);
	return r < 0 ? command_fail(r, &err) : EXIT_SUCCESS;
}
