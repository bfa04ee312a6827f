#include "daemon/serve/reports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/answer/selection.h"
#include "report/report.h"
#include "daemon/store/clock_trust.h"
#include "profile/window/tables.h"

/* What is asked for: the report of one selection, whose loops may be compared with another one's.
 */
struct asked {
	struct engine *engine;
	struct selection side[2];
	unsigned sides;
	struct report_wanted wanted;
};

/* ---------------------------------------------------------------- what is meant */

static int select_window(struct selection *s, const char *id, struct err *err)
{
	if (selection_number(id, &s->number))
		return 0;
	return window_absent(id, err);
}

/* wanted NULL: the window. */
static int add_side(struct asked *a, const struct connection *c, const char *window,
		    const Jxp__Selection *wanted, struct err *err)
{
	struct selection *s = &a->side[a->sides++];

	selection_init(s, connection_context(c)->store, connection_asker(c)->sees);
	return wanted && wanted->app[0] ? selection_ask(&s->windows.filter, wanted, err)
					: select_window(s, window, err);
}

static void release(void *arg)
{
	struct asked *a = arg;

	for (unsigned i = 0; i < a->sides; i++)
		selection_release(&a->side[i]);
	free(a);
}

/* ---------------------------------------------------------------- on the loop */

static int begin(void *arg, struct err *err)
{
	struct asked *a = arg;
	int r = 0;

	for (size_t i = 0; i < engine_window_count(a->engine) && r == 0; i++)
		for (unsigned j = 0; j < a->sides && r == 0; j++)
			r = selection_hold(&a->side[j], engine_window(a->engine, i));
	return r < 0 ? err_set(err, -r, "out of memory for the report") : 0;
}

/* ---------------------------------------------------------------- on the pool */

static int write_report(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
			size_t *size, const struct window_result **about, struct err *err)
{
	struct asked *a = arg;
	int r = selection_load(&a->side[0], cancelled, about, err);

	return r < 0 ? r
		     : report_new_unless(cancelled, *about, &a->wanted, max_bytes, text, size, err);
}

/* Can the loops of w be compared with those of another window? */
static int check_baseline(const struct window_result *w, const struct window_result *baseline,
			  struct err *err)
{
	const struct window_result *sides[] = {baseline, w};

	if (baseline->start_unix_ns >= clock_future_unix_ns())
		return err_set(err, EINVAL,
			       "window %s began later than now, by a clock that was set since: it "
			       "is no baseline",
			       baseline->id);
	for (size_t i = 0; i < 2; i++)
		if (!sides[i]->request.kinds[JXP__KIND__KIND_LOOPS])
			return err_set(err, EINVAL,
				       "window %s knows no loops, so there is nothing to compare: "
				       "use one of '--kinds loops'",
				       sides[i]->id);
	if (strcmp(w->app, baseline->app) != 0)
		return err_set(err, EINVAL,
			       "window %s is of '%s' and %s of '%s': a baseline is a window of the "
			       "same application",
			       w->id, w->app, baseline->id, baseline->app);
	return 0;
}

static int write_compared(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
			  size_t *size, const struct window_result **about, struct err *err)
{
	struct asked *a = arg;
	int r = selection_load(&a->side[0], cancelled, about, err);

	if (r == 0)
		r = selection_load(&a->side[1], cancelled, &a->wanted.baseline, err);
	if (r == 0)
		r = check_baseline(*about, a->wanted.baseline, err);
	return r < 0 ? r
		     : report_new_unless(cancelled, *about, &a->wanted, max_bytes, text, size, err);
}

/* ---------------------------------------------------------------- requests */

static struct asked *new_asked(struct connection *c)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (!a) {
		connection_fail(c, ENOMEM, "out of memory");
		return NULL;
	}
	a->engine = connection_context(c)->engine;
	return a;
}

typedef int asked_write_fn(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
			   size_t *size, const struct window_result **about, struct err *err);

/* Takes a; r: what was wrong with the request. */
static void send_job(struct connection *c, struct asked *a, asked_write_fn *write, int r,
		     const struct err *err)
{
	const struct render_job job = {
	    .arg = a, .begin = begin, .write = write, .release = release};

	if (r == 0) {
		connection_send_job(c, &job);
		return;
	}
	connection_fail(c, r == -ENOENT ? ENOENT : EINVAL, err->message);
	release(a);
}

static int add_baseline(struct asked *a, const struct connection *c,
			const Jxp__ReportRequest *request, struct err *err)
{
	if (a->side[0].number == 0)
		return err_set(err, EINVAL, "a baseline is for one window, not for many as one");
	if (request->format != JXP__FORMAT__FORMAT_TEXT &&
	    request->format != JXP__FORMAT__FORMAT_JSON)
		return err_set(err, EINVAL,
			       "loops are compared as text or JSON: use --format text or json");
	return add_side(a, c, request->baseline, NULL, err);
}

void reports_send_report(struct connection *c, const Jxp__ReportRequest *request)
{
	struct asked *a = new_asked(c);
	struct err err;
	int r;

	if (!a)
		return;
	r = report_check_format(request->format, &err);
	if (r == 0)
		r = report_wanted_set(&a->wanted, request->format, request->pairs, request->view,
				      request->regions, request->n_regions, &err);
	a->wanted.all_frames = request->all_frames;
	a->wanted.columns = request->columns;
	if (r == 0)
		r = add_side(a, c, request->window, request->merged, &err);
	if (r == 0 && request->baseline[0])
		r = add_baseline(a, c, request, &err);
	send_job(c, a, a->sides == 2 ? write_compared : write_report, r, &err);
}

void reports_send_window(struct connection *c, const struct window_result *w,
			 const struct report_wanted *wanted)
{
	struct asked *a = new_asked(c);

	if (!a)
		return;
	a->wanted = *wanted;
	a->sides = 1;
	selection_init(&a->side[0], NULL, PROC_ANY_UID); /* It is the asker's own. */
	a->side[0].number = w->number;
	if (selection_hold(&a->side[0], w) < 0) {
		connection_fail(c, ENOMEM, "out of memory for the report");
		release(a);
		return;
	}
	send_job(c, a, write_report, 0, NULL);
}
