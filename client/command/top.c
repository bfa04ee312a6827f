/* jxperfctl top: running windows with what they found so far, and the JVMs of this machine, again
 * and again until q is pressed; once, and as plain text, where nobody looks at a terminal. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/command.h"
#include "client/command/findings.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/table.h"
#include "client/terminal/lines.h"
#include "client/terminal/screen.h"
#include "common/clock.h"

#define REDRAW_NS     NS_PER_S
#define JVMS_EVERY_NS (4 * NS_PER_S)
/* Of so many windows findings are asked for, one a second. */
#define FOLLOWED_MAX 16

/* A window whose findings are known, or why they are not. */
struct followed {
	char *window; /* NULL: a free place */
	uint64_t asked_ns;
	struct findings findings;
	char error[ERR_MESSAGE_MAX]; /* "" without one */
};

/* What was last heard. */
struct top {
	Jxp__ControlReply *status; /* or NULL */
	Jxp__ControlReply *jvms;   /* or NULL */
	uint64_t jvms_asked_ns;
	struct followed followed[FOLLOWED_MAX];
	char error[ERR_MESSAGE_MAX]; /* why there is no newer status, or "" */
};

static void forget(struct followed *f)
{
	free(f->window);
	findings_release(&f->findings);
	*f = (struct followed){0};
}

static void top_release(struct top *t)
{
	exchange_free_reply(&t->status);
	exchange_free_reply(&t->jvms);
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		forget(&t->followed[i]);
}

/* ---------------------------------------------------------------- asking */

static bool runs(const Jxp__Status *status, const char *window)
{
	for (size_t i = 0; i < status->n_running; i++)
		if (strcmp(status->running[i]->id, window) == 0)
			return true;
	return false;
}

/* NULL for one that is not known yet. */
static struct followed *followed_find(struct top *t, const char *window)
{
	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		if (t->followed[i].window && strcmp(t->followed[i].window, window) == 0)
			return &t->followed[i];
	return NULL;
}

/* Forgets windows that have ended, and makes room for new ones as far as there is some. */
static void follow_running(struct top *t, const Jxp__Status *status)
{
	size_t next = 0;

	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		if (t->followed[i].window && !runs(status, t->followed[i].window))
			forget(&t->followed[i]);
	for (size_t i = 0; i < status->n_running; i++) {
		if (followed_find(t, status->running[i]->id))
			continue;
		while (next < FOLLOWED_MAX && t->followed[next].window)
			next++;
		if (next < FOLLOWED_MAX)
			t->followed[next].window = strdup(status->running[i]->id); /* Or later. */
	}
}

/* 0, or -EINTR: what else goes wrong is shown in place of the findings. */
static int ask_for_findings(struct client *c, struct followed *f)
{
	struct findings findings;
	struct err err;
	int r = findings_ask(c, f->window, &findings, &err);

	f->asked_ns = clock_monotonic_ns();
	if (r < 0) {
		(void)snprintf(f->error, sizeof(f->error), "%s", err.message); /* As long. */
		return r == -EINTR ? r : 0;
	}
	findings_release(&f->findings);
	f->findings = findings;
	f->error[0] = '\0';
	return 0;
}

/* The one whose findings are oldest, if they are old at all. */
static int refresh_findings(struct client *c, struct top *t)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct followed *oldest = NULL;

	for (size_t i = 0; i < FOLLOWED_MAX; i++)
		if (t->followed[i].window &&
		    (!oldest || t->followed[i].asked_ns < oldest->asked_ns))
			oldest = &t->followed[i];
	if (!oldest ||
	    (oldest->asked_ns && now_ns - oldest->asked_ns < FINDINGS_EVERY_S * NS_PER_S))
		return 0;
	return ask_for_findings(c, oldest);
}

/* The last list is shown as long as there is no other. */
static int refresh_jvms(struct client *c, struct top *t)
{
	Jxp__ControlReply *reply = NULL;
	struct err err;
	int r;

	if (t->jvms && clock_monotonic_ns() - t->jvms_asked_ns < JVMS_EVERY_NS)
		return 0;
	r = which_jvm_list(c, &reply, &err);
	t->jvms_asked_ns = clock_monotonic_ns();
	if (r < 0)
		return r == -EINTR ? r : 0;
	exchange_free_reply(&t->jvms);
	t->jvms = reply;
	return 0;
}

static int refresh_status(struct client *c, struct top *t, struct err *err)
{
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	Jxp__ControlReply *reply = NULL;
	int r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_STATUS, &status, &reply, err);

	if (r < 0)
		return r;
	exchange_free_reply(&t->status);
	t->status = reply;
	follow_running(t, reply->status);
	return 0;
}

/* ---------------------------------------------------------------- lines */

static void findings_lines(struct lines *l, const struct followed *f, size_t width)
{
	char text[LINES_BYTES_MAX];

	if (!f) {
		lines_add(l, STYLE_QUIET, "  more windows run than are followed here");
		return;
	}
	findings_show(&f->findings, l, width);
	if (f->error[0]) {
		(void)snprintf(text, sizeof(text), "  %s", f->error); /* May be cut. */
		lines_add_folded(l, STYLE_QUIET, width, 2, text);
	}
}

static void window_lines(struct lines *l, struct top *t, const Jxp__WindowInfo *w, size_t width)
{
	const struct followed *f = followed_find(t, w->id);
	char cost[64] = "";

	if (f && f->findings.cost_known)
		(void)snprintf(cost, sizeof(cost), ", cost %.2f%% of its CPU time",
			       100 * f->findings.cost); /* Fits. */
	lines_add(l, STYLE_PLAIN, "%s", "");
	lines_add(l, STYLE_HEADING, "%s, pid %u, window %s", w->app, w->pid, w->id);
	lines_add(l, STYLE_PLAIN,
		  "  %.0f s of %.0f s, %" PRIu64 " sampled accesses, %" PRIu64 " pairs%s",
		  clock_s(w->elapsed_ns), clock_s(w->duration_ns), w->samples, w->traps, cost);
	findings_lines(l, f, width);
}

/* The first line is the table's headings. */
static void table_lines(struct lines *l, const struct table *table)
{
	size_t first = l->count, size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int r;

	if (!out) {
		l->failed = true;
		return;
	}
	r = table_print(table, out);
	if (fclose(out) != 0 || r < 0)
		l->failed = true;
	else
		lines_add_text(l, STYLE_PLAIN, text);
	free(text);
	if (l->count > first)
		l->rows[first].style = STYLE_HEADING;
}

static void jvm_lines(struct lines *l, const Jxp__JvmList *list)
{
	static const char *const headings[] = {"PID", "USER", "JDK", "GC", "STATE", "NAME", NULL};
	struct table table;

	lines_add(l, STYLE_PLAIN, "%s", "");
	if (list->n_jvms == 0) {
		lines_add(l, STYLE_QUIET, "No JVM runs here that you may look at.");
		return;
	}
	table_init(&table, headings);
	for (size_t i = 0; i < list->n_jvms; i++) {
		const Jxp__Jvm *jvm = list->jvms[i];
		const char *const cells[] = {jvm->user, jvm->jdk, jvm->gc, jvm->state,
					     jvm->app[0] ? jvm->app : jvm->name};

		table_cell(&table, "%u", jvm->pid);
		for (size_t cell = 0; cell < sizeof(cells) / sizeof(cells[0]); cell++)
			table_cell(&table, "%s", cells[cell][0] ? cells[cell] : "-");
	}
	table_lines(l, &table);
	table_release(&table);
}

/* All of it, for so many columns. live: somebody may press q. */
static void draw(struct lines *l, struct top *t, size_t width, bool live)
{
	const Jxp__Status *status = t->status->status;

	lines_add(l, STYLE_QUIET, "jxperfd %s, up %.0f s, %zu window%s running%s", status->version,
		  clock_s(status->uptime_ns), status->n_running, status->n_running == 1 ? "" : "s",
		  live ? "; q ends this view, windows go on" : "");
	if (t->error[0])
		lines_add_folded(l, STYLE_HEADING, width, 0, t->error);
	for (size_t i = 0; i < status->n_running; i++)
		window_lines(l, t, status->running[i], width);
	if (t->jvms)
		jvm_lines(l, t->jvms->jvms);
}

/* ---------------------------------------------------------------- the command */

/* 0, or -EINTR. A daemon that is gone may come back: until then the view says so. */
static int refresh_all(struct client *c, struct top *t)
{
	struct err err;
	int r = refresh_status(c, t, &err);

	if (r == -EINTR)
		return r;
	(void)snprintf(t->error, sizeof(t->error), "%s", r < 0 ? err.message : ""); /* As long. */
	if (r < 0)
		return 0;
	r = refresh_findings(c, t);
	return r < 0 ? r : refresh_jvms(c, t);
}

static void show(struct screen *screen, struct top *t)
{
	struct lines l = {0};

	draw(&l, t, terminal_width(STDOUT_FILENO), true);
	screen_draw(screen, &l);
	lines_release(&l);
}

/* A signal ends it as q does. */
static void look_on(struct client *c, struct top *t, struct screen *screen)
{
	enum screen_event event;

	do {
		uint64_t next_ns = clock_monotonic_ns() + REDRAW_NS;

		if (refresh_all(c, t) < 0)
			return;
		do {
			show(screen, t);
			event = screen_wait(screen, c->interrupt.fd, next_ns);
		} while (event == SCREEN_RESIZED);
	} while (event == SCREEN_TIME);
}

static int print_once(struct client *c, struct top *t, struct err *err)
{
	struct lines l = {0};
	bool failed;
	int r = 0;

	for (size_t i = 0; r == 0 && i < FOLLOWED_MAX && t->followed[i].window; i++)
		r = ask_for_findings(c, &t->followed[i]);
	if (r == 0)
		r = refresh_jvms(c, t);
	if (r < 0)
		return err_set(err, -r, "interrupted");
	client_release(c); /* Printing may take as long as somebody reads. */
	draw(&l, t, LINES_BYTES_MAX, false);
	lines_print(&l, stdout);
	failed = l.failed;
	lines_release(&l);
	return failed ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int top(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_(top_release) struct top t = {0};
	struct screen *screen = NULL;
	int r;

	(void)call; /* There are no operands. */
	if (c->json)
		return err_set(err, EINVAL,
			       "top is for people: use --json with 'status', 'windows' and 'list'");
	r = refresh_status(c, &t, err);
	if (r < 0)
		return r;
	if (terminal_understands(STDOUT_FILENO) && isatty(STDIN_FILENO))
		screen = screen_open(terminal_may_colour(STDOUT_FILENO, c->json));
	if (!screen)
		return print_once(c, &t, err);
	look_on(c, &t, screen);
	screen_close(screen);
	(void)interrupt_take(&c->interrupt); /* It has had its effect. */
	return 0;
}

const struct command cmd_top = {"top", "", "running windows and what they find, live", "",
				.run = top};
