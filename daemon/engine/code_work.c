#include "daemon/engine/code_work.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct code_job {
	struct pool_work work;
	struct code_work *owner;
	struct code_image image;
	uint32_t code;
	code_work_done *done;
	void *arg;
	const struct code_product *product;
	max_align_t made[];
};

static int analyse(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct code_job *job = arg;

	(void)cancelled; /* It does not take long. */
	(void)err;       /* Nobody reads a line of it. */
	return job->product->make(job->made, &job->image);
}

/* The next one may be begun from inside. */
static void on_analysed(void *arg, int result, const char *message)
{
	struct code_job *job = arg;

	(void)message;
	job->owner->job = NULL;
	job->done(job->arg, job->code, result, job->made);
}

static void release(void *arg)
{
	struct code_job *job = arg;

	job->product->release(job->made);
	code_image_release(&job->image);
	free(job);
}

int code_work_start(struct code_work *w, uv_loop_t *loop, const struct code_product *product,
		    struct code_image *image, uint32_t code, code_work_done *done, void *arg)
{
	static const struct pool_task task = {
	    .run = analyse, .done = on_analysed, .release = release};
	struct code_job *job = calloc(1, sizeof(*job) + product->bytes);

	assert(!w->job);
	if (!job)
		return -ENOMEM;
	*job = (struct code_job){.owner = w,
				 .image = *image,
				 .code = code,
				 .done = done,
				 .arg = arg,
				 .product = product};
	*image = (struct code_image){0};
	w->job = job;
	pool_work_start(&job->work, loop, &task, job);
	return 0;
}

void code_work_forget(struct code_work *w)
{
	if (w->job)
		pool_work_cancel(&w->job->work);
	w->job = NULL;
}
