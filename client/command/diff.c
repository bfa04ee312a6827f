/* jxperfctl diff: what differs between two windows, the windows of two periods, or two reports in
 * files. */
#include <errno.h>

#include "client/command/diff_show.h"
#include "client/command/diff_side.h"
#include "client/command/parse.h"

struct diff_options {
	Jxp__Selection which; /* of the windows that periods are of */
	struct diff_shown shown;
};

#define FIELD(member) .field = offsetof(struct diff_options, member)

static const struct argument_option arguments[] = {
    {.name = "app",
     .type = ARGUMENT_TEXT,
     FIELD(which.app),
     .noun = "an application",
     .value = "APP",
     .help = "the application, or several: 'shop-*,cart', whose windows the periods are of"},
    {.group = chosen_arguments, FIELD(which)},
    {.group = diff_show_arguments, FIELD(shown)},
    {0},
};

static int check(const struct diff_options *o, const struct diff_side sides[2], struct err *err)
{
	bool chosen = o->which.app[0] || o->which.schedule[0] || o->which.n_kinds > 0;

	if (chosen && !sides[0].selection.app[0] && !sides[1].selection.app[0])
		return err_set(err, EINVAL,
			       "--app is for periods, as --kinds and --schedule are, and '%s' and "
			       "'%s' are none: leave it out",
			       sides[0].text, sides[1].text);
	return 0;
}

static struct diff_options asked = {.which = JXP__SELECTION__INIT};

struct loaded {
	struct client *client;
	struct diff_side sides[2];
};

static int load(void *context, int i, struct compare_side *out, struct err *err)
{
	struct loaded *l = context;

	return diff_side_load(&l->sides[i], l->client, out, err);
}

static int diff(struct client *c, struct command_call *call, struct err *err)
{
	struct diff_options *o = &asked;
	struct loaded loaded = {.client = c};
	const struct diff_loader loader = {load, &loaded};
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++)
		r = diff_side_parse(&loaded.sides[i], call->operands[i], &o->which, err);
	if (r == 0)
		r = check(o, loaded.sides, err);
	return r < 0 ? r : diff_show(&o->shown, c, call, &loader, err);
}

const struct command cmd_diff = {
    "diff",
    "A B [option...]",
    "what takes more, or less, in B than in A: windows, periods like 48h..24h, or reports in "
    "files, which need no daemon",
    "two windows, periods or files",
    .completes = COMPLETES_WINDOWS | COMPLETES_FILES,
    .run = diff,
    .options = arguments,
    .settings = &asked,
    .operand_count = 2};
