#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/engine/sinks.h"
#include "profile/window/result.h"
#include "tests/unit/support/sample_findings.h"

/* What one sink heard, in words. */
struct listener {
	char heard[256];
};

static void note(struct listener *l, const char *what, const struct window_result *w)
{
	size_t used = strlen(l->heard);

	(void)snprintf(l->heard + used, sizeof(l->heard) - used, "%s %s;", what, w ? w->id : "-");
}

static void on_started(void *arg, const struct window_result *w)
{
	note(arg, "started", w);
}

static void on_progressed(void *arg, const struct window_result *w)
{
	note(arg, "progressed", w);
}

static void on_finished(void *arg, const struct window_result *w)
{
	note(arg, "finished", w);
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	assert_int_equal(error, ESRCH);
	assert_string_equal(message, "it is gone");
	note(arg, "failed", w);
}

static void on_strangers(void *arg, uint64_t total)
{
	assert_int_equal(total, 7);
	note(arg, "strangers", NULL);
}

static struct window_sink sink_of(struct listener *l)
{
	return (struct window_sink){.arg = l,
				    .started = on_started,
				    .progressed = on_progressed,
				    .finished = on_finished,
				    .failed = on_failed,
				    .strangers = on_strangers};
}

struct fixture {
	struct sinks sinks;
	struct listener all, one;
	struct window_result *first, *second;
};

/* One sink of all windows, one of the second only. */
static int set_up(void **state)
{
	static const struct window_request request;
	static struct fixture f;
	struct window_sink sink;

	f = (struct fixture){0};
	f.first = window_result_new(1, 42, &request, &sample_findings);
	f.second = window_result_new(2, 43, &request, &sample_findings);
	sink = sink_of(&f.all);
	sinks_add(&f.sinks, &sink, NULL);
	sink = sink_of(&f.one);
	sinks_add(&f.sinks, &sink, f.second);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	window_result_free(f->first);
	window_result_free(f->second);
	return 0;
}

static void tell_all(struct fixture *f)
{
	sinks_started(&f->sinks, f->first);
	sinks_started(&f->sinks, f->second);
	sinks_progressed(&f->sinks, f->second);
	sinks_finished(&f->sinks, f->second);
	sinks_failed(&f->sinks, f->first, ESRCH, "it is gone");
}

TEST(every_sink_hears_what_concerns_it, set_up, tear_down)
{
	struct fixture *f = *state;

	tell_all(f);
	assert_string_equal(f->all.heard,
			    "started w1;started w2;progressed w2;finished w2;failed w1;");
	assert_string_equal(f->one.heard, "started w2;progressed w2;finished w2;");
}

TEST(what_is_of_no_window_concerns_the_sinks_of_all, set_up, tear_down)
{
	struct fixture *f = *state;

	sinks_failed(&f->sinks, NULL, ESRCH, "it is gone");
	sinks_strangers(&f->sinks, 7);
	assert_string_equal(f->all.heard, "failed -;strangers -;");
	assert_string_equal(f->one.heard, "");
}

TEST(what_a_sink_does_not_want_to_hear_it_is_not_told, set_up, tear_down)
{
	struct fixture *f = *state;
	struct listener deaf = {""};
	struct window_sink sink = {.arg = &deaf, .finished = on_finished};

	sinks_add(&f->sinks, &sink, NULL);
	tell_all(f);
	sinks_strangers(&f->sinks, 7);
	assert_string_equal(deaf.heard, "finished w2;");
}

TEST(who_is_forgotten_hears_nothing_and_the_others_go_on, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_ptr_equal(sinks_forget(&f->sinks, &f->one), f->second);
	assert_null(sinks_forget(&f->sinks, &f->one));
	assert_null(
	    sinks_forget(&f->sinks, &f->all)); /* Of all windows: not for a client to say. */
	sinks_started(&f->sinks, f->second);
	assert_string_equal(f->one.heard, "");
	assert_string_equal(f->all.heard, "started w2;");
}

TEST(a_window_that_is_over_takes_its_own_sinks_along, set_up, tear_down)
{
	struct fixture *f = *state;

	sinks_forget_window(&f->sinks, f->first);
	assert_int_equal(f->sinks.count, 2);
	sinks_forget_window(&f->sinks, f->second);
	assert_int_equal(f->sinks.count, 1);
	sinks_started(&f->sinks, f->second);
	assert_string_equal(f->all.heard, "started w2;");
}

TEST(watchers_leave_room_for_windows, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_sink sink = {.arg = f};
	size_t watchers = 0;

	for (; sinks_can_watch(&f->sinks); watchers++)
		sinks_add(&f->sinks, &sink, f->first);
	assert_in_range(watchers, SINKS_WATCHERS_MAX, SINKS_WATCHERS_MAX + SINKS_OF_ALL_MAX);
	for (size_t i = 0; i < SINKS_OF_ONE_MAX; i++)
		sinks_add(&f->sinks, &sink, f->second);
	sinks_forget_window(&f->sinks, f->first);
	assert_true(sinks_can_watch(&f->sinks));
}
