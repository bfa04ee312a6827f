/*
 * A real keeper of windows (daemon/store/keeper.h) in a throw-away directory, and the loop that it
 * works on.
 */
#ifndef JXPERF_TESTS_KEEPER_FIXTURE_H
#define JXPERF_TESTS_KEEPER_FIXTURE_H

#include <stdio.h>
#include <uv.h>

#include "daemon/store/keeper.h"
#include "tests/unit/support/test.h"
#include "tests/unit/support/tree_fixture.h"

/* The loop is turned for so long at most until something is so. */
#define PATIENCE_MS 20000

struct keeper_fixture {
	char directory[96];
	char path[128]; /* of the database in it */
	uv_loop_t loop;
	struct keeper *keeper; /* or NULL */
	struct window_sink sink;
	struct err err;
};

/* A directory of that name below the tree's. */
static inline void keeper_fixture_init(struct keeper_fixture *f, const char *name)
{
	*f = (struct keeper_fixture){.keeper = NULL};
	(void)snprintf(f->directory, sizeof(f->directory), "%s", tree_path(name));
	(void)snprintf(f->path, sizeof(f->path), "%s/windows.db", f->directory);
	assert_int_equal(uv_loop_init(&f->loop), 0);
}

/* With these settings and the directory of the fixture. */
static inline void keeper_fixture_open(struct keeper_fixture *f, struct keeper_settings settings)
{
	settings.directory = f->directory;
	assert_int_equal(keeper_new(&f->keeper, &f->loop, &settings, &f->err), 0);
	f->sink = keeper_sink(f->keeper);
}

/* As a daemon that ends: what waits is written. */
static inline void keeper_fixture_close(struct keeper_fixture *f)
{
	keeper_free(f->keeper);
	f->keeper = NULL;
	(void)uv_run(&f->loop, UV_RUN_DEFAULT);
}

static inline void keeper_fixture_release(struct keeper_fixture *f)
{
	if (f->keeper)
		keeper_fixture_close(f);
	assert_int_equal(uv_loop_close(&f->loop), 0);
}

static inline void on_patience(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

/* Turns the loop until the condition holds, and fails when that takes too long: the timer wakes a
 * loop on which nothing happens. */
#define TURN_UNTIL(f, condition)                                               \
	do {                                                                   \
		bool late_ = false;                                            \
		uv_timer_t patience_ = {.data = &late_};                       \
		(void)uv_timer_init(&(f)->loop, &patience_);                   \
		(void)uv_timer_start(&patience_, on_patience, PATIENCE_MS, 0); \
		while (!late_ && !(condition))                                 \
			(void)uv_run(&(f)->loop, UV_RUN_ONCE);                 \
		uv_close((uv_handle_t *)&patience_, NULL);                     \
		(void)uv_run(&(f)->loop, UV_RUN_NOWAIT);                       \
		assert_false(late_);                                           \
	} while (0)

#endif
