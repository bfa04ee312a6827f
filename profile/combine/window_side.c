#include "profile/combine/window_side.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/utf8.h"
#include "profile/combine/method_spread.h"
#include "profile/combine/names.h"
#include "profile/estimate.h"

#define LABEL_BYTES (3 * COMPARE_NAME_MAX)

/* While it is made: the window's names without lines and numbers, and what the side has of them. */
struct maker {
	struct compare_side *side;
	const struct window_result *window;
	struct profile names;
	struct names_map map;       /* from the window's profile to names */
	uint32_t *methods;          /* by method of names, the side's; 0: not needed yet */
	struct compare_node *nodes; /* by node of names */
};

static void maker_release(struct maker *m)
{
	profile_release(&m->names);
	names_map_release(&m->map);
	free(m->methods);
	free(m->nodes);
}

/* ---------------------------------------------------------------- names */

static int add_name(struct compare_side *s, const char *name, uint32_t *id)
{
	char fit[COMPARE_NAME_MAX];

	(void)utf8_sanitize(fit, sizeof(fit), name); /* May be cut. */
	s->methods[s->method_count] = strdup(fit);
	if (!s->methods[s->method_count])
		return -ENOMEM;
	*id = (uint32_t)++s->method_count;
	return 0;
}

/* The id of a method of names; 0 stays 0. */
static int name_method(struct maker *m, uint32_t method, uint32_t *id)
{
	const struct cct_method *known = cct_method(&m->names.cct, method);
	char label[LABEL_BYTES];
	int r = 0;

	if (known && !m->methods[method]) {
		(void)snprintf(label, sizeof(label), "%s.%s", /* May be cut. */
			       strings_get(&m->names.strings, known->class_name),
			       strings_get(&m->names.strings, known->name));
		r = add_name(m->side, label, &m->methods[method]);
	}
	*id = m->methods[method];
	return r;
}

/* ---------------------------------------------------------------- contexts */

static void add_ticks(struct maker *m)
{
	const struct cpu_profile *c = &m->window->cpu;

	for (size_t i = 0; i < c->context_count; i++) {
		struct cpu_sum sum = cpu_context_sum(&c->contexts[i]);
		struct compare_node *n = &m->nodes[m->map.nodes[c->contexts[i].node]];

		n->ns += sum.ns;
		n->ticks += (double)sum.samples;
	}
}

/* More than this many ticks a node has to have to stay, or what is below it. */
static double least_ticks(const struct maker *m, const double *below)
{
	double least = 0;

	for (size_t kept = SIZE_MAX; kept > COMPARE_NODES_MAX; least = 2 * least + 1) {
		kept = 2; /* The JVM's own. */
		for (size_t i = 1; i <= m->names.cct.node_count; i++)
			kept += below[i] > least;
		if (kept <= COMPARE_NODES_MAX)
			break;
	}
	return least;
}

/* Ticks with what is below; children are behind their parents. NULL without memory. */
static double *ticks_below(const struct maker *m)
{
	double *below = calloc(m->names.cct.node_count + 1, sizeof(*below));

	for (size_t i = m->names.cct.node_count; i > 0 && below; i--) {
		below[i] += m->nodes[i].ticks;
		below[cct_node(&m->names.cct, (uint32_t)i)->parent] += below[i];
	}
	return below;
}

/* Leaves that do not stay are their parents'. */
static void fold(struct maker *m, const double *below, double least)
{
	for (size_t i = m->names.cct.node_count; i > 0; i--) {
		struct compare_node *n = &m->nodes[i], *parent;

		if (below[i] > least)
			continue;
		parent = &m->nodes[cct_node(&m->names.cct, (uint32_t)i)->parent];
		parent->ns += n->ns;
		parent->ticks += n->ticks;
	}
}

static int write_nodes(struct maker *m, const double *below, double least)
{
	_cleanup_free_ uint32_t *ids = calloc(m->names.cct.node_count + 1, sizeof(*ids));
	struct compare_side *s = m->side;
	int r = ids ? 0 : -ENOMEM;

	for (size_t i = 1; i <= m->names.cct.node_count && r == 0; i++) {
		const struct cct_node *node = cct_node(&m->names.cct, (uint32_t)i);
		struct compare_node *n = &s->nodes[s->node_count];

		if (!(below[i] > least)) {
			s->nodes_omitted += below[i] > 0;
			continue;
		}
		*n = m->nodes[i];
		n->parent = ids[node->parent];
		r = name_method(m, node->method, &n->method);
		ids[i] = (uint32_t)++s->node_count;
	}
	return r;
}

/* The JVM's own threads have no ticks: as many as that time would have made. */
static int add_own(struct maker *m, const char *name, double seen_ns)
{
	struct compare_side *s = m->side;
	struct compare_node *n = &s->nodes[s->node_count];
	int r;

	*n = (struct compare_node){.ns = window_result_beside_ns(m->window, seen_ns)};
	n->ticks = cpu_profile_ticks_of(&m->window->cpu, n->ns);
	if (!(n->ticks >= 1))
		return 0;
	r = add_name(s, name, &n->method);
	if (r == 0)
		s->node_count++;
	return r;
}

static int add_contexts(struct maker *m)
{
	_cleanup_free_ double *below = NULL;
	double least;
	int r;

	add_ticks(m);
	below = ticks_below(m);
	if (!below)
		return -ENOMEM;
	least = least_ticks(m, below);
	fold(m, below, least);
	r = write_nodes(m, below, least);
	if (r == 0)
		r = add_own(m, COMPARE_GC, m->window->cpu.beside.gc_ns);
	return r < 0 ? r : add_own(m, COMPARE_COMPILERS, m->window->cpu.beside.jit_ns);
}

/* ---------------------------------------------------------------- wasteful accesses */

static bool is_spill(const struct pair *pair, const struct location *l)
{
	return pair->region == JXP__REGION__REGION_STACK || l->kind == JXP__LOCATION__KIND__SPILL ||
	       l->kind == JXP__LOCATION__KIND__STACK;
}

/* A field is that of the class that declares it, whatever the object is. */
static void name_place(const struct profile *p, const struct location *l, char label[LABEL_BYTES])
{
	const char *class_name = strings_get(&p->strings, l->class_name);
	const char *owner = l->declared_in ? strings_get(&p->strings, l->declared_in) : class_name;
	const char *field = strings_get(&p->strings, l->field);

	switch ((Jxp__Location__Kind)l->kind) {
	case JXP__LOCATION__KIND__FIELD:
	case JXP__LOCATION__KIND__STATIC:
		(void)snprintf(label, LABEL_BYTES, "%s.%s", owner, field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		(void)snprintf(label, LABEL_BYTES, "elements of %s", class_name);
		break;
	case JXP__LOCATION__KIND__HEADER:
		(void)snprintf(label, LABEL_BYTES, "%s of %s", field, class_name);
		break;
	default:
		(void)snprintf(label, LABEL_BYTES, "%s", l->class_name ? class_name : "");
	}
}

static int compare_waste(const void *a, const void *b)
{
	const struct compare_waste *x = a, *y = b;

	return compare_place_order(&x->at, &y->at);
}

static int by_amount(const void *a, const void *b)
{
	const struct compare_waste *x = a, *y = b;

	return ORDER(DESCENDING(x->sums.amount, y->sums.amount), compare_waste(a, b));
}

/* Equal ones become one; the largest stay. */
static void sum_waste(struct compare_side *s)
{
	size_t kept = 0;

	qsort(s->waste, s->waste_count, sizeof(*s->waste), compare_waste);
	for (size_t i = 0; i < s->waste_count; i++) {
		struct compare_waste *w = &s->waste[i];

		if (kept > 0 && compare_waste(&s->waste[kept - 1], w) == 0) {
			compare_sums_add(&s->waste[kept - 1].sums, &w->sums);
			free(w->at.name);
		} else {
			s->waste[kept++] = *w;
		}
	}
	qsort(s->waste, kept, sizeof(*s->waste), by_amount);
	s->waste_omitted = kept > COMPARE_WASTE_MAX ? kept - COMPARE_WASTE_MAX : 0;
	for (s->waste_count = kept; s->waste_count > COMPARE_WASTE_MAX;)
		free(s->waste[--s->waste_count].at.name);
}

static struct compare_sums cpu_sums(const struct cpu_sums *cpu, uint64_t count)
{
	if (!(cpu->ns > 0) || !(cpu->squares > 0))
		return (struct compare_sums){.count = (double)count};
	return (struct compare_sums){cpu->ns, cpu->squares, (double)count};
}

static struct compare_sums byte_sums(uint64_t bytes, double squares, uint64_t count)
{
	if (bytes == 0 || !(squares > 0))
		return (struct compare_sums){.count = (double)count};
	return (struct compare_sums){(double)bytes, squares, (double)count};
}

static struct compare_sums sums_of(const struct maker *m, const struct pair *pair)
{
	return m->side->unit == COMPARE_CPU
		   ? cpu_sums(&pair->cpu, pair->wasteful_count)
		   : byte_sums(pair->wasteful_bytes, (double)pair->wasteful_squares,
			       pair->wasteful_count);
}

/* Its method is that of names until it is known which of them stay. */
static int add_pair(struct maker *m, const struct pair *pair)
{
	uint32_t node = m->map.nodes[pair_removable_node(pair)];
	struct location l = locations_get(&m->names.locations, m->map.locations[pair->location]);
	struct compare_side *s = m->side;
	struct compare_waste *w = &s->waste[s->waste_count];
	char label[LABEL_BYTES], fit[COMPARE_NAME_MAX];

	*w = (struct compare_waste){.at = {.kind = (Jxp__Kind)pair->kind,
					   .method = cct_node_method(&m->names.cct, node),
					   .spill = is_spill(pair, &l)},
				    .sums = sums_of(m, pair)};
	name_place(&m->names, &l, label);
	(void)utf8_sanitize(fit, sizeof(fit), w->at.spill ? "" : label); /* May be cut. */
	w->at.name = strdup(fit);
	if (!w->at.name)
		return -ENOMEM;
	s->waste_count++;
	return 0;
}

/* Pairs that did not fit the window's table are in the totals only: what is known of the others'
 * squares stands for them, too. */
static double wasteful_squares(const struct profile *p, Jxp__Kind kind)
{
	double squares = 0, bytes = 0;

	for (size_t i = 0; i < p->pair_count; i++) {
		if (p->pairs[i].kind != kind)
			continue;
		squares += (double)p->pairs[i].wasteful_squares;
		bytes += (double)p->pairs[i].wasteful_bytes;
	}
	return squares *
	       estimate_fraction((double)p->kinds[kind].application.wasteful_bytes, bytes);
}

/* How the windows of a merge differ in a kind. */
static void add_spread(struct maker *m, Jxp__Kind kind)
{
	const struct window_merged *facts = m->window->merged;
	struct compare_side *s = m->side;
	const struct merged_spread *spread;

	if (!facts)
		return;
	spread = s->unit == COMPARE_CPU ? &facts->cpu_shares[kind] : &facts->fractions[kind];
	s->kinds[kind].windows = facts->kinds[kind].windows;
	s->kinds[kind].excess = spread->excess;
	s->kinds[kind].freedom = spread->freedom;
}

static void add_kind(struct maker *m, Jxp__Kind kind)
{
	const struct profile *p = &m->window->profile;
	const struct totals *t = &p->kinds[kind].application;
	struct compare_side *s = m->side;

	s->kinds[kind].asked = m->window->request.kinds[kind];
	add_spread(m, kind);
	if (s->unit == COMPARE_CPU) {
		s->kinds[kind].after = window_result_tick_whole(m->window, kind).after;
		s->kinds[kind].sums = cpu_sums(&t->wasteful_cpu, t->wasteful_count);
		return;
	}
	s->kinds[kind].sums =
	    byte_sums(t->wasteful_bytes, wasteful_squares(p, kind), t->wasteful_count);
	s->kinds[kind].checked = byte_sums(t->checked_bytes, (double)t->sum_squares, t->count);
}

static int add_waste(struct maker *m)
{
	const struct profile *p = &m->window->profile;
	int r = 0;

	for (size_t i = 0; i < PAIR_KINDS; i++)
		add_kind(m, pair_kinds[i].kind);
	for (size_t i = 0; i < p->pair_count && r == 0; i++)
		if (p->pairs[i].wasteful_count > 0)
			r = add_pair(m, &p->pairs[i]);
	if (r < 0)
		return r;
	sum_waste(m->side);
	for (size_t i = 0; i < m->side->waste_count && r == 0; i++)
		r = name_method(m, m->side->waste[i].at.method, &m->side->waste[i].at.method);
	return r;
}

/* ---------------------------------------------------------------- how windows differ */

static int add_excess(struct maker *m)
{
	size_t count = m->names.cct.method_count;
	_cleanup_free_ double *excess = calloc(count + 2, sizeof(*excess));
	struct compare_side *s = m->side;
	int r = excess ? method_spread_of(m->window, &m->names.cct, m->map.nodes, s->ticks, excess,
					  &s->freedom)
		       : -ENOMEM;

	if (r < 0 || !(s->freedom > 0))
		return r;
	s->excess = calloc(s->method_count + 1, sizeof(*s->excess));
	if (!s->excess)
		return -ENOMEM;
	for (size_t i = 1; i <= count; i++)
		s->excess[m->methods[i]] = excess[i];
	for (size_t i = 0; i < s->node_count; i++)
		if (strcmp(compare_side_method(s, s->nodes[i].method), COMPARE_GC) == 0)
			s->excess[s->nodes[i].method] = excess[count + 1];
	s->excess[0] = 0;
	return 0;
}

/* ---------------------------------------------------------------- all of it */

static int make(struct maker *m)
{
	struct compare_side *s = m->side;
	uint64_t losses[LOSS_MAX] = {0};
	int r = names_map_init(&m->map, &m->names, &m->window->profile, NAMES_OF_METHODS, losses);

	if (r < 0)
		return r;
	m->methods = calloc(m->names.cct.method_count + 1, sizeof(*m->methods));
	m->nodes = calloc(m->names.cct.node_count + 1, sizeof(*m->nodes));
	s->methods = calloc(m->names.cct.method_count + 2, sizeof(*s->methods));
	s->nodes = calloc(COMPARE_NODES_MAX + 2, sizeof(*s->nodes));
	s->waste = calloc(m->window->profile.pair_count + 1, sizeof(*s->waste));
	if (!m->methods || !m->nodes || !s->methods || !s->nodes || !s->waste)
		return -ENOMEM;
	r = s->unit == COMPARE_CPU ? add_contexts(m) : 0;
	if (r == 0)
		r = add_waste(m);
	return r < 0 || s->unit != COMPARE_CPU ? r : add_excess(m);
}

static void scale(struct compare_sums *sums, double by)
{
	sums->amount *= by;
	sums->squares *= by * by;
}

/* Ticks and pairs stand for more than the program's own time (profile/window/result.h). */
static void take_own_time(struct compare_side *s, const struct window_result *w)
{
	double own_ns = (double)NS_PER_S * window_result_whole_s(w), pairs[KIND_VALUES];

	for (size_t i = 0; i < s->node_count; i++)
		s->nodes[i].ns *= own_ns / s->whole_ns;
	s->whole_ns = own_ns;
	for (int kind = 0; kind < KIND_VALUES; kind++) {
		double whole_ns = window_result_cpu_whole(w, (Jxp__Kind)kind).ns;

		pairs[kind] = whole_ns > 0 ? own_ns / whole_ns : 1;
		scale(&s->kinds[kind].sums, pairs[kind]);
	}
	for (size_t i = 0; i < s->waste_count; i++)
		scale(&s->waste[i].sums, pairs[s->waste[i].at.kind]);
}

int window_side_init(struct compare_side *s, const struct window_result *w)
{
	_cleanup_(maker_release) struct maker m = {.side = s, .window = w};
	struct cpu_sum all = cpu_profile_all(&w->cpu);
	int r;

	*s = (struct compare_side){
	    .windows = w->merged ? w->merged->windows : 1,
	    .skipped = w->merged ? w->merged->skipped : 0,
	    .elapsed_s = (double)window_result_elapsed_ns(w) / (double)NS_PER_S,
	    .pid = (int)w->pid,
	    .unit = w->request.kinds[JXP__KIND__KIND_CPU] ? COMPARE_CPU : COMPARE_CHECKED};
	if (s->unit == COMPARE_CPU && (all.samples == 0 || !(all.ns > 0)))
		return 0;
	if (s->unit == COMPARE_CPU) {
		s->whole_ns = window_result_whole_ns(w);
		s->ticks = cpu_profile_ticks_of(&w->cpu, s->whole_ns);
		s->after = window_result_tick_whole(w, JXP__KIND__KIND_CPU).after;
	}
	r = make(&m);
	if (r < 0 || compare_side_is_empty(s))
		compare_side_release(s);
	else if (s->unit == COMPARE_CPU)
		take_own_time(s, w);
	return r;
}
