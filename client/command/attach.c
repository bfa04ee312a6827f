/* jxperfctl attach: profiles one JVM for a window, and prints the report or leaves it for later. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/findings.h"
#include "client/command/parse.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/output.h"
#include "client/terminal/live_block.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/units.h"
#include "proto/helper.h"
#include "proto/words.h"

#define DURATION_DEFAULT_NS (30 * NS_PER_S)

struct attach_options {
	Jxp__AttachRequest window;
	Jxp__ReportRequest report; /* which ends it */
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	const char *output; /* NULL: not given */
};

static int set_kinds(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;

	o->window.kinds = o->kinds;
	return parse_kinds(text, o->kinds, &o->window.n_kinds, err);
}

static int set_timeout(const char *text, void *field, struct err *err)
{
	uint64_t ns;
	int r = units_duration(text, &ns, err);

	if (r < 0)
		return r;
	if (ns < ATTACH_TIMEOUT_MS_MIN * NS_PER_MS || ns > ATTACH_TIMEOUT_MS_MAX * NS_PER_MS)
		return err_set(err, EINVAL, "'%s' is no time to attach in: use 1s to 10m", text);
	*(uint32_t *)field = (uint32_t)(ns / NS_PER_MS);
	return 0;
}

static int set_object_min_size(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;
	int r = units_size(text, &o->window.object_min_size, err);

	if (r == 0)
		o->window.object_min_size_given = true;
	return r;
}

#define FIELD(member) .field = offsetof(struct attach_options, member)

static const struct argument_option arguments[] = {
    {.group = report_arguments, FIELD(report)},
    {.group = output_arguments, FIELD(output)},
    {.name = "duration",
     .type = ARGUMENT_DURATION,
     FIELD(window.duration_ns),
     .value = "T",
     .help = "30s, 500ms, 2m",
     .unset = "30s"},
    {.name = "kinds",
     .type = ARGUMENT_PARSED,
     .parse = set_kinds,
     .name_at = kind_option_at,
     .value = "K,K",
     .help = "one or more",
     .unset = "all that work, without loops"},
    {.name = "sampler",
     .type = ARGUMENT_CHOICE,
     FIELD(window.sampler),
     .names = sampler_names,
     .least = JXP__SAMPLER__SAMPLER_AUTO,
     .noun = "a sampler",
     .value = "S",
     .unset = "auto"},
    {.name = "period",
     .type = ARGUMENT_DURATION,
     FIELD(window.period_ns),
     .value = "T",
     .help = "time between samples of a thread",
     .unset = "the daemon's choice"},
    {.name = "budget",
     .type = ARGUMENT_FRACTION,
     FIELD(window.budget),
     .value = "P",
     .help = "most of the target's CPU time to spend",
     .unset = "1%"},
    {.name = "object-min-size",
     .type = ARGUMENT_PARSED,
     .parse = set_object_min_size,
     .value = "SIZE",
     .help = "track objects of at least SIZE: 512B, 1KiB, 2MiB, or 0 for all",
     .unset = "as most are"},
    {.name = "event",
     .type = ARGUMENT_TEXT,
     FIELD(window.event),
     .noun = "an event",
     .value = "NAME",
     .help = "sample accesses to objects with this hardware event",
     .unset = "the sampler's own"},
    {.name = "open-through-daemon",
     FIELD(window.open_through_daemon),
     .help = "let the daemon open the target's perf events (when the target may not)"},
    {.name = "timeout",
     .type = ARGUMENT_PARSED,
     .parse = set_timeout,
     FIELD(window.timeout_ms),
     .value = "T",
     .help = "how long attaching may take, 1s to 10m",
     .unset = "10s, or 25s where the processors are overloaded"},
    {.name = "force",
     FIELD(window.force),
     .help = "attach also where there may not be room for the agent ('check PID' tells)"},
    {.name = "background",
     FIELD(window.background),
     .help = "print the window's id when it has started, and leave it to the daemon"},
    {0},
};

static struct attach_options asked = {.window = JXP__ATTACH_REQUEST__INIT,
				      .report = JXP__REPORT_REQUEST__INIT};

static void set_defaults(void)
{
	asked.window.duration_ns = DURATION_DEFAULT_NS;
	asked.report.format = FORMAT_UNASKED;
}

/* The report at its end is shown as the other options say. */
static void complete(struct attach_options *o, const struct client *c)
{
	client_settle_format(c, &o->report.format);
	o->window.format = o->report.format;
	o->window.pairs = o->report.pairs;
	o->window.view = o->report.view;
	o->window.regions = o->report.regions;
	o->window.n_regions = o->report.n_regions;
	o->window.all_frames = o->report.all_frames;
}

/* ---------------------------------------------------------------- how far it is */

/* What a terminal shows of a window while it runs; nothing where stderr is none. */
struct progress {
	struct live_block block;
	struct findings findings;
	uint64_t asked_ns; /* when findings were asked for last, or 0 */
	bool given_up;     /* they cannot be had */
};

/* A window whose findings cannot be had is followed without them. */
static void progress_ask(struct progress *p, struct client *c, const char *window)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct findings findings;
	struct err err;
	int r;

	if (!p->block.terminal || p->given_up ||
	    (p->asked_ns && now_ns - p->asked_ns < FINDINGS_EVERY_S * NS_PER_S))
		return;
	p->asked_ns = now_ns;
	r = findings_ask(c, window, &findings, &err);
	/* A signal is for whoever waits for the window, and there may be room later. */
	p->given_up = r < 0 && r != -EINTR && r != -EAGAIN;
	if (r < 0)
		return;
	findings_release(&p->findings);
	p->findings = findings;
}

static void progress_show(struct progress *p, const Jxp__Progress *state)
{
	size_t width = terminal_width(STDERR_FILENO);
	char text[LINES_BYTES_MAX];
	struct lines l = {0};

	if (!p->block.terminal)
		return;
	(void)snprintf(text, sizeof(text),
		       "window %.40s: %.0f s of %.0f s, %" PRIu64 " samples, %" PRIu64
		       " pairs (^C ends it now)",
		       state->window, clock_s(state->elapsed_ns), clock_s(state->duration_ns),
		       state->samples, state->traps); /* Fits. */
	lines_add_folded(&l, STYLE_PLAIN, width, 2, text);
	findings_show(&p->findings, &l, width);
	live_block_show(&p->block, &l);
	lines_release(&l);
}

/* Before anything else is printed. */
static void progress_end(struct progress *p)
{
	live_block_erase(&p->block);
	findings_release(&p->findings);
}

/* ---------------------------------------------------------------- the window */

/* Asks for the end of the window on a second connection; the report then comes on the first. A
 * second signal ends the wait for the answer, and with it the command. */
static int end_window(struct client *c, uint32_t pid, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;

	return exchange_detach(c, pid, &reply, err);
}

/* How a window came out. */
struct attach_outcome {
	Jxp__ControlReply *report; /* the Document; freed with exchange_free_reply */
	bool interrupted;          /* by a signal of the user's */
};

/* The patience with a daemon that is alive, with the time that it was given on top. */
static int reply_timeout_ms(const Jxp__AttachRequest *attach)
{
	return EXCHANGE_REPLY_TIMEOUT_MS + (int)attach->timeout_ms;
}

/* Follows the window to its end. */
static int follow(struct exchange *x, struct client *c, const Jxp__AttachRequest *attach,
		  struct progress *progress, struct attach_outcome *outcome, struct err *err)
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
		if (!outcome->interrupted)
			progress_ask(progress, c, reply->progress->window);
		progress_show(progress, reply->progress);
	}
}

static int run_window(struct client *c, Jxp__AttachRequest *attach, struct attach_outcome *outcome,
		      struct err *err)
{
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	struct progress progress = {.block = live_block_on_stderr(c->json)};
	int r = exchange_begin(&x, c, JXP__CONTROL_REQUEST__BODY_ATTACH, attach, err);

	if (r == 0)
		r = follow(&x, c, attach, &progress, outcome, err);
	progress_end(&progress);
	return r;
}

/* Where the daemon has no room for one who asks, it has not begun a window. */
static int run_window_with_room(struct client *c, Jxp__AttachRequest *attach,
				struct attach_outcome *outcome, struct err *err)
{
	uint64_t deadline_ns =
	    clock_monotonic_ns() + (uint64_t)reply_timeout_ms(attach) * NS_PER_MS;
	int r;

	do {
		r = run_window(c, attach, outcome, err);
	} while (r == -EAGAIN && (r = exchange_wait_for_room(c, deadline_ns, err)) == 0);
	return r;
}

static void outcome_release(struct attach_outcome *outcome)
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
			       option, client_socket(c));
	return fd < 0 ? fd : 0;
}

static int find_target(struct client *c, struct attach_options *o, const char *target,
		       struct err *err)
{
	struct which_jvm jvm = {0};
	int r = which_jvm_find(c, target, &jvm, err);

	o->window.pid = jvm.pid;
	o->window.start_ticks = jvm.start_ticks;
	return r;
}

/* ---------------------------------------------------------------- a baseline */

static int ask_for_report(struct client *c, Jxp__ReportRequest *report, Jxp__ControlReply **reply,
			  struct err *err)
{
	return exchange_once(c, JXP__CONTROL_REQUEST__BODY_REPORT, report, reply, err);
}

/* NULL where the list has no such JVM: another user's, say, or one that hangs. */
static const Jxp__Jvm *find_jvm(const Jxp__JvmList *list, uint32_t pid)
{
	for (size_t i = 0; i < list->n_jvms; i++)
		if (list->jvms[i]->pid == pid)
			return list->jvms[i];
	return NULL;
}

/* What is not known now is checked when the report is made. */
static int check_app(struct client *c, const char *window, const char *app, uint32_t pid,
		     struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	const Jxp__Jvm *jvm;
	int r = which_jvm_list(c, &reply, err);

	if (r < 0)
		return r;
	jvm = find_jvm(reply->jvms, pid);
	if (!jvm || !jvm->app[0] || strcmp(jvm->app, app) == 0)
		return 0;
	return err_set(err, EINVAL,
		       "window %s is of '%s' and pid %u is '%s': a baseline is a window of the "
		       "same application",
		       window, app, pid, jvm->app);
}

/* Is there such a window, with loops, of the application that pid is, as far as the daemon knows
 * that? */
static int check_window(struct client *c, char *window, uint32_t pid, struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	/* A window can be compared with itself, if it can be with any. */
	report.window = report.baseline = window;
	report.view = JXP__VIEW__VIEW_LOOPS;
	report.pairs = 1;
	r = ask_for_report(c, &report, &reply, err);
	return r < 0 ? r : check_app(c, window, reply->document->app, pid, err);
}

/* Before anything is started. */
static int prepare(struct client *c, struct attach_options *o, const char *target, struct err *err)
{
	bool compared = o->report.baseline[0];
	int r = compared ? need_daemon(c, "--baseline", err) : client_allow_private(c, err);

	if (r == 0)
		r = find_target(c, o, target, err);
	return r < 0 || !compared ? r : check_window(c, o->report.baseline, o->window.pid, err);
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
static int attach_and_report(struct client *c, struct attach_options *o, const char *target,
			     int *status, struct err *err)
{
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_(outcome_release) struct attach_outcome outcome = {0};
	_cleanup_reply_ Jxp__ControlReply *compared = NULL;
	const Jxp__Document *document, *report;
	bool keeps;
	int r;

	r = output_open_report(&output, o->output, o->report.format, err);
	if (r < 0)
		return r;
	o->window.columns = o->report.columns = (uint32_t)output.columns;
	if ((r = prepare(c, o, target, err)) < 0 ||
	    (r = run_window_with_room(c, &o->window, &outcome, err)) < 0)
		return r;
	assert(outcome.report);
	report = document = outcome.report->document;
	if (o->report.baseline[0]) {
		/* The one at the window's end has no baseline. */
		o->report.window = document->window;
		r = ask_for_report(c, &o->report, &compared, err);
		if (r < 0)
			return r;
		report = compared->document;
	}
	keeps = !c->own;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = output_commit(&output, report->text.data, report->text.len, err);
	if (r < 0)
		return no_room(r, keeps, document->window, err);
	*status = command_tell_end(document, outcome.interrupted);
	return 0;
}

/* ---------------------------------------------------------------- background */

static int check_baseline(const struct attach_options *o, struct err *err)
{
	for (size_t i = 0; i < o->window.n_kinds; i++)
		if (o->kinds[i] == JXP__KIND__KIND_LOOPS)
			return 0;
	return err_set(err, EINVAL, "--baseline compares loops: ask for them with --kinds loops");
}

/* What would be done with a report has no meaning without one. */
static int check_options(const struct attach_options *o, struct err *err)
{
	const struct {
		const char *name;
		bool given;
	} senseless[] = {
	    {"-o", o->output},
	    {"--baseline", o->report.baseline[0]},
	    {"--format", o->report.format != FORMAT_UNASKED},
	    {"--pairs", o->report.pairs},
	    {"--view", o->report.view},
	    {"--region", o->report.n_regions},
	    {"--all-frames", o->report.all_frames},
	};

	for (size_t i = 0; i < sizeof(senseless) / sizeof(senseless[0]) && o->window.background;
	     i++)
		if (senseless[i].given)
			return err_set(err, EINVAL,
				       "%s makes no sense with --background, which prints no "
				       "report: give it to 'jxperfctl report'",
				       senseless[i].name);
	return o->report.baseline[0] ? check_baseline(o, err) : 0;
}

static int print_window(const struct client *c, const char *window, struct err *err)
{
	json_t *object;

	if (!c->json)
		return puts(window) < 0 ? err_set_errno(err, errno, "cannot write standard output")
					: 0;
	object = json_object();
	json_put(&object, "window", json_readable(window));
	return json_print(object, err);
}

/* Prints the window's id when it has started, and leaves it to the daemon. */
static int attach_in_background(struct client *c, struct attach_options *o, const char *target,
				struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	int r;

	if ((r = need_daemon(c, "--background", err)) < 0 ||
	    (r = find_target(c, o, target, err)) < 0)
		return r;
	r = exchange_once_within(c, JXP__CONTROL_REQUEST__BODY_ATTACH, &o->window,
				 reply_timeout_ms(&o->window), &reply, err);
	if (r == -EINTR)
		return err_set(err, EINTR,
			       "interrupted: the window may start nevertheless: see 'jxperfctl "
			       "status'");
	return r < 0 ? r : print_window(c, reply->started->window, err);
}

static int attach(struct client *c, struct command_call *call, struct err *err)
{
	const char *target = call->operands[0];
	int r = 0;

	/* A number that is no pid is known to be wrong before anything is started. */
	if (parse_is_number(target))
		r = parse_pid(target, &(uint32_t){0}, err);
	if (r == 0)
		r = check_options(&asked, err);
	if (r < 0)
		return r;
	complete(&asked, c);
	return asked.window.background
		   ? attach_in_background(c, &asked, target, err)
		   : attach_and_report(c, &asked, target, &call->exit_status, err);
}

const struct command cmd_attach = {"attach",
				   "PID|NAME [option...]",
				   "profile a JVM and print the report",
				   "PID|NAME",
				   .completes = COMPLETES_JVMS,
				   .run = attach,
				   .options = arguments,
				   .settings = &asked,
				   .prepare = set_defaults};
