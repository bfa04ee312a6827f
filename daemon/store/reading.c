#include "daemon/store/reading.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* While it is on the pool, cancelled is the loop's, result and err the pool's. */
struct reading {
	uv_work_t work;
	const char *path;
	struct reading_question question;
	bool cancelled;
	int result;
	struct err err;
};

int reading_now(const char *path, const struct reading_question *question, struct err *err)
{
	struct database *db = NULL;
	int r = database_open(path, DATABASE_READ, &db, err);

	if (r == 0)
		r = question->ask(question->arg, db, err);
	database_close(db);
	return r;
}

static void on_pool(uv_work_t *work)
{
	struct reading *r = work->data;

	r->result = reading_now(r->path, &r->question, &r->err);
}

static void on_asked(uv_work_t *work, int status)
{
	struct reading *r = work->data;

	(void)status; /* Nobody calls uv_cancel. */
	if (!r->cancelled)
		r->question.done(r->question.arg, r->result, r->err.message);
	r->question.release(r->question.arg);
	free(r);
}

int reading_start(struct reading **out, uv_loop_t *loop, const char *path,
		  const struct reading_question *question)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->work.data = r;
	r->path = path;
	r->question = *question;
	/* Fails only without a function to call. */
	(void)uv_queue_work(loop, &r->work, on_pool, on_asked);
	*out = r;
	return 0;
}

void reading_cancel(struct reading *r)
{
	if (r)
		r->cancelled = true;
}
