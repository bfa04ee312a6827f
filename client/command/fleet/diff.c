/* jxperfctl fleet-diff: what differs between two sets of a fleet's windows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/diff_show.h"
#include "client/command/parse.h"
#include "client/command/fleet/options.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "compare/side_json.h"
#include "report/report.h"

struct fleet_diff_options {
	struct server_options server;
	struct fleet_question question; /* of both */
	struct diff_shown shown;
};

#define FIELD(member) .field = offsetof(struct fleet_diff_options, member)

static const struct argument_option arguments[] = {
    {.group = server_arguments, FIELD(server)},
    {.group = question_arguments, FIELD(question)},
    {.group = diff_show_arguments, FIELD(shown)},
    {0},
};

static struct fleet_diff_options asked;

/* One of the two: a question, and its words. */
struct asked_side {
	const char *text;
	char *words; /* that the question's point into */
	struct fleet_question question;
};

struct asked_sides {
	const struct fleet_server *server;
	struct asked_side sides[2];
};

static void loaded_release(struct asked_sides *l)
{
	for (int i = 0; i < 2; i++)
		free(l->sides[i].words);
}

/* ---------------------------------------------------------------- what is meant */

static int parse_word(struct asked_side *s, char *word, struct err *err)
{
	const struct {
		const char *name;
		const char **field;
	} names[] = {{"app", &s->question.app},
		     {"group", &s->question.group},
		     {"jdk", &s->question.jdk},
		     {"gc", &s->question.gc},
		     {"version", &s->question.version},
		     {"schedule", &s->question.schedule},
		     {"namespace", &s->question.namespace},
		     {"pod", &s->question.pod}};
	char *value = strchr(word, '=');

	if (parse_is_period(word))
		return parse_period(word, clock_ns(CLOCK_REALTIME), &s->question.since_unix_ns,
				    &s->question.until_unix_ns, err);
	if (value)
		*value++ = '\0';
	for (size_t i = 0; value && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].name, word) != 0)
			continue;
		*names[i].field = value;
		return 0;
	}
	return err_set(err, EINVAL,
		       "'%s' says of no windows which they are: write a period, or what they have "
		       "in common, such as 14d..7d or version=1.2,gc=G1",
		       s->text);
}

static int parse_side(struct asked_side *s, const char *text, struct err *err)
{
	char *rest, *word;
	int r = 0;

	*s = (struct asked_side){.text = text, .words = strdup(text), .question = asked.question};
	if (!s->words)
		return err_set(err, ENOMEM, "out of memory");
	rest = s->words;
	while (r == 0 && (word = strsep(&rest, ",")))
		r = parse_word(s, word, err);
	return r;
}

/* ---------------------------------------------------------------- what there is */

/* By its report, as `diff` has windows. */
static int load(void *context, int i, struct compare_side *out, struct err *err)
{
	struct asked_sides *l = context;
	_cleanup_(window_result_release) struct window_result *w = NULL;
	_cleanup_free_ char *text = NULL;
	struct err why;
	size_t size;
	int r = fleet_report_ask(l->server, &l->sides[i].question, &w, &why);

	if (r == 0)
		r = report_new_unless(
		    NULL, w,
		    &(struct report_wanted){.format = JXP__FORMAT__FORMAT_JSON, .pairs = 1},
		    COMPARE_REPORT_MAX, &text, &size, &why);
	if (r == 0)
		r = compare_side_read(out, l->sides[i].text, text, size, &why);
	return r < 0 ? err_set(err, -r, "cannot compare '%s': %s", l->sides[i].text, why.message)
		     : 0;
}

static int diff(struct client *c, struct command_call *call, struct err *err)
{
	struct fleet_diff_options *o = &asked;
	_cleanup_(loaded_release) struct asked_sides loaded = {.sides = {{.words = NULL}}};
	const struct diff_loader loader = {load, &loaded};
	_cleanup_(server_release) struct server *s = NULL;
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++)
		r = parse_side(&loaded.sides[i], call->operands[i], err);
	client_release(c); /* No daemon is asked. */
	if (r == 0)
		r = server_open(&o->server, &s, err);
	if (r < 0)
		return r;
	loaded.server = server_asked(s);
	return diff_show(&o->shown, c, call, &loader, err);
}

const struct command cmd_fleet_diff = {
    "fleet-diff",
    "A B [option...]",
    "what takes more, or less, in a fleet's windows B than in A: periods like 14d..7d, or "
    "what they have in common, like version=1.2",
    "two sets of windows",
    .run = diff,
    .options = arguments,
    .settings = &asked,
    .operand_count = 2};
