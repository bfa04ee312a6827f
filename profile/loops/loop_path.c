#include "profile/loops/loop_mapping.h"

#include <limits.h>

static bool same_step(const struct mapped_step *a, const struct mapped_step *b)
{
	return a->method == b->method && a->loop == b->loop && a->calls == b->calls;
}

unsigned loop_path_common(const struct loop_path *a, const struct loop_path *b)
{
	unsigned i = 0;

	while (i < a->length && i < b->length && same_step(&a->steps[i], &b->steps[i]))
		i++;
	return i;
}

void loop_common_meet(struct loop_common *c, const struct loop_path *path)
{
	if (c->any)
		c->path.length = loop_path_common(&c->path, path);
	else
		c->path = *path;
	c->any = true;
}

bool loop_path_same(const struct loop_path *a, const struct loop_path *b)
{
	return a->length == b->length && loop_path_common(a, b) == a->length;
}

/* Records looked at for what is left over: their number is not linear in what the code has. */
#define LOOKS_MAX (1u << 19)

bool loop_mapping_may_look(struct loop_mapping *m)
{
	m->looks += m->native->image->record_count + 1;
	return m->looks < LOOKS_MAX;
}

/* Its variables go the other way, or one of both fills an array and the other does not. */
static bool is_another(const struct bytecode_loop *b, const struct loop_hint *hint)
{
	if (hint->stores ? !b->stores : b->fills)
		return true;
	return hint->down ? b->up && !b->down : b->down && !b->up;
}

static void choose(const struct loop_mapping *m, struct loop_choice *c,
		   const struct loop_path *path, unsigned length)
{
	const struct mapped_step *is = &path->steps[length - 1];
	const struct mapped_step *was = &c->path.steps[c->path.length ? c->path.length - 1 : 0];

	if (c->count > 0 && is->method == was->method && is->loop == was->loop)
		return;
	if (c->hint && is_another(&m->methods[is->method].loops[is->loop], c->hint))
		return;
	c->path = *path;
	c->path.length = length;
	c->count++;
}

void loop_choose_inside(struct loop_mapping *m, const struct loop_path *around,
			struct loop_choice *c)
{
	const struct code_image *image = m->native->image;
	struct loop_path path;

	if (!loop_mapping_may_look(m)) {
		c->count = UINT_MAX;
		return;
	}
	for (size_t r = 0; r < image->record_count; r++) {
		const struct loop_path *place = &m->places[r];

		if (place->length > around->length &&
		    loop_path_common(around, place) == around->length)
			choose(m, c, place, around->length + 1);
		for (unsigned l = 2; around->length == 0 && l <= place->length; l++)
			choose(m, c, place, l);
	}
	path = *around;
	if (path.length == MAPPING_DEPTH_MAX)
		return;
	path.length++;
	if (around->length == 0) {
		for (size_t k = 0; k < image->method_count; k++)
			for (uint32_t l = 0; l < m->methods[k].loop_count; l++) {
				path.steps[0] =
				    (struct mapped_step){.method = (uint32_t)k, .loop = l};
				choose(m, c, &path, 1);
			}
		return;
	}
	path.steps[around->length] = path.steps[around->length - 1];
	const struct mapped_step *outer = &around->steps[around->length - 1];
	const struct bytecode *b = &m->methods[outer->method];
	for (uint32_t l = 0; l < b->loop_count; l++) {
		path.steps[around->length].loop = l;
		if (b->loops[l].parent == outer->loop)
			choose(m, c, &path, path.length);
	}
}

const struct loop_path *loop_mapping_around(struct loop_mapping *m, unsigned loop)
{
	const struct loop_path *path = &m->loops[loop], *turns = &m->turns[loop];
	struct loop_choice c = {0};

	if (loop == FLOW_NO_LOOP)
		return path;
	if (path->length == 0)
		return NULL;
	if (turns->length <= path->length || loop_path_common(path, turns) < path->length)
		return path;
	/* Others beside the one it is as well may be in it, too. */
	loop_choose_inside(m, path, &c);
	return c.count == 1 && turns->length == path->length + 1 ? turns : NULL;
}

const struct bytecode_loop *loop_mapping_find(const struct loop_mapping *m, unsigned loop,
					      uint32_t *method)
{
	const struct loop_path *path = &m->loops[loop];
	const struct mapped_step *last;

	if (path->length == 0)
		return NULL;
	last = &path->steps[path->length - 1];
	*method = last->method;
	return &m->methods[last->method].loops[last->loop];
}
