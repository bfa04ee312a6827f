/* jxperfctl report: prints the report of a window, or of those of an application as one. */
#include <errno.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/daemon/exchange.h"
#include "client/output/output.h"

struct report_options {
	Jxp__ReportRequest report;
	Jxp__Selection merged; /* in place of a window, where it has an application */
	const char *output;
};

#define FIELD(member) .field = offsetof(struct report_options, member)

static const struct argument_option arguments[] = {
    {.group = report_arguments, FIELD(report)},
    {.group = selection_arguments, FIELD(merged)},
    {.group = chosen_arguments, FIELD(merged)},
    {.group = output_arguments, FIELD(output)},
    {0},
};

static struct report_options asked = {JXP__REPORT_REQUEST__INIT, JXP__SELECTION__INIT, NULL};

static void set_defaults(void)
{
	asked.report.format = FORMAT_UNASKED;
}

/* Either a window, or those of an application. */
static int check_subject(const struct report_options *o, const char *window, struct err *err)
{
	if (!window && !o->merged.app[0])
		return err_set(err, EINVAL,
			       "'report' needs WINDOW, or --app NAME for all windows of an "
			       "application: see 'jxperfctl help report'");
	if (window && (o->merged.app[0] || o->merged.since_unix_ns || o->merged.until_unix_ns ||
		       o->merged.schedule[0] || o->merged.n_kinds > 0))
		return err_set(err, EINVAL,
			       "--app, --since, --until, --kinds and --schedule are in place of a "
			       "window: leave '%s' out",
			       window);
	if (o->merged.app[0] && o->report.baseline[0])
		return err_set(err, EINVAL,
			       "--baseline is for one window, not for those of an application");
	return 0;
}

static int report(struct client *c, struct command_call *call, struct err *err)
{
	struct report_options *o = &asked;
	char *window = (char *)call->operands[0];
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	r = check_subject(o, window, err);
	if (r < 0)
		return r;
	client_settle_format(c, &o->report.format);
	if (window)
		o->report.window = window;
	else
		o->report.merged = &o->merged;
	r = output_open_report(&output, o->output, o->report.format, err);
	if (r < 0)
		return r;
	o->report.columns = (uint32_t)output.columns;
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_REPORT, &o->report, &reply, err);
	if (r < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	return output_commit(&output, reply->document->text.data, reply->document->text.len, err);
}

const struct command cmd_report = {"report",
				   "WINDOW|--app NAME [option...]",
				   "the report of a window, or of an application's windows as one",
				   "[WINDOW]",
				   .completes = COMPLETES_WINDOWS,
				   .run = report,
				   .options = arguments,
				   .settings = &asked,
				   .prepare = set_defaults};
