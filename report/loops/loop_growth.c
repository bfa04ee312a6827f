#include "report/loops/loop_growth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/wilson.h"
#include "compare/change.h"
#include "profile/combine/names.h"

enum side { BASELINE, NOW, SIDES };

/* Both windows, and the names of methods in both. */
struct growing {
	struct report_loops *l;
	const struct window_result *window[SIDES];
	struct profile names;
	struct names_map map[SIDES];
	uint64_t losses[LOSS_MAX]; /* of names that did not fit: their loops are not met */
	struct change_whole whole[SIDES];
	struct cpu_sum *inclusive; /* in the baseline, by loop of the report */
};

static void release(struct growing *g)
{
	names_map_release(&g->map[BASELINE]);
	names_map_release(&g->map[NOW]);
	profile_release(&g->names);
	free(g->inclusive);
}

static int init(struct growing *g)
{
	g->inclusive = calloc(g->l->count + 1, sizeof(*g->inclusive));
	for (int i = 0; i < SIDES; i++) {
		const struct window_result *w = g->window[i];
		double ns = window_result_whole_ns(w);
		int r =
		    names_map_init(&g->map[i], &g->names, &w->profile, NAMES_OF_METHODS, g->losses);

		if (r < 0)
			return r;
		g->whole[i] = (struct change_whole){
		    .amount = ns,
		    .ticks = cpu_profile_ticks_of(&w->cpu, ns),
		    .windows = w->merged ? w->merged->windows : 1,
		    .after = window_result_tick_whole(w, JXP__KIND__KIND_CPU).after};
	}
	return g->inclusive ? 0 : -ENOMEM;
}

/* ---------------------------------------------------------------- the baseline's loops */

static bool is_same(const struct growing *g, const struct loop_key *now,
		    const struct loop_key *before)
{
	uint32_t method = g->map[NOW].methods[now->method];

	return method && method == g->map[BASELINE].methods[before->method] &&
	       now->mapped == before->mapped && now->header == before->header;
}

/* Tells what it took of its own in the baseline. Overloads have different lines; a build of before
 * may have others for all. False where the baseline does not know it. */
static bool own_before(const struct growing *g, const struct loop_key *key, struct cpu_sum *own)
{
	const struct loop_profile *p = &g->window[BASELINE]->loops;
	struct cpu_sum any = {0};
	bool found = false, same_line = false;

	*own = (struct cpu_sum){0};
	for (size_t i = 0; i < p->row_count; i++) {
		if (!is_same(g, key, &p->rows[i].key))
			continue;
		found = true;
		cpu_sum_add(&any, &p->rows[i].own, 1);
		if (p->rows[i].key.line != key->line)
			continue;
		same_line = true;
		cpu_sum_add(own, &p->rows[i].own, 1);
	}
	if (!same_line)
		*own = any;
	return found;
}

/* The loops that call what takes their time, as places in the baseline's tree; how many. list NULL:
 * only that. */
static size_t collect_bodies(const struct growing *g, struct loop_body *list)
{
	const uint32_t *methods = g->map[BASELINE].methods;
	size_t all = g->window[BASELINE]->profile.cct.method_count, count = 0;

	for (uint32_t i = 0; i < g->l->count; i++) {
		const struct loop *row = g->l->rows[i].row;
		uint32_t method = g->map[NOW].methods[row->key.method];

		for (uint32_t m = 1; g->l->rows[i].calls && method && m <= all; m++) {
			if (methods[m] != method)
				continue;
			if (list) {
				list[count] = (struct loop_body){row->key, row->latch_bci, i};
				list[count].key.method = m;
				list[count].key.line = -1;
			}
			count++;
		}
	}
	return count;
}

static int find_bodies(const struct growing *g, struct loop_bodies *bodies)
{
	size_t count = collect_bodies(g, NULL);
	struct loop_body *list = calloc(count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	(void)collect_bodies(g, list); /* As many. */
	loop_bodies_init(bodies, list, count);
	return 0;
}

static int inclusive_before(struct growing *g)
{
	const struct window_result *w = g->window[BASELINE];
	_cleanup_(loop_bodies_release) struct loop_bodies bodies = {0};
	_cleanup_free_ struct loop_reach *reach = NULL;
	int r = find_bodies(g, &bodies);

	if (r < 0 || bodies.count == 0)
		return r;
	reach = calloc(bodies.count, sizeof(*reach));
	r = reach ? loop_bodies_reach(&bodies, &w->profile.cct, &w->cpu, reach) : -ENOMEM;
	for (size_t i = 0; r == 0 && i < bodies.count; i++)
		cpu_sum_add(&g->inclusive[bodies.bodies[i].id], &reach[i].inclusive, 1);
	return r;
}

/* ---------------------------------------------------------------- tests */

static struct compare_sums sums_of(const struct change_whole *whole, const struct cpu_sum *sum)
{
	double ns = fmin(sum->ns, whole->amount);

	return (struct compare_sums){ns, ns * whole->amount / whole->ticks, (double)sum->samples};
}

/* Tells what its loop took before and takes now; known: the baseline would tell if it had taken
 * little there. */
static void find_sums(const struct growing *g, const struct report_loop *row, bool *known,
		      struct compare_sums out[SIDES])
{
	struct cpu_sum now = row->row->own, before = g->inclusive[row - g->l->rows];

	*known = true;
	if (row->calls)
		now.ns = row->inclusive_fraction * g->whole[NOW].amount;
	else
		*known = own_before(g, &row->row->key, &before);
	out[BASELINE] = sums_of(&g->whole[BASELINE], &before);
	out[NOW] = sums_of(&g->whole[NOW], &now);
}

static bool is_tested(const struct report_loop *row, double before)
{
	return row->fraction >= LOOP_CPU_MIN || row->calls || before >= LOOP_CPU_MIN;
}

static int test(struct growing *g)
{
	static const struct change_factor one = {1, 0};
	struct compare_sums(*sums)[SIDES] = calloc(g->l->count + 1, sizeof(*sums));
	unsigned tested = 0;
	double quantile;

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < g->l->count; i++) {
		struct report_loop *row = &g->l->rows[i];

		find_sums(g, row, &row->growth.known, sums[i]);
		tested += is_tested(row, sums[i][BASELINE].amount / g->whole[BASELINE].amount);
	}
	quantile = change_quantile(tested);
	for (size_t i = 0; i < g->l->count; i++) {
		struct report_loop *row = &g->l->rows[i];
		struct change alone = change_of(sums[i], g->whole, &one, WILSON_Z95);
		struct change c = change_of(sums[i], g->whole, &one, quantile);

		row->growth = (struct loop_growth){.compared = true,
						   .known = row->growth.known,
						   .baseline = c.share[BASELINE],
						   .growth = c.difference,
						   .ci95 = {alone.low, alone.high},
						   .among_all = {c.low, c.high}};
		row->growth.significant =
		    c.shown && is_tested(row, c.share[BASELINE]) &&
		    (c.difference < 0 || row->growth.known || c.low > LOOP_CPU_MIN);
	}
	free(sums);
	return 0;
}

/* ---------------------------------------------------------------- order */

static bool has_grown(const struct report_loop *row)
{
	return row->growth.significant && row->growth.growth > 0;
}

/* The ones that have grown first; the rest stays as it is, which is by time. */
static int by_growth(const void *x, const void *y)
{
	const struct report_loop *a = x, *b = y;

	if (has_grown(a) && has_grown(b) && a->growth.among_all.low != b->growth.among_all.low)
		return DESCENDING(a->growth.among_all.low, b->growth.among_all.low);
	return ORDER(DESCENDING(has_grown(a), has_grown(b)),
		     ASCENDING(a->growth.rank, b->growth.rank));
}

int report_loops_compare(struct report_loops *l, const struct window_result *w,
			 const struct window_result *baseline)
{
	_cleanup_(release) struct growing g = {.l = l, .window = {baseline, w}};
	int r;

	if (!l->taken)
		return 0;
	r = init(&g);
	if (r < 0 || !(g.whole[BASELINE].ticks > 0) || !(g.whole[NOW].ticks > 0))
		return r;
	r = inclusive_before(&g);
	if (r == 0)
		r = test(&g);
	if (r < 0)
		return r;
	for (size_t i = 0; i < l->count; i++)
		l->rows[i].growth.rank = i;
	qsort(l->rows, l->count, sizeof(*l->rows), by_growth);
	(void)snprintf(l->baseline, sizeof(l->baseline), "%s", baseline->id);
	return 0;
}
