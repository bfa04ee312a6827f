/* jxperfctl attach: profiles one JVM for a window, and prints the report or leaves it for later. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "common/arguments.h"
#include "client/command/baseline.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/values.h"
#include "client/command/which_jvm.h"
#include "client/command/window_end.h"
#include "client/daemon/exchange.h"
#include "client/daemon/progress.h"
#include "client/output/json.h"
#include "client/output/output.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/units.h"
#include "proto/helper.h"

#define DURATION_DEFAULT_NS (30 * NS_PER_S)

struct attach_options {
	uint64_t duration_ns;
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	size_t kind_count;
	Jxp__Sampler sampler;
	uint64_t period_ns;
	double budget;
	Jxp__Format format;
	bool format_given;
	uint32_t pairs; /* 0: not given */
	Jxp__View view;
	struct parse_regions regions;
	uint64_t object_min_size; /* bytes */
	bool object_min_size_given;
	const char *event;   /* "": the sampler's own */
	uint64_t timeout_ns; /* 0: not given */
	bool open_through_daemon;
	bool force;
	bool background;
	const char *baseline; /* window; NULL: not given */
	const char *output;   /* NULL: not given */
};

static int set_kinds(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;

	return parse_kinds(text, o->kinds, &o->kind_count, err);
}

static int set_sampler(const char *text, void *field, struct err *err)
{
	return parse_sampler(text, field, err);
}

static int set_budget(const char *text, void *field, struct err *err)
{
	return units_fraction(text, field, err);
}

static int set_timeout(const char *text, void *field, struct err *err)
{
	uint64_t ns;
	int r = units_duration(text, &ns, err);

	if (r < 0)
		return r;
	if (ns < ATTACH_TIMEOUT_MS_MIN * NS_PER_MS || ns > ATTACH_TIMEOUT_MS_MAX * NS_PER_MS)
		return err_set(err, EINVAL, "'%s' is no time to attach in: use 1s to 10m", text);
	*(uint64_t *)field = ns;
	return 0;
}

static int set_object_min_size(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;
	int r = units_size(text, &o->object_min_size, err);

	if (r == 0)
		o->object_min_size_given = true;
	return r;
}

static int set_format(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;
	int r = parse_format(text, &o->format, err);

	if (r == 0)
		o->format_given = true;
	return r;
}

#define FIELD(member) .field = offsetof(struct attach_options, member)

static const struct argument_option attach_arguments[] = {
    {.name = "duration", .type = ARGUMENT_PARSED, .parse = value_duration, FIELD(duration_ns)},
    {.name = "kinds", .type = ARGUMENT_PARSED, .parse = set_kinds},
    {.name = "sampler", .type = ARGUMENT_PARSED, .parse = set_sampler, FIELD(sampler)},
    {.name = "period", .type = ARGUMENT_PARSED, .parse = value_duration, FIELD(period_ns)},
    {.name = "budget", .type = ARGUMENT_PARSED, .parse = set_budget, FIELD(budget)},
    {.name = "object-min-size", .type = ARGUMENT_PARSED, .parse = set_object_min_size},
    {.name = "event", .type = ARGUMENT_TEXT, FIELD(event), .noun = "an event"},
    {.name = "format", .type = ARGUMENT_PARSED, .parse = set_format},
    {.name = "pairs", .type = ARGUMENT_PARSED, .parse = value_count, FIELD(pairs)},
    {.name = "view", .type = ARGUMENT_PARSED, .parse = value_view, FIELD(view)},
    {.name = "region", .type = ARGUMENT_PARSED, .parse = value_regions, FIELD(regions)},
    {.name = "timeout", .type = ARGUMENT_PARSED, .parse = set_timeout, FIELD(timeout_ns)},
    {.name = "open-through-daemon", FIELD(open_through_daemon)},
    {.name = "force", FIELD(force)},
    {.name = "background", FIELD(background)},
    {.name = "baseline", .type = ARGUMENT_TEXT, FIELD(baseline), .noun = "a window"},
    {.name = "output", .letter = 'o', .type = ARGUMENT_TEXT, FIELD(output), .noun = "a file"},
    {0},
};

/* Asks for the end of the window on a second connection; the report then comes on the first. A
 * second signal ends the wait for the answer, and with it the command. */
static int end_window(struct client *c, uint32_t pid, struct err *err)
{
	Jxp__DetachRequest detach = JXP__DETACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;

	detach.pid = pid;
	request.body_case = JXP__CONTROL_REQUEST__BODY_DETACH;
	request.detach = &detach;
	return exchange_once(c, &request, JXP__CONTROL_REPLY__BODY_DONE, &reply, err);
}

/* How a window came out. */
struct outcome {
	Jxp__ControlReply *report; /* the Document; freed with exchange_free_reply */
	bool interrupted;          /* by a signal of the user's */
};

/* Of a daemon that is alive, with the time that it was given on top. */
static int reply_timeout_ms(const Jxp__AttachRequest *attach)
{
	return EXCHANGE_REPLY_TIMEOUT_MS + (int)attach->timeout_ms;
}

/* Follows the window to its end. */
static int follow(struct exchange *x, struct client *c, const Jxp__AttachRequest *attach,
		  struct progress *progress, struct outcome *outcome, struct err *err)
{
	uint32_t pid = attach->pid;

	for (;;) {
		_cleanup_reply_ Jxp__ControlReply *reply = NULL;
		int r = exchange_next(x, c, reply_timeout_ms(attach), &reply, err);

		if (r == -EINTR && !outcome->interrupted) {
			(void)interrupt_take(&c->interrupt); /* Which one does not matter. */
			outcome->interrupted = true;
			r = end_window(c, pid, err);
			/* Refused: it ended by itself meanwhile, and the report is on its way; or
			 * there was no room to ask. */
			if (r < 0 && r != -EREMOTEIO && r != -EAGAIN)
				return r;
			continue;
		}
		if (r < 0)
			return r;
		if (reply->body_case == JXP__CONTROL_REPLY__BODY_DOCUMENT) {
			outcome->report = TAKE_PTR(reply);
			return 0;
		}
		if (reply->body_case != JXP__CONTROL_REPLY__BODY_PROGRESS)
			return exchange_unexpected(err);
		progress_show(progress, reply->progress);
	}
}

static void describe(Jxp__AttachRequest *attach, const struct attach_options *o,
		     const struct which_jvm *jvm)
{
	jxp__attach_request__init(attach);
	attach->pid = jvm->pid;
	attach->start_ticks = jvm->start_ticks;
	attach->n_kinds = o->kind_count;
	attach->kinds = (Jxp__Kind *)o->kinds;
	attach->sampler = o->sampler;
	attach->period_ns = o->period_ns;
	attach->duration_ns = o->duration_ns;
	attach->budget = o->budget;
	attach->format = o->format;
	attach->open_through_daemon = o->open_through_daemon;
	attach->force = o->force;
	attach->timeout_ms = (uint32_t)(o->timeout_ns / NS_PER_MS);
	attach->pairs = o->pairs;
	attach->view = o->view;
	attach->regions = (Jxp__Region *)o->regions.region;
	attach->n_regions = o->regions.count;
	attach->object_min_size = o->object_min_size;
	attach->object_min_size_given = o->object_min_size_given;
	attach->event = (char *)o->event;
	attach->background = o->background;
}

static int run_window(struct client *c, const struct attach_options *o, const struct which_jvm *jvm,
		      struct outcome *outcome, struct err *err)
{
	Jxp__AttachRequest attach;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	struct progress progress;
	int r;

	describe(&attach, o, jvm);
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	progress_init(&progress);
	r = exchange_begin(&x, c, &request, err);
	if (r == 0)
		r = follow(&x, c, &attach, &progress, outcome, err);
	progress_clear(&progress);
	return r;
}

static void outcome_release(struct outcome *outcome)
{
	exchange_free_reply(&outcome->report);
}

/* A private daemon would end with this command, and has no windows of before. */
static int need_daemon(const struct client *c, const char *option, struct err *err)
{
	_cleanup_close_ int fd = client_connect(c, err);

	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return err_set(err, -fd,
			       "%s needs a running daemon, which keeps the window, and none "
			       "answers on '%s': start jxperfd, or name its socket with --socket",
			       option, c->socket);
	return fd < 0 ? fd : 0;
}

/* Before anything is started. */
static int prepare(struct client *c, const struct attach_options *o, const char *target,
		   struct which_jvm *jvm, struct err *err)
{
	int r = o->baseline ? need_daemon(c, "--baseline", err) : client_allow_private(c, err);

	if (r == 0)
		r = which_jvm_find(c, target, jvm, err);
	return r < 0 || !o->baseline ? r : baseline_check(c, o->baseline, jvm->pid, err);
}

/* The report with the baseline, which that at the window's end had not. */
static int compare(struct client *c, const struct attach_options *o, const char *window,
		   Jxp__ControlReply **reply, struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;

	report.window = (char *)window;
	report.baseline = (char *)o->baseline;
	report.format = o->format;
	report.pairs = o->pairs;
	report.view = o->view;
	report.regions = (Jxp__Region *)o->regions.region;
	report.n_regions = o->regions.count;
	return baseline_report(c, &report, reply, err);
}

static int open_output(struct output *output, const struct attach_options *o, struct err *err)
{
	return o->format == JXP__FORMAT__FORMAT_PPROF ? output_open_binary(output, o->output, err)
						      : output_open(output, o->output, err);
}

/* Adds where the report is that there was no room for. keeps: the daemon has its window. */
static int no_room(int r, bool keeps, const char *window, struct err *err)
{
	struct err why = *err;

	if (r != -ENOSPC && r != -EDQUOT)
		return r;
	if (!keeps)
		return err_set(err, -r, "%s: make room, and attach again", why.message);
	return err_set(err, -r, "%s: make room, and ask for it with 'jxperfctl report %s'",
		       why.message, window);
}

/* *status is that to exit with when 0 is returned. */
static int attach_and_report(struct client *c, const struct attach_options *o, const char *target,
			     int *status, struct err *err)
{
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_(outcome_release) struct outcome outcome = {0};
	_cleanup_reply_ Jxp__ControlReply *compared = NULL;
	const Jxp__Document *document, *report;
	struct which_jvm jvm = {0};
	bool keeps;
	int r;

	if ((r = open_output(&output, o, err)) < 0 || (r = prepare(c, o, target, &jvm, err)) < 0 ||
	    (r = run_window(c, o, &jvm, &outcome, err)) < 0)
		return r;
	assert(outcome.report);
	report = document = outcome.report->document;
	if (o->baseline) {
		r = compare(c, o, document->window, &compared, err);
		if (r < 0)
			return r;
		report = compared->document;
	}
	keeps = !c->own;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = output_commit(&output, report->text.data, report->text.len, err);
	if (r < 0)
		return no_room(r, keeps, document->window, err);
	*status = window_end_tell(document, outcome.interrupted);
	return 0;
}

/* ---------------------------------------------------------------- background */

static int check_baseline(const struct attach_options *o, struct err *err)
{
	for (size_t i = 0; i < o->kind_count; i++)
		if (o->kinds[i] == JXP__KIND__KIND_LOOPS)
			return 0;
	return err_set(err, EINVAL, "--baseline compares loops: ask for them with --kinds loops");
}

/* What would be done with a report has no meaning without one. */
static int check_options(const struct attach_options *o, struct err *err)
{
	const char *senseless = o->output          ? "-o"
				: o->baseline      ? "--baseline"
				: o->format_given  ? "--format"
				: o->pairs         ? "--pairs"
				: o->view          ? "--view"
				: o->regions.count ? "--region"
						   : NULL;

	if (!o->background || !senseless)
		return o->baseline ? check_baseline(o, err) : 0;
	return err_set(err, EINVAL,
		       "%s makes no sense with --background, which prints no report: give it to "
		       "'jxperfctl report'",
		       senseless);
}

static int print_window(const struct client *c, const char *window, struct err *err)
{
	json_t *object;

	if (!c->json)
		return puts(window) < 0 ? err_set_errno(err, errno, "cannot write standard output")
					: 0;
	object = json_object();
	json_put(&object, "window", json_text(window));
	return json_print(object, err);
}

/* Prints the window's id when it has started, and leaves it to the daemon. */
static int attach_in_background(struct client *c, const struct attach_options *o,
				const char *target, struct err *err)
{
	Jxp__AttachRequest attach;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	struct which_jvm jvm = {0};
	int r;

	if ((r = need_daemon(c, "--background", err)) < 0 ||
	    (r = which_jvm_find(c, target, &jvm, err)) < 0)
		return r;
	describe(&attach, o, &jvm);
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	r = exchange_once_within(c, &request, JXP__CONTROL_REPLY__BODY_STARTED,
				 reply_timeout_ms(&attach), &reply, err);
	if (r == -EINTR)
		return err_set(err, EINTR,
			       "interrupted: the window may start nevertheless: see 'jxperfctl "
			       "status'");
	return r < 0 ? r : print_window(c, reply->started->window, err);
}

int cmd_attach(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {
	    .program = "jxperfctl", .options = attach_arguments, .operands = "PID|NAME"};
	struct attach_options o = {.duration_ns = DURATION_DEFAULT_NS,
				   .event = "",
				   .format = c->json ? JXP__FORMAT__FORMAT_JSON
						     : JXP__FORMAT__FORMAT_TEXT};
	int status = EXIT_FAILURE;
	const char *target;
	struct err err;
	int r = arguments_parse(&spec, argc, argv, &o, &target, NULL, &err);

	/* A number that is no pid is known to be wrong before anything is started. */
	if (r == 0 && parse_is_number(target))
		r = parse_pid(target, &(uint32_t){0}, &err);
	if (r == 0)
		r = check_options(&o, &err);
	if (r == 0 && o.background) {
		r = attach_in_background(c, &o, target, &err);
		status = EXIT_SUCCESS;
	} else if (r == 0) {
		r = attach_and_report(c, &o, target, &status, &err);
	}
	return r < 0 ? command_fail(r, &err) : status;
}
