/* A window that takes in what an agent sends (sample_batch.h). */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_INTAKE_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_INTAKE_H

#include "profile/intake/intake.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"

struct sample_intake {
	struct window_result *window;
	struct intake intake;
	struct sample_batch sample;
};

static inline void sample_intake_begin(struct sample_intake *s,
				       const struct window_request *request)
{
	*s = (struct sample_intake){0};
	s->window = window_result_new(1, 42, request, &sample_findings);
	window_result_start(s->window);
	intake_init(&s->intake, s->window);
	sample_batch_init(&s->sample);
}

static inline void sample_intake_end(struct sample_intake *s)
{
	intake_release(&s->intake);
	window_result_free(s->window);
}

/* Applies the batch and empties it. */
static inline void sample_intake_apply(struct sample_intake *s)
{
	assert_int_equal(intake_batch(&s->intake, &s->sample.batch), 0);
	jxp__batch__init(&s->sample.batch);
}

/* Ticks in compiled code, of 5 ms each. */
static inline void sample_intake_ticks(struct sample_intake *s, uint32_t node, uint64_t code,
				       uint32_t offset, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct event_tick *tick =
		    sample_event(&s->sample.events, &s->sample.batch, EVENT_TICK);

		tick->state = JXP__CPU_SAMPLE__STATE__COMPILED;
		tick->node = node;
		tick->cpu_ns = 5000000;
		tick->code = code;
		tick->offset = offset;
	}
	sample_intake_apply(s);
}

static inline void sample_intake_image(struct sample_intake *s, Jxp__CodeImage **image)
{
	s->sample.batch.codes = image;
	s->sample.batch.n_codes = 1;
	sample_intake_apply(s);
}

#endif
