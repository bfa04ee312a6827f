#include "daemon/engine/code_work.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/cleanup.h"

struct code_job {
	uv_work_t work;
	struct code_work *owner; /* NULL: forgotten */
	struct code_image image;
	uint32_t code;
	code_work_done *done;
	void *arg;
	int error;
	const struct code_product *product;
	max_align_t made[];
};

static void analyse(uv_work_t *work)
{
	struct code_job *job = work->data;

	job->error = job->product->make(job->made, &job->image);
}

static void on_done(uv_work_t *work, int status)
{
	struct code_job *job = work->data;

	if (job->owner) {
		job->owner->job = NULL;
		job->done(job->arg, job->code, status < 0 ? status : job->error, job->made);
	}
	job->product->release(job->made);
	code_image_release(&job->image);
	free(job);
}

int code_work_start(struct code_work *w, uv_loop_t *loop, const struct code_product *product,
		    struct code_image *image, uint32_t code, code_work_done *done, void *arg)
{
	_cleanup_free_ struct code_job *job = calloc(1, sizeof(*job) + product->bytes);
	int r;

	assert(!w->job);
	if (!job)
		return -ENOMEM;
	*job = (struct code_job){.owner = w,
				 .image = *image,
				 .code = code,
				 .done = done,
				 .arg = arg,
				 .product = product};
	job->work.data = job;
	r = uv_queue_work(loop, &job->work, analyse, on_done);
	if (r < 0)
		return r;
	*image = (struct code_image){0};
	w->job = TAKE_PTR(job);
	return 0;
}

void code_work_forget(struct code_work *w)
{
	if (w->job)
		w->job->owner = NULL;
	w->job = NULL;
}
