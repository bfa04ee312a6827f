/* jxperfctl fleet-report: the report of a fleet's windows as one, from a ClickHouse server. */
#include <errno.h>
#include <stdlib.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/fleet/options.h"
#include "client/output/output.h"
#include "common/cleanup.h"
#include "report/report.h"

#define REPORT_BYTES_MAX ((size_t)256 << 20)

struct fleet_report_options {
	struct server_options server;
	struct fleet_question question;
	Jxp__ReportRequest report;
	const char *output;
};

#define FIELD(member) .field = offsetof(struct fleet_report_options, member)

static const struct argument_option arguments[] = {
    {.group = server_arguments, FIELD(server)},
    {.group = question_arguments, FIELD(question)},
    {.name = "paths",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(question.paths),
     .value = "N",
     .help = "ask for the N pairs of calling contexts that weigh most",
     .unset = "16384"},
    {.group = report_arguments, FIELD(report)},
    {.group = output_arguments, FIELD(output)},
    {0},
};

static struct fleet_report_options asked = {.report = JXP__REPORT_REQUEST__INIT};

static void set_defaults(void)
{
	asked.report.format = FORMAT_UNASKED;
	asked.question.paths = FLEET_REPORT_PATHS;
}

static int ask(const struct fleet_report_options *o, struct window_result **w, struct err *err)
{
	_cleanup_(server_release) struct server *s = NULL;
	int r = server_open(&o->server, &s, err);

	return r < 0 ? r : fleet_report_ask(server_asked(s), &o->question, w, err);
}

static int render(const struct fleet_report_options *o, const struct output *output,
		  const struct window_result *w, char **text, size_t *size, struct err *err)
{
	const Jxp__ReportRequest *q = &o->report;
	struct report_wanted wanted = {0};
	int r =
	    report_wanted_set(&wanted, q->format, q->pairs, q->view, q->regions, q->n_regions, err);

	if (r < 0)
		return r;
	wanted.all_frames = q->all_frames;
	wanted.columns = output->columns;
	return report_new_unless(NULL, w, &wanted, REPORT_BYTES_MAX, text, size, err);
}

static int report(struct client *c, struct command_call *call, struct err *err)
{
	struct fleet_report_options *o = &asked;
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_(window_result_release) struct window_result *w = NULL;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	(void)call; /* There are no operands. */
	if (o->report.baseline[0])
		return err_set(err, EINVAL,
			       "--baseline is for one window, not for those of a fleet");
	client_settle_format(c, &o->report.format);
	client_release(c); /* No daemon is asked. */
	r = report_check_format(o->report.format, err);
	if (r == 0)
		r = output_open_report(&output, o->output, o->report.format, err);
	if (r == 0)
		r = ask(o, &w, err);
	if (r == 0)
		r = render(o, &output, w, &text, &size, err);
	return r < 0 ? r : output_commit(&output, text, size, err);
}

const struct command cmd_fleet_report = {"fleet-report",
					 "[option...]",
					 "the report of a fleet's windows as one, from ClickHouse",
					 "",
					 .run = report,
					 .options = arguments,
					 .settings = &asked,
					 .prepare = set_defaults};
