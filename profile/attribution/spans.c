#include "profile/attribution/spans.h"

#include <stdlib.h>

#include "common/array.h"

/* Further away it tells nothing, and code may be made to be slow. */
#define STEPS_MAX 64u

/* This is known while they are made. */
struct span_maker {
	struct spans *spans;
	const struct native_code *n;
	const struct span_anchor *anchors;
};

static int add(struct span_maker *m, uint32_t first, uint32_t place)
{
	struct spans *s = m->spans;
	int r;

	if (s->count > 0 && s->list[s->count - 1].place == place)
		return 0;
	r = array_reserve(&s->list, &s->capacity, s->count + 1, sizeof(*s->list));
	if (r == 0)
		s->list[s->count++] = (struct code_span){first, place};
	return r;
}

static bool tells(const struct span_maker *m, size_t at, bool of_objects)
{
	const struct span_anchor *a = &m->anchors[at];

	return a->place != SPAN_NO_PLACE && (!of_objects || a->of_object);
}

/* The nearest of [first, end), those before at first; end: there is none. */
static size_t nearest(const struct span_maker *m, size_t first, size_t end, size_t at,
		      bool of_objects)
{
	for (size_t d = 0; d < end - first && d <= STEPS_MAX; d++) {
		if (at >= first + d && at - d < end && tells(m, at - d, of_objects))
			return at - d;
		if (at + d < end && tells(m, at + d, of_objects))
			return at + d;
	}
	return end;
}

/* What tells of the end of the only block that leads to b, which comes before it. */
static uint32_t place_before(const struct span_maker *m, uint16_t b)
{
	uint16_t source = native_only_source(m->n, b);
	size_t end;

	if (source == FLOW_NO_BLOCK || source == FLOW_ROOT || source >= b)
		return SPAN_NO_PLACE;
	end = m->n->first_insn[source + 1];
	if (end == m->n->first_insn[source] || m->n->insns[end - 1].call)
		return SPAN_NO_PLACE;
	return spans_at(m->spans, m->n->insns[end - 1].offset);
}

/* Adds instructions with no call among them but the last; before: what tells where nothing else
 * does.
 */
static int add_run(struct span_maker *m, size_t first, size_t end, uint32_t before)
{
	bool of_objects = false;
	int r = 0;

	for (size_t i = first; i < end; i++)
		of_objects |= tells(m, i, true);

	for (size_t i = first; r == 0 && i < end; i++) {
		size_t at = nearest(m, first, end, i > first ? i - 1 : i, of_objects);

		r = add(m, m->n->insns[i].offset, at < end ? m->anchors[at].place : before);
	}
	return r;
}

static int add_block(struct span_maker *m, uint16_t b)
{
	size_t first = m->n->first_insn[b], end = m->n->first_insn[b + 1];
	uint32_t before = place_before(m, b);
	int r = 0;

	for (size_t i = first; r == 0 && i < end; i++)
		if (m->n->insns[i].call || i + 1 == end) {
			r = add_run(m, first, i + 1, before);
			before = SPAN_NO_PLACE;
			first = i + 1;
		}
	return r;
}

int spans_make(struct spans *s, const struct native_code *n, const struct span_anchor *anchors)
{
	struct span_maker m = {.spans = s, .n = n, .anchors = anchors};
	int r = 0;

	*s = (struct spans){0};
	for (unsigned b = 0; r == 0 && b < n->graph->block_count; b++)
		r = add_block(&m, (uint16_t)b);
	if (r < 0)
		spans_release(s);
	return r;
}

void spans_release(struct spans *s)
{
	free(s->list);
	*s = (struct spans){0};
}

uint32_t spans_at(const struct spans *s, uint32_t offset)
{
	size_t behind = SEARCH_FIRST(i, s->count, s->list[i].first > offset);

	return behind > 0 ? s->list[behind - 1].place : SPAN_NO_PLACE;
}
