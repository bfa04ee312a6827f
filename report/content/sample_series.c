#include "report/content/sample_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "compare/side.h"
#include "proto/words.h"
#include "report/content/names.h"

/* Exact as a double, and far above what is true. */
#define VALUE_MAX 9e15

/* By pair_waste: between the two contexts of a pair, the outer one's leaf above it. */
static const char *const between[] = {
    [PAIR_WASTE_OVERWRITTEN] = "[overwrites, unread, what was stored by]",
    [PAIR_WASTE_SAME_VALUE] = "[and then the same value again by]",
};

static int64_t value_of(double estimate)
{
	return (int64_t)fmin(fmax(round(estimate), 0), VALUE_MAX);
}

static void label(struct series_sample *s, const char *key, const char *text)
{
	if (text[0])
		s->labels[s->label_count++] = (struct sample_label){key, text};
}

/* ---------------------------------------------------------------- series */

struct sample_period sample_period_of(const struct report_model *m)
{
	uint64_t period = m->period.effective ? m->period.effective : m->period.asked;

	return m->period.operations
		   ? (struct sample_period){"memory_operations", "operations", period}
		   : (struct sample_period){"cpu", "nanoseconds", period};
}

static struct sample_value *add_value(struct sample_series *s, const char *unit,
				      struct sample_period period)
{
	struct sample_value *v = &s->values[s->value_count++];

	v->unit = unit;
	v->period = period;
	return v;
}

static struct sample_series series_of_kind(const struct report_model *m,
					   const struct report_kind *k)
{
	struct sample_series s = {.kind = k->kind->name, .of_kind = k, .rows = k->pairs.count};
	struct sample_period period = sample_period_of(m);
	struct sample_value *v = add_value(&s, "bytes", period);

	(void)snprintf(s.of, sizeof(s.of), "pairs of %s", k->kind->title);   /* Fits. */
	(void)snprintf(v->type, sizeof(v->type), "%s_bytes", k->kind->name); /* Fits. */
	if (k->cpu.known) {
		v = add_value(&s, "nanoseconds", period);
		(void)snprintf(v->type, sizeof(v->type), "%s_cpu", k->kind->name); /* Fits. */
	}
	return s;
}

static struct sample_series series_of_sites(const struct report_model *m)
{
	const char *unit = m->objects.unit;
	struct sample_series s = {
	    .kind = "objects", .of = "allocation sites", .rows = m->objects.ranking.count};
	struct sample_value *v =
	    add_value(&s, strcmp(unit, "ns") == 0 ? "nanoseconds" : unit, sample_period_of(m));

	(void)snprintf(v->type, sizeof(v->type), "object_accesses");
	v = add_value(&s, "bytes",
		      (struct sample_period){"space", "bytes", m->window->object_interval});
	(void)snprintf(v->type, sizeof(v->type), "object_bytes");
	return s;
}

/* As profiles of CPU time that Go programs write are called, so that readers know which number is a
 * count of samples. */
static struct sample_series series_of_ticks(const struct report_model *m)
{
	struct sample_series s = {.kind = "cpu",
				  .of = "calling contexts of ticks",
				  .rows = m->cpu.ranking.context_count,
				  .rows_beside = 2};
	struct sample_value *v = add_value(&s, "count", sample_period_of(m));

	(void)snprintf(v->type, sizeof(v->type), "samples");
	v = add_value(&s, "nanoseconds", sample_period_of(m));
	(void)snprintf(v->type, sizeof(v->type), "cpu");
	return s;
}

size_t sample_series_list(const struct report_model *m,
			  struct sample_series series[SAMPLE_SERIES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < m->kind_count && m->shown.pairs; i++)
		series[count++] = series_of_kind(m, &m->kinds[i]);
	if (m->objects.tracked)
		series[count++] = series_of_sites(m);
	if (m->cpu.taken)
		series[count++] = series_of_ticks(m);
	return count;
}

/* ---------------------------------------------------------------- rows */

/* "" for what has no name. */
static void name_field(struct series_row *row, const struct profile *p, uint32_t location)
{
	struct place_names place = place_names(p, location);
	size_t size = sizeof(row->field);

	row->field[0] = '\0';
	switch (place.kind) {
	case JXP__LOCATION__KIND__FIELD: /* A field is of the class that declares it, as in
					    by_location. */
		(void)snprintf(row->field, size, "%s.%s", place.owner, place.field);
		break;
	case JXP__LOCATION__KIND__STATIC:
		(void)snprintf(row->field, size, "%s.%s", place.class_name, place.field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		(void)snprintf(row->field, size, "element of %s", place.class_name);
		break;
	case JXP__LOCATION__KIND__HEADER:
		(void)snprintf(row->field, size, "header of %s", place.class_name);
		break;
	case JXP__LOCATION__KIND__SPILL:
	case JXP__LOCATION__KIND__STACK:
		(void)snprintf(row->field, size, "%s", name_of_location(place.kind));
		break;
	default:
		break;
	}
}

static void pair_row(const struct report_model *m, const struct report_kind *k, size_t number,
		     struct series_row *row)
{
	const struct pair *pair = &k->pairs.pairs[number].sum;
	uint32_t leaf = pair_removable_node(pair);
	struct series_sample *s = &row->samples[row->count++];

	s->stack = (struct sample_stack){.leaf = leaf,
					 .between = between[k->kind->waste],
					 .outer = leaf == pair->watch_node ? pair->trap_node
									   : pair->watch_node};
	s->values[0] = value_of((double)pair->wasteful_bytes);
	if (k->cpu.known)
		s->values[1] = value_of(pair->cpu.ns);
	name_field(row, &m->window->profile, pair->location);
	label(s, "kind", k->kind->name);
	label(s, "region", name_of_region((Jxp__Region)pair->region));
	label(s, "field", row->field);
}

/* Where they are allocated. */
static void site_row(const struct report_model *m, size_t number, struct series_row *row)
{
	const struct object_site *site = &m->objects.ranking.sites[number].sum;
	struct series_sample *s = &row->samples[row->count++];

	s->stack.leaf = site->node;
	s->values[0] = value_of(site->metric);
	s->values[1] = value_of(site->alloc_bytes);
	label(s, "kind", "objects");
	label(s, "class", strings_get(&m->window->profile.strings, site->class_name));
}

/* One sample for each sort of code that the leaf was in. */
static void context_row(const struct report_model *m, size_t number, struct series_row *row)
{
	static const char *const code[CPU_CODES] = {[CPU_COMPILED] = "compiled",
						    [CPU_INTERPRETED] = "interpreted",
						    [CPU_NATIVE] = "native",
						    [CPU_KERNEL] = "kernel"};
	const struct cpu_context *c = &m->cpu.ranking.contexts[number];
	/* The part of its time that is the program's. */
	const double own = window_result_own_part(m->window);

	for (size_t i = 0; i < CPU_CODES; i++) {
		struct series_sample *s = &row->samples[row->count];

		if (c->code[i].samples == 0)
			continue;
		row->count++;
		s->stack.leaf = c->node;
		s->values[0] = value_of((double)c->code[i].samples);
		s->values[1] = value_of(own * c->code[i].ns);
		label(s, "kind", "cpu");
		label(s, "code", code[i]);
	}
}

/* The JVM's own threads have no ticks: they get as many as their CPU time would have made, as in
 * collapsed stacks. */
static void beside_row(const struct report_model *m, size_t number, struct series_row *row)
{
	const struct window_result *w = m->window;
	double seen_ns = number == 0 ? w->cpu.beside.gc_ns : w->cpu.beside.jit_ns;
	double ns = window_result_beside_ns(w, seen_ns);
	struct series_sample *s = &row->samples[0];

	s->values[0] = value_of(cpu_profile_ticks_of(&w->cpu, ns));
	s->values[1] = value_of(window_result_own_part(w) * ns);
	if (s->values[0] == 0)
		return;
	s->stack.frame = number == 0 ? COMPARE_GC : COMPARE_COMPILERS;
	label(s, "kind", "cpu");
	row->count = 1;
}

void sample_series_row(const struct report_model *m, const struct sample_series *s, size_t row,
		       struct series_row *out)
{
	memset(out->samples, 0, sizeof(out->samples));
	out->count = 0;
	if (s->of_kind)
		pair_row(m, s->of_kind, row, out);
	else if (s->rows_beside == 0)
		site_row(m, row, out);
	else if (row < s->rows)
		context_row(m, row, out);
	else
		beside_row(m, row - s->rows, out);
}

size_t sample_stack_frames(const struct report_model *m, const struct sample_stack *stack)
{
	const struct cct *cct = &m->window->profile.cct;
	size_t own = stack->leaf ? cct_depth(cct, stack->leaf) : 1;
	size_t outer = stack->outer ? cct_depth(cct, stack->outer) : 1;

	if (stack->frame)
		return 1;
	return stack->between ? own + 1 + outer : own;
}

/* ---------------------------------------------------------------- the heaviest */

bool sample_series_has(const struct report_model *m, const struct sample_series *s, size_t value)
{
	struct series_row row;

	for (size_t r = 0; r < s->rows + s->rows_beside; r++) {
		sample_series_row(m, s, r, &row);
		for (size_t i = 0; i < row.count; i++)
			if (row.samples[i].values[value] > 0)
				return true;
	}
	return false;
}

static int compare_picks(const void *a, const void *b)
{
	const struct series_pick *x = a, *y = b;

	return ORDER(DESCENDING(x->value, y->value), ASCENDING(x->row, y->row),
		     ASCENDING(x->sample, y->sample));
}

int sample_series_heaviest(const struct report_model *m, const struct sample_series *s,
			   size_t value, struct series_pick **picks, size_t *count)
{
	_cleanup_free_ struct series_pick *found = NULL;
	size_t found_count = 0, capacity = 0;
	struct series_row row;

	for (size_t r = 0; r < s->rows + s->rows_beside; r++) {
		sample_series_row(m, s, r, &row);
		if (array_reserve(&found, &capacity, found_count + row.count, sizeof(*found)) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < row.count; i++)
			if (row.samples[i].values[value] > 0)
				found[found_count++] =
				    (struct series_pick){.row = (uint32_t)r,
							 .sample = (uint32_t)i,
							 .value = row.samples[i].values[value]};
	}
	if (found_count > 1)
		qsort(found, found_count, sizeof(*found), compare_picks);
	*picks = found_count > 0 ? TAKE_PTR(found) : NULL;
	*count = found_count;
	return 0;
}
