#include "profile/intake/code_requests.h"

#include <errno.h>
#include <string.h>

#include "profile/intake/code_intake.h"

void code_requests_release(struct code_requests *q)
{
	for (size_t i = 0; i < q->image_count; i++)
		code_image_release(&q->images[i]);
	*q = (struct code_requests){0};
}

void code_requests_ask(struct code_requests *q, struct wanted_code *code)
{
	code->state = CODE_ASKED;
	q->asked++;
	q->open++;
}

static void give_up(struct code_requests *q, struct wanted_code *code)
{
	code->state = CODE_GONE;
	q->open--;
}

int code_requests_image(struct code_requests *q, const struct method_intake *methods,
			struct wanted_code *code, const Jxp__CodeImage *m, uint64_t *lost)
{
	int r = 0;

	/* As the agent's counters say. */
	if (!m->error[0]) {
		r = code_intake_image(methods, m, &q->images[q->image_count], &code->announced,
				      lost);
		*lost += r == -EBADMSG;
	}
	if (m->error[0] || r < 0) {
		give_up(q, code);
		return r == -EBADMSG ? 0 : r;
	}
	q->image_count++;
	code->state = CODE_HERE;
	return 1;
}

bool code_requests_take(struct code_requests *q, struct code_image *image, uint64_t *number)
{
	if (q->image_count == 0)
		return false;
	*image = q->images[0];
	*number = image->code;
	q->image_count--;
	memmove(q->images, q->images + 1, q->image_count * sizeof(q->images[0]));
	return true;
}

void code_requests_done(struct code_requests *q, struct wanted_code *code, int error,
			uint64_t *lost)
{
	if (error < 0) {
		*lost += error == -E2BIG;
		give_up(q, code);
		return;
	}
	code->state = CODE_KNOWN;
	q->open--;
}

size_t code_requests_memory_bytes(const struct code_requests *q)
{
	size_t bytes = 0;

	for (size_t i = 0; i < q->image_count; i++)
		bytes += code_image_memory_bytes(&q->images[i]);
	return bytes;
}
