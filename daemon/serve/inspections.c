#include "daemon/serve/inspections.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/shares/shares.h"
#include "proto/failure.h"

struct inspection {
	struct inspections *all;
	struct inspection *next;
	struct window_asker asker;
	int pid;
	bool begun;
	struct inspector_answer *answer; /* once it has begun */
	inspector_answer_done_fn done;   /* NULL: the client has left */
	void *arg;
};

struct inspections {
	uv_loop_t *loop;
	struct broker_client *broker;
	struct shares begun;
	struct inspection *first; /* oldest first: those that have begun and those that wait */
};

static void begin_next(struct inspections *all);

static void take_out(struct inspection *i)
{
	struct inspection **at = &i->all->first;

	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	if (i->begun)
		shares_give(&i->all->begun, i->asker.sees, 1);
	inspector_answer_free(i->answer);
	free(i);
}

static void on_answer(void *arg, Jxp__ControlReply *answer)
{
	struct inspection *i = arg;
	struct inspections *all = i->all;
	inspector_answer_done_fn done = i->done;
	void *done_arg = i->arg;

	take_out(i);
	if (done)
		done(done_arg, answer);
	begin_next(all);
}

static void begin(struct inspection *i)
{
	const struct broker_request question = {.pid = i->pid, .owner = i->asker.sees};
	struct failure_reply failure;
	struct err err;

	i->begun = true;
	if (inspector_answer_new(&i->answer, i->all->loop, i->all->broker, &question, on_answer, i,
				 &err) == 0)
		return;
	failure_reply_init(&failure, err.message, false);
	on_answer(i, &failure.reply);
}

/* One at a time: the list may be another one after each. */
static void begin_next(struct inspections *all)
{
	struct inspection *i = all->first;

	while (i && (i->begun || shares_take(&all->begun, i->asker.sees, 1, NULL) < 0))
		i = i->next;
	if (!i)
		return;
	begin(i);
	begin_next(all);
}

struct inspections *inspections_new(uv_loop_t *loop, struct broker_client *broker)
{
	/* Administrators are limited by the sum alone. */
	static const struct share_limits begun = {.things = "looks at processes",
						  .advice = "wait until they are over",
						  .all = INSPECTIONS_MAX,
						  .of_user = 1};
	struct inspections *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	*all = (struct inspections){.loop = loop, .broker = broker};
	shares_init(&all->begun, &begun);
	return all;
}

void inspections_free(struct inspections *all)
{
	if (!all)
		return;
	while (all->first)
		take_out(all->first);
	shares_release(&all->begun);
	free(all);
}

int inspections_ask(struct inspection **out, struct inspections *all,
		    const struct window_asker *asker, int pid, inspector_answer_done_fn done,
		    void *arg)
{
	struct inspection *i = calloc(1, sizeof(*i)), **last = &all->first;

	if (!i)
		return -ENOMEM;
	*i = (struct inspection){.all = all, .asker = *asker, .pid = pid, .done = done, .arg = arg};
	while (*last)
		last = &(*last)->next;
	*last = i;
	*out = i;
	begin_next(all);
	return 0;
}

void inspection_forget(struct inspection *i)
{
	if (!i)
		return;
	if (i->begun)
		i->done = NULL;
	else
		take_out(i);
}
