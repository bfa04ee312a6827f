#include "daemon/shares/pool_work.h"

#include <errno.h>

static void on_pool(uv_work_t *request)
{
	struct pool_work *w = request->data;

	w->result =
	    atomic_load(&w->cancelled) ? -ECANCELED : w->task->run(w->arg, &w->cancelled, &w->err);
}

static void on_over(uv_work_t *request, int status)
{
	struct pool_work *w = request->data;

	(void)status; /* Nobody calls uv_cancel. */
	if (!atomic_load(&w->cancelled))
		w->task->done(w->arg, w->result, w->err.message);
	w->task->release(w->arg);
}

void pool_work_start(struct pool_work *w, uv_loop_t *loop, const struct pool_task *task, void *arg)
{
	w->request.data = w;
	w->task = task;
	w->arg = arg;
	/* Fails only without a function to call. */
	(void)uv_queue_work(loop, &w->request, on_pool, on_over);
}

void pool_work_cancel(struct pool_work *w)
{
	if (w)
		atomic_store(&w->cancelled, true);
}
