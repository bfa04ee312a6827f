#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "daemon/shares/pool_work.h"
#include "tests/unit/support/loop_helper.h"

#define POOL_THREADS 4 /* libuv's, when nobody says otherwise */

struct outcome {
	unsigned runs, done, released;
	atomic_bool running;
	int result;
	char message[ERR_MESSAGE_MAX];
};

/* On the heap, as a user's: a sanitizer sees who touches it after its release. */
struct job {
	struct pool_work work;
	struct outcome *outcome;
};

static uv_loop_t loop;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	loop_finish(&loop);
	return 0;
}

static int say_nothing_is_there(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct job *job = arg;

	(void)cancelled;
	job->outcome->runs++;
	return err_set(err, ENODATA, "there is nothing");
}

static int run_until_cancelled(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct job *job = arg;

	(void)err;
	job->outcome->runs++;
	atomic_store(&job->outcome->running, true);
	while (!atomic_load(cancelled))
		(void)nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	return 0;
}

static void on_done(void *arg, int result, const char *message)
{
	struct outcome *o = ((struct job *)arg)->outcome;

	assert_int_equal(o->released, 0);
	o->done++;
	o->result = result;
	(void)snprintf(o->message, sizeof(o->message), "%s", message);
}

static void release(void *arg)
{
	struct job *job = arg;

	job->outcome->released++;
	free(job);
}

static const struct pool_task failing = {
    .run = say_nothing_is_there, .done = on_done, .release = release};
static const struct pool_task endless = {
    .run = run_until_cancelled, .done = on_done, .release = release};

static struct pool_work *start(struct outcome *o, const struct pool_task *task)
{
	struct job *job = calloc(1, sizeof(*job));

	assert_non_null(job);
	job->outcome = o;
	pool_work_start(&job->work, &loop, task, job);
	return &job->work;
}

TEST(the_loop_is_told_what_came_of_it_and_then_it_is_released, set_up, tear_down)
{
	struct outcome o = {0};

	(void)start(&o, &failing);
	assert_int_equal(o.done, 0); /* Never from inside the call. */
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.result, -ENODATA);
	assert_string_equal(o.message, "there is nothing");
	assert_int_equal(o.released, 1);
}

TEST(work_on_the_pool_sees_that_it_is_cancelled_and_nobody_hears_of_it, set_up, tear_down)
{
	struct outcome o = {0};
	struct pool_work *w = start(&o, &endless);

	while (!atomic_load(&o.running))
		(void)uv_run(&loop, UV_RUN_NOWAIT);
	pool_work_cancel(w);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.done, 0);
	assert_int_equal(o.released, 1);
}

TEST(work_that_waits_for_a_thread_is_not_begun_once_it_is_cancelled, set_up, tear_down)
{
	struct outcome busy[POOL_THREADS] = {0}, o = {0};
	struct pool_work *threads[POOL_THREADS];

	for (size_t i = 0; i < POOL_THREADS; i++)
		threads[i] = start(&busy[i], &endless);
	for (size_t i = 0; i < POOL_THREADS; i++)
		while (!atomic_load(&busy[i].running))
			(void)uv_run(&loop, UV_RUN_NOWAIT);
	pool_work_cancel(start(&o, &failing));
	for (size_t i = 0; i < POOL_THREADS; i++)
		pool_work_cancel(threads[i]);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(o.runs, 0);
	assert_int_equal(o.done, 0);
	assert_int_equal(o.released, 1);
	pool_work_cancel(NULL);
}
