/*
 * One analysis of compiled code at a time, on a thread of the loop's pool: it may take some ten
 * milliseconds, which nobody else on the loop is to wait for.
 *
 * Loop thread only. All zero is idle.
 */
#ifndef JXPERF_DAEMON_ENGINE_CODE_WORK_H
#define JXPERF_DAEMON_ENGINE_CODE_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/shares/pool_work.h"
#include "profile/loops/code_image.h"

struct code_job;

struct code_work {
	struct code_job *job; /* NULL: idle */
};

/* What is made of an image. */
struct code_product {
	size_t bytes; /* of a product, which begins as zeros */
	/* On a thread of the pool. 0 or -errno; the image may be taken. */
	int (*make)(void *product, struct code_image *image);
	void (*release)(void *product);
};

/* What came of the code: error 0 with a product, whose content may be taken (then it is to be left
 * as zeros), or why there is none. From the loop; the work is idle then. */
typedef void code_work_done(void *arg, uint32_t code, int error, void *product);

/* Begins with an image, which is taken and left empty; code is the caller's name for it. The work
 * must be idle. 0 or -ENOMEM, and then the image is the caller's. */
int code_work_start(struct code_work *w, uv_loop_t *loop, const struct code_product *product,
		    struct code_image *image, uint32_t code, code_work_done *done, void *arg);

/* Nobody wants to know any more; what runs ends by itself. */
void code_work_forget(struct code_work *w);

#endif
