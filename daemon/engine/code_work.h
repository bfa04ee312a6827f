/*
 * One analysis of compiled code (daemon/loops/code_analysis.h) at a time, on a thread of the loop's
 * pool: it may take some ten milliseconds, which nobody else on the loop is to wait for.
 *
 * Loop thread only. All zero is idle.
 */
#ifndef JXPERF_DAEMON_ENGINE_CODE_WORK_H
#define JXPERF_DAEMON_ENGINE_CODE_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/loops/code_analysis.h"

struct code_job;

struct code_work {
	struct code_job *job; /* NULL: idle */
};

/* What came of the code: error 0 with an analysis to be taken, or why there is none. From the loop;
 * the work is idle then. */
typedef void code_work_done(void *arg, uint32_t code, int error, struct code_analysis *analysis);

/* Begins with an image, which is taken and left empty; code is the caller's name for it. The work
 * must be idle. 0 or -errno, and then the image is the caller's. */
int code_work_start(struct code_work *w, uv_loop_t *loop, struct code_image *image, uint32_t code,
		    code_work_done *done, void *arg);

/* Nobody wants to know any more; what runs ends by itself. */
void code_work_forget(struct code_work *w);

#endif
