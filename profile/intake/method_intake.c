#include "profile/intake/method_intake.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "proto/limits.h"

void method_intake_init(struct method_intake *in, struct window_result *result)
{
	*in = (struct method_intake){.result = result};
}

void method_intake_release(struct method_intake *in)
{
	agent_ids_release(&in->ids);
	free(in->announced);
	free(in->lines);
	method_intake_init(in, in->result);
}

static void lose(struct method_intake *in, enum loss loss)
{
	in->result->losses[loss]++;
}

/* Sorts failures into what is lost and counted (a limit: returns 0) and what ends the window. */
static int lost_or_failed(struct method_intake *in, int r, enum loss loss)
{
	if (r != -ENOSPC && r != -E2BIG)
		return r;
	lose(in, loss);
	return 0;
}

static bool acceptable_id(struct method_intake *in, uint32_t id)
{
	uint32_t known;

	if (id == 0)
		lose(in, LOSS_INVALID);
	else if (agent_ids_get(&in->ids, id, &known))
		lose(in, LOSS_REPEATED_IDS);
	else if (in->ids.count >= LIMIT_METHODS)
		lose(in, LOSS_METHODS);
	else
		return true;
	return false;
}

/* A name that does not fit is shown as "". */
static int intern(struct method_intake *in, const char *text, uint32_t *id)
{
	int r = strings_intern(&in->result->profile.strings, text, id);

	if (r < 0)
		*id = 0;
	return lost_or_failed(in, r, LOSS_STRINGS);
}

static int add_lines(struct method_intake *in, const Jxp__Method *m,
		     struct intake_method *announced)
{
	int r;

	if (m->n_lines > LIMIT_LINES || in->line_count + m->n_lines > INTAKE_LINES_MAX) {
		lose(in, LOSS_LINES);
		return 0;
	}
	r = array_reserve(&in->lines, &in->line_capacity, in->line_count + m->n_lines,
			  sizeof(*in->lines));
	if (r < 0)
		return r;
	announced->first_line = (uint32_t)in->line_count;
	announced->line_count = (uint32_t)m->n_lines;
	for (size_t i = 0; i < m->n_lines; i++)
		in->lines[in->line_count++] =
		    (struct line){.bci = m->lines[i]->bci, .line = m->lines[i]->line};
	return 0;
}

int method_intake_add(struct method_intake *in, const Jxp__Method *m)
{
	struct intake_method announced = {0};
	struct cct_method method;
	int r;

	if (!acceptable_id(in, m->id))
		return 0;
	if ((r = intern(in, m->class_name, &method.class_name)) < 0 ||
	    (r = intern(in, m->name, &method.name)) < 0 ||
	    (r = intern(in, m->file, &method.file)) < 0)
		return r;
	r = cct_add_method(&in->result->profile.cct, &method, &announced.method);
	if (r < 0)
		return lost_or_failed(in, r, LOSS_METHODS);
	r = add_lines(in, m, &announced);
	if (r < 0)
		return r;
	r = array_reserve(&in->announced, &in->announced_capacity, in->announced_count + 1,
			  sizeof(*in->announced));
	if (r < 0)
		return r;
	in->announced[in->announced_count] = announced;
	return agent_ids_add(&in->ids, m->id, (uint32_t)in->announced_count++);
}

bool method_intake_find(const struct method_intake *in, uint32_t id, uint32_t *position)
{
	return agent_ids_get(&in->ids, id, position);
}

uint32_t method_intake_name(const struct method_intake *in, uint32_t position)
{
	return in->announced[position].method;
}

/* The line of the last entry at or before bci. The table should ascend; if it does not, some line
 * of it is found. */
int32_t method_intake_line(const struct method_intake *in, uint32_t position, int32_t bci)
{
	const struct intake_method *m = &in->announced[position];
	const struct line *lines = in->lines + m->first_line;
	size_t behind = bci < 0 ? 0 : SEARCH_FIRST(i, m->line_count, lines[i].bci > bci);

	return behind > 0 && lines[behind - 1].line > 0 ? lines[behind - 1].line : -1;
}

size_t method_intake_memory_bytes(const struct method_intake *in)
{
	return agent_ids_memory_bytes(&in->ids) + in->announced_capacity * sizeof(*in->announced) +
	       in->line_capacity * sizeof(*in->lines);
}
