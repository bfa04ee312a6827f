/* jxperfctl report: prints the report of a window, or of those of an application as one. */
#include <errno.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/values.h"
#include "client/daemon/exchange.h"
#include "client/output/output.h"

struct report_options {
	Jxp__Format format;
	uint32_t pairs;
	Jxp__View view;
	struct parse_regions regions;
	const char *output;
	const char *app;
	uint64_t since_unix_ns;
	uint64_t until_unix_ns;
	const char *baseline; /* NULL: not given */
};

#define FIELD(member) .field = offsetof(struct report_options, member)

static const struct argument_option report_arguments[] = {
    {.name = "format", .type = ARGUMENT_PARSED, .parse = value_format, FIELD(format)},
    {.name = "pairs", .type = ARGUMENT_PARSED, .parse = value_count, FIELD(pairs)},
    {.name = "view", .type = ARGUMENT_PARSED, .parse = value_view, FIELD(view)},
    {.name = "region", .type = ARGUMENT_PARSED, .parse = value_regions, FIELD(regions)},
    {.name = "app", .type = ARGUMENT_TEXT, FIELD(app), .noun = "an application"},
    {.name = "since", .type = ARGUMENT_PARSED, .parse = value_time, FIELD(since_unix_ns)},
    {.name = "until", .type = ARGUMENT_PARSED, .parse = value_time, FIELD(until_unix_ns)},
    {.name = "baseline", .type = ARGUMENT_TEXT, FIELD(baseline), .noun = "a window"},
    {.name = "output", .letter = 'o', .type = ARGUMENT_TEXT, FIELD(output), .noun = "a file"},
    {0},
};

/* Either a window, or those of an application. */
static int check_subject(const struct report_options *o, const char *window, struct err *err)
{
	if (!window && !o->app)
		return err_set(err, EINVAL,
			       "'report' needs WINDOW, or --app NAME for all windows of an "
			       "application: see 'jxperfctl --help'");
	if (window && (o->app || o->since_unix_ns || o->until_unix_ns))
		return err_set(
		    err, EINVAL,
		    "--app, --since and --until are in place of a window: leave '%s' out", window);
	if (o->app && o->baseline)
		return err_set(err, EINVAL,
			       "--baseline is for one window, not for those of an application");
	return 0;
}

static int open_output(struct output *output, const struct report_options *o, struct err *err)
{
	return o->format == JXP__FORMAT__FORMAT_PPROF ? output_open_binary(output, o->output, err)
						      : output_open(output, o->output, err);
}

static int report(struct client *c, const struct report_options *o, const char *window,
		  struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	Jxp__Selection merged = JXP__SELECTION__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	if (window) {
		report.window = (char *)window;
	} else {
		merged.app = (char *)o->app;
		merged.since_unix_ns = o->since_unix_ns;
		merged.until_unix_ns = o->until_unix_ns;
		report.merged = &merged;
	}
	if (o->baseline)
		report.baseline = (char *)o->baseline;
	report.format = o->format;
	report.pairs = o->pairs;
	report.view = o->view;
	report.regions = (Jxp__Region *)o->regions.region;
	report.n_regions = o->regions.count;
	request.body_case = JXP__CONTROL_REQUEST__BODY_REPORT;
	request.report = &report;
	if ((r = open_output(&output, o, err)) < 0 ||
	    (r = exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_DOCUMENT, &reply, err)) < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	return output_commit(&output, reply->document->text.data, reply->document->text.len, err);
}

int cmd_report(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {
	    .program = "jxperfctl", .options = report_arguments, .operands = "[WINDOW]"};
	struct report_options o = {.format = c->json ? JXP__FORMAT__FORMAT_JSON
						     : JXP__FORMAT__FORMAT_TEXT};
	const char *window;
	struct err err;
	int r = arguments_parse(&spec, argc, argv, &o, &window, NULL, &err);

	if (r == 0)
		r = check_subject(&o, window, &err);
	if (r == 0)
		r = report(c, &o, window, &err);
	return r < 0 ? command_fail(r, &err) : EXIT_SUCCESS;
}
