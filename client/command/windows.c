/* jxperfctl windows: running windows and those whose reports the daemon still has. */
#include <inttypes.h>
#include <stdio.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/daemon/exchange.h"
#include "client/output/json.h"
#include "client/output/windows.h"
#include "common/arguments.h"

struct windows_options {
	Jxp__Selection selection;
	uint32_t limit;
};

#define FIELD(member) .field = offsetof(struct windows_options, member)

static const struct argument_option arguments[] = {
    {.group = selection_arguments, FIELD(selection)},
    {.group = chosen_arguments, FIELD(selection)},
    {.name = "limit",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(limit),
     .value = "N",
     .help = "the latest N",
     .unset = "200"},
    {0},
};

/* To stderr, since what is printed may be read by a program. */
static void say_rest(const Jxp__WindowList *list)
{
	static const char of[] = "began later than now, by a clock that was set since";
	const char *first = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < list->n_windows; i++)
		if (list->windows[i]->future && shown++ == 0)
			first = list->windows[i]->id;
	if (shown > 0)
		(void)fprintf(stderr, "jxperfctl: %zu of these windows (first %s) %s\n", shown,
			      first, of);
	if (list->future > 0)
		(void)fprintf(stderr,
			      "jxperfctl: %" PRIu64 " windows (first %s) %s, and are not shown\n",
			      list->future, list->first_future, of);
	if (list->all > list->n_windows)
		(void)fprintf(stderr,
			      "jxperfctl: %" PRIu64 " older windows are not shown: use --limit, "
			      "--since or --until\n",
			      list->all - list->n_windows);
}

static struct windows_options asked = {.selection = JXP__SELECTION__INIT};

static int windows(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	Jxp__WindowsRequest request = JXP__WINDOWS_REQUEST__INIT;
	const Jxp__WindowList *list;
	int r;

	(void)call; /* There are no operands. */
	request.which = &asked.selection;
	request.limit = asked.limit;
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_WINDOWS, &request, &reply, err);
	if (r < 0)
		return r;
	list = reply->windows;
	r = c->json ? json_print(windows_json(list->windows, list->n_windows), err)
		    : windows_print(list->windows, list->n_windows, err);
	if (r == 0)
		say_rest(list);
	return r;
}

const struct command cmd_windows = {"windows",
				    "[option...]",
				    "running and finished windows",
				    "",
				    .run = windows,
				    .options = arguments,
				    .settings = &asked};
