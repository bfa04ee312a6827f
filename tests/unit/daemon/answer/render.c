#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/shares/shares.h"
#include "daemon/engine/history.h"
#include "report/report.h"
#include "profile/window/tables.h"
#include "daemon/answer/render.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"
#include "tests/unit/support/whole_report.h"

#define PAIRS      100
#define DEPTH      100
#define NAME_BYTES 500
#define ASKED      6

static const struct window_request request = {
    .kinds = {false, true}, .duration_ns = 30 * NS_PER_S, .budget = 0.01};

/* What became of one render. */
struct outcome {
	struct render *render;
	bool done;
	unsigned number; /* in the order of their ends */
	char window[WINDOW_ID_BYTES];
	char *text; /* NULL: it failed */
	char error[ERR_MESSAGE_MAX];
};

struct fixture {
	uv_loop_t loop;
	struct renders *renders;
	struct outcome outcomes[ASKED];
	unsigned ends;
};

static struct fixture f;

static int set_up(void **state)
{
	(void)state;
	f = (struct fixture){0};
	assert_int_equal(uv_loop_init(&f.loop), 0);
	f.renders = renders_new(&f.loop);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	renders_free(f.renders);
	loop_finish(&f.loop);
	for (size_t i = 0; i < ASKED; i++)
		free(f.outcomes[i].text);
	return 0;
}

/* Adds a pair with a context of its own below a node. */
static void add_pair(struct profile *p, uint32_t parent, int32_t line)
{
	struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE,
				.region = JXP__REGION__REGION_HEAP,
				.wasteful = true,
				.checked_bytes = 8};
	struct cct_node leaf = {.parent = parent, .line = line};

	assert_int_equal(cct_add_node(&p->cct, &leaf, &o.watch_node), 0);
	o.trap_node = o.watch_node;
	assert_int_equal(profile_add(p, &o), 0);
}

/* As a hostile agent makes it: deep contexts of long names, a report of 8 MiB that takes long. */
static struct window_result *large_window(unsigned number)
{
	struct window_result *w = window_result_new(number, 42, &request, &sample_findings);
	struct cct_method method = {0};
	struct cct_node node = {0};
	char name[NAME_BYTES];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strings_intern(&w->profile.strings, name, &method.class_name), 0);
	method.name = method.class_name;
	assert_int_equal(cct_add_method(&w->profile.cct, &method, &node.method), 0);
	for (int depth = 0; depth < DEPTH; depth++)
		assert_int_equal(cct_add_node(&w->profile.cct, &node, &node.parent), 0);
	window_result_start(w);
	for (int32_t i = 1; i <= PAIRS; i++)
		add_pair(&w->profile, node.parent, i);
	return w;
}

static struct window_result *finished_window(unsigned number)
{
	struct window_result *w = large_window(number);

	window_result_end(w, NULL);
	w->finished = true;
	return w;
}

static void on_done(void *arg, struct buffer *frame, int error, const char *reason)
{
	struct outcome *o = arg;
	Jxp__ControlReply *reply;
	const uint8_t *payload;
	int64_t size;

	assert_false(o->done);
	o->done = true;
	o->number = ++f.ends;
	if (!frame) {
		assert_true(error > 0);
		(void)snprintf(o->error, sizeof(o->error), "%s", reason);
		return;
	}
	size = frame_peek(frame, FRAME_MAX_REPLY, &payload);
	assert_true(size > 0);
	reply = jxp__control_reply__unpack(NULL, (size_t)size, payload);
	assert_non_null(reply);
	assert_int_equal(reply->protocol, PROTOCOL_VERSION);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_DOCUMENT);
	(void)snprintf(o->window, sizeof(o->window), "%s", reply->document->window);
	o->text = strndup((const char *)reply->document->text.data, reply->document->text.len);
	jxp__control_reply__free_unpacked(reply, NULL);
}

struct window_report {
	struct window_result *window; /* kept */
	struct report_wanted wanted;
};

/* One that runs goes on changing: its report is that of this moment. */
static int begin_report(void *arg, struct err *err)
{
	struct window_report *report = arg;
	struct window_result *still = window_result_still(report->window);

	if (!still)
		return err_set(err, ENOMEM, "out of memory for the report");
	window_result_free(report->window);
	report->window = still;
	return 0;
}

static int write_report(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
			size_t *size, const struct window_result **about, struct err *err)
{
	const struct window_report *report = arg;

	*about = report->window;
	return report_new_unless(cancelled, report->window, &report->wanted, max_bytes, text, size,
				 err);
}

static void release_report(void *arg)
{
	struct window_report *report = arg;

	window_result_free(report->window);
	free(report);
}

static struct outcome *ask_as(uid_t user, size_t i, const struct window_result *w, uint32_t pairs)
{
	struct outcome *o = &f.outcomes[i];
	struct window_report *report = calloc(1, sizeof(*report));
	const struct render_job job = {
	    .arg = report, .begin = begin_report, .write = write_report, .release = release_report};

	assert_non_null(report);
	*report = (struct window_report){window_result_keep(w),
					 {.format = JXP__FORMAT__FORMAT_JSON, .pairs = pairs}};
	assert_int_equal(render_start(&o->render, f.renders, user, &job, on_done, o), 0);
	return o;
}

static struct outcome *ask(size_t i, const struct window_result *w, uint32_t pairs)
{
	return ask_as(SHARES_ADMINS, i, w, pairs);
}

/* However long it takes, on a busy machine and with a sanitizer. */
static void await(const struct outcome *o)
{
	while (!o->done)
		(void)uv_run(&f.loop, UV_RUN_ONCE);
}

TEST(the_report_is_the_one_that_the_loop_would_have_written, set_up, tear_down)
{
	struct window_result *w = finished_window(3);
	struct outcome *o = ask(0, w, 3);
	struct err err;
	char *text;
	size_t size;

	assert_false(o->done); /* Never from inside the call. */
	await(o);
	assert_int_equal(
	    report_new(w, JXP__FORMAT__FORMAT_JSON, 3, FRAME_MAX_REPLY, &text, &size, &err), 0);
	assert_string_equal(o->text, text);
	assert_string_equal(o->window, "w3");
	free(text);
	window_result_free(w);
}

static void count_turn(uv_timer_t *timer)
{
	(*(unsigned *)timer->data)++;
}

TEST(the_loop_turns_while_a_large_report_is_written, set_up, tear_down)
{
	struct window_result *w = finished_window(1);
	struct outcome *o = ask(0, w, PAIRS);
	unsigned turns = 0;
	uv_timer_t timer;

	assert_int_equal(uv_timer_init(&f.loop, &timer), 0);
	timer.data = &turns;
	assert_int_equal(uv_timer_start(&timer, count_turn, 1, 1), 0);
	await(o);
	uv_close((uv_handle_t *)&timer, NULL);
	loop_settle(&f.loop);
	assert_in_range(strlen(o->text), 1u << 20, FRAME_MAX_REPLY);
	assert_true(turns >= 10);
	window_result_free(w);
}

/* A report that is nothing but its turn. */
struct turn {
	struct outcome *outcome;
	atomic_uint *begun;
	unsigned number; /* in the order in which they began */
};

static int begin_turn(void *arg, struct err *err)
{
	struct turn *turn = arg;

	(void)err;
	turn->number = atomic_fetch_add(turn->begun, 1) + 1;
	return 0;
}

static int write_turn(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
		      size_t *size, const struct window_result **about, struct err *err)
{
	(void)arg, (void)cancelled, (void)max_bytes, (void)text, (void)size, (void)about;
	return err_set(err, ENODATA, "nothing to write");
}

static void release_turn(void *arg)
{
	(void)arg;
}

static void ask_turn(struct turn *turn, size_t i, uid_t user)
{
	const struct render_job job = {
	    .arg = turn, .begin = begin_turn, .write = write_turn, .release = release_turn};

	turn->outcome = &f.outcomes[i];
	assert_int_equal(
	    render_start(&turn->outcome->render, f.renders, user, &job, on_done, turn->outcome), 0);
}

/* One user asks for four, then another and root for one each. */
TEST(a_user_has_one_report_written_at_a_time_and_root_is_next, set_up, tear_down)
{
	atomic_uint begun = 0;
	struct turn turns[ASKED];

	for (size_t i = 0; i < ASKED; i++) {
		const uid_t users[ASKED] = {1000, 1000, 1000, 1000, 1001, SHARES_ADMINS};

		turns[i] = (struct turn){.begun = &begun};
		ask_turn(&turns[i], i, users[i]);
	}
	for (size_t i = 0; i < ASKED; i++)
		await(turns[i].outcome);
	assert_int_equal(turns[0].number, 1);
	assert_int_equal(turns[4].number, 2); /* Beside the first. */
	assert_int_equal(turns[5].number, 3);
	assert_int_equal(turns[3].number, ASKED);
}

TEST(a_window_may_leave_the_history_while_its_report_is_written, set_up, tear_down)
{
	struct history history = {0};
	struct outcome *o;

	history_add(&history, finished_window(1));
	o = ask(0, history.windows[0], PAIRS);
	history_release(&history);
	await(o);
	assert_string_equal(o->window, "w1");
	assert_non_null(strstr(o->text, "xxx"));
}

TEST(the_report_of_a_window_that_runs_is_of_one_moment, set_up, tear_down)
{
	struct window_result *w = large_window(1);
	struct outcome *o = ask(0, w, PAIRS);
	uint32_t id;

	/* What comes meanwhile: it may move every array. */
	for (int32_t i = 1; i <= 5000 && !o->done; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "newcomer%d", i);
		assert_int_equal(strings_intern(&w->profile.strings, name, &id), 0);
		add_pair(&w->profile, 1, PAIRS + i);
		w->counters[JXP__COUNTER__COUNTER_TRAPS]++;
		if (i % 100 == 0)
			(void)uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	window_result_end(w, "it was detached on request");
	await(o);
	assert_non_null(strstr(o->text, "\"state\": \"running\""));
	assert_non_null(strstr(o->text, "\"traps\": 0"));
	window_result_free(w);
}

TEST(a_few_are_written_at_a_time_and_the_others_in_their_order, set_up, tear_down)
{
	struct window_result *w = finished_window(1);

	/* The last one is the shortest. */
	for (size_t i = 0; i < ASKED; i++)
		(void)ask(i, w, i + 1 < ASKED ? PAIRS / 4 : 1);
	for (size_t i = 0; i < ASKED; i++)
		await(&f.outcomes[i]);
	for (size_t i = RENDERS_MAX; i < ASKED;
	     i++) /* The others before it, but those beside it. */
		assert_true(f.outcomes[i].number >= i + 2 - RENDERS_MAX);
	window_result_free(w);
}

TEST(nobody_hears_of_a_report_that_is_cancelled, set_up, tear_down)
{
	struct window_result *w = finished_window(1);
	unsigned ended;

	for (size_t i = 0; i < ASKED; i++)
		(void)ask(i, w, PAIRS);
	window_result_free(w); /* The client went, and the window. */
	loop_settle(&f.loop);
	ended = f.outcomes[0].done; /* On a busy machine. */
	if (!ended)
		render_cancel(f.outcomes[0].render); /* on the pool */
	render_cancel(f.outcomes[3].render); /* waiting */
	render_cancel(f.outcomes[ASKED - 1].render);
	await(&f.outcomes[1]);
	await(&f.outcomes[2]);
	await(&f.outcomes[4]);
	loop_settle(&f.loop);
	assert_int_equal(f.ends, 3 + ended);
}

TEST(everything_may_go_while_reports_are_written, set_up, tear_down)
{
	struct window_result *w = finished_window(1);

	for (size_t i = 0; i < ASKED; i++)
		(void)ask(i, w, PAIRS);
	window_result_free(w);
	loop_settle(&f.loop);
	renders_free(f.renders);
	f.renders = NULL; /* tear_down runs the loop to its end. */
	assert_int_equal(f.ends, 0);
}

TEST(reports_wait_while_clients_do_not_read_theirs, set_up, tear_down)
{
	struct window_result *w = finished_window(1);
	struct outcome *o;

	assert_int_equal(renders_queued(f.renders, SHARES_ADMINS, RENDERS_UNREAD_MAX_BYTES), 0);
	o = ask(0, w, 1);
	loop_settle(&f.loop);
	assert_false(uv_loop_alive(&f.loop)); /* It has not begun. */
	renders_read(f.renders, SHARES_ADMINS, RENDERS_UNREAD_MAX_BYTES);
	await(o);
	assert_non_null(o->text);
	window_result_free(w);
}

/* Three users who do not read, two of them the longest reports that there are for them. */
TEST(what_others_do_not_read_is_in_nobodys_way, set_up, tear_down)
{
	struct window_result *w = finished_window(1);
	const size_t share = RENDERS_UNREAD_OF_USER_BYTES;
	struct outcome *theirs, *mine;
	struct err err;

	for (uid_t user = 1000; user < 1002; user++) {
		assert_int_equal(renders_take(f.renders, user, share - 1, &err), 0);
		assert_int_equal(renders_queued(f.renders, user, share), 0);
	}
	assert_int_equal(renders_take(f.renders, 1001, 1, &err), -EDQUOT);
	assert_non_null(strstr(err.message, "let 'jxperfctl' read them first"));
	theirs = ask_as(1000, 0, w, 1);
	mine = ask_as(1002, 1, w, 1);
	await(mine);
	assert_non_null(mine->text);
	assert_false(theirs->done);
	window_result_free(w);
}

TEST(a_users_report_is_no_longer_than_the_users_share, set_up, tear_down)
{
	struct window_result *w = large_window(1);
	struct outcome *users, *admins;

	for (int32_t i = 1; i <= 2 * PAIRS; i++)
		add_pair(&w->profile, DEPTH, PAIRS + i);
	window_result_end(w, NULL);
	w->finished = true;
	users = ask_as(1000, 0, w, 3 * PAIRS);
	admins = ask_as(SHARES_ADMINS, 1, w, 3 * PAIRS);
	await(users);
	await(admins);
	assert_in_range(strlen(users->text), 1, RENDERS_UNREAD_OF_USER_BYTES);
	assert_true(strlen(admins->text) > RENDERS_UNREAD_OF_USER_BYTES);
	window_result_free(w);
}
