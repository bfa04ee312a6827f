/* jxperfctl attach: profiles one JVM for a window and prints the report. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/values.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/daemon/progress.h"
#include "client/output/output.h"
#include "common/clock.h"
#include "common/units.h"

#define DURATION_DEFAULT_NS (30 * NS_PER_S)

struct attach_options {
	uint64_t duration_ns;
	Jxp__Kind kinds[PARSE_KINDS_MAX];
	size_t kind_count;
	Jxp__Sampler sampler;
	uint64_t period_ns;
	double budget;
	Jxp__Format format;
	uint32_t pairs;
	uint64_t object_min_size; /* bytes */
	bool object_min_size_given;
	const char *event; /* "": the sampler's own */
	bool open_through_daemon;
	bool force;
	const char *output;
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

static int set_object_min_size(const char *text, void *options, struct err *err)
{
	struct attach_options *o = options;
	int r = units_size(text, &o->object_min_size, err);

	if (r == 0)
		o->object_min_size_given = true;
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
    {.name = "format", .type = ARGUMENT_PARSED, .parse = value_format, FIELD(format)},
    {.name = "pairs", .type = ARGUMENT_PARSED, .parse = value_count, FIELD(pairs)},
    {.name = "open-through-daemon", FIELD(open_through_daemon)},
    {.name = "force", FIELD(force)},
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

/* Follows the window to its end. */
static int follow(struct exchange *x, struct client *c, uint32_t pid, struct progress *progress,
		  struct outcome *outcome, struct err *err)
{

	for (;;) {
		_cleanup_reply_ Jxp__ControlReply *reply = NULL;
		int r = exchange_next(x, c, EXCHANGE_REPLY_TIMEOUT_MS, &reply, err);

		if (r == -EINTR && !outcome->interrupted) {
			(void)interrupt_take(&c->interrupt); /* Which one does not matter. */
			outcome->interrupted = true;
			r = end_window(c, pid, err);
			/* Refused: it ended by itself meanwhile, and the report is on its way. */
			if (r < 0 && r != -EREMOTEIO)
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

static int run_window(struct client *c, const struct attach_options *o, uint32_t pid,
		      struct outcome *outcome, struct err *err)
{
	Jxp__AttachRequest attach = JXP__ATTACH_REQUEST__INIT;
	Jxp__ControlRequest request = JXP__CONTROL_REQUEST__INIT;
	_cleanup_exchange_ struct exchange x = EXCHANGE_NONE;
	struct progress progress;
	int r;

	attach.pid = pid;
	attach.n_kinds = o->kind_count;
	attach.kinds = (Jxp__Kind *)o->kinds;
	attach.sampler = o->sampler;
	attach.period_ns = o->period_ns;
	attach.duration_ns = o->duration_ns;
	attach.budget = o->budget;
	attach.format = o->format;
	attach.open_through_daemon = o->open_through_daemon;
	attach.force = o->force;
	attach.pairs = o->pairs;
	attach.object_min_size = o->object_min_size;
	attach.object_min_size_given = o->object_min_size_given;
	attach.event = (char *)o->event;
	request.body_case = JXP__CONTROL_REQUEST__BODY_ATTACH;
	request.attach = &attach;
	progress_init(&progress);
	r = exchange_begin(&x, c, &request, err);
	if (r == 0)
		r = follow(&x, c, pid, &progress, outcome, err);
	progress_clear(&progress);
	return r;
}

/* The exit status for a window whose report was printed; a line on stderr unless it ended as
 * planned. */
static int tell_end(const struct outcome *outcome)
{
	const Jxp__Document *document = outcome->report->document;
	bool target = document->end == JXP__DOCUMENT__END__TARGET_ENDED;

	if (document->end == JXP__DOCUMENT__END__AS_PLANNED)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "jxperfctl: window %s ended %s: %s\n", document->window,
		      target ? "with its target" : "early",
		      outcome->interrupted && !target ? "interrupted" : document->reason);
	return target ? EXIT_TARGET_ENDED : EXIT_EARLY;
}

static void outcome_release(struct outcome *outcome)
{
	exchange_free_reply(&outcome->report);
}

/* *status is that to exit with when 0 is returned. */
static int attach_and_report(struct client *c, const struct attach_options *o, const char *target,
			     int *status, struct err *err)
{
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_(outcome_release) struct outcome outcome = {0};
	const Jxp__Document *document;
	uint32_t pid;
	int r;

	if ((r = output_open(&output, o->output, err)) < 0 ||
	    (r = client_allow_private(c, err)) < 0 ||
	    (r = which_jvm_find(c, target, &pid, err)) < 0 ||
	    (r = run_window(c, o, pid, &outcome, err)) < 0)
		return r;
	assert(outcome.report);
	document = outcome.report->document;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = output_commit(&output, document->text.data, document->text.len, err);
	if (r == 0)
		*status = tell_end(&outcome);
	return r;
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
		r = attach_and_report(c, &o, target, &status, &err);
	return r < 0 ? command_fail(r, &err) : status;
}
