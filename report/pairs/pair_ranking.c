#include "report/pairs/pair_ranking.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/saturate.h"

int pair_scope_init(struct pair_scope *s, const struct window_result *w, const bool *regions)
{
	int r;

	*s = (struct pair_scope){.window = w};
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		s->regions[i] = !regions || regions[i];
	r = cct_paths(&w->profile.cct, &s->paths);
	if (r == 0)
		r = cct_lines(&w->profile.cct, &s->lines);
	if (r == 0)
		r = cct_turns(&w->profile.cct, &s->turns);
	if (r == 0)
		r = locations_fields(&w->profile.locations, &s->fields);
	if (r == 0)
		r = pair_gains_new(w, &s->gains);
	return r;
}

void pair_scope_release(struct pair_scope *s)
{
	free(s->paths);
	free(s->lines);
	free(s->turns);
	free(s->fields);
	free(s->gains);
	*s = (struct pair_scope){0};
}

/* ---------------------------------------------------------------- grouping */

/* A pair of the profile, where it belongs in the view, and to which part of its row. */
struct pair_entry {
	uint32_t key[3];
	uint32_t part[3];
	double size; /* parts and entries are compared by it */
	const struct pair *pair;
};

static struct pair_entry entry_of(const struct pair_scope *s, enum pair_view view,
				  const struct pair *pair)
{
	bool stack = pair->region == JXP__REGION__REGION_STACK;
	uint32_t place[3] = {s->fields[pair->location], pair->region};
	uint32_t lines[3] = {s->lines[pair->watch_node], s->lines[pair->trap_node], stack};
	uint32_t paths[3] = {s->paths[pair->watch_node], s->paths[pair->trap_node]};
	uint32_t turns[3] = {s->turns[pair->watch_node], s->turns[pair->trap_node]};
	const uint32_t *const keys[] = {[PAIRS_BY_LOCATION] = place,
					[PAIRS_BY_LINES] = lines,
					[PAIRS_BY_TURNS] = turns,
					[PAIRS_BY_CONTEXTS] = paths};
	const uint32_t *key = keys[view];
	const uint32_t *part = view == PAIRS_BY_LOCATION ? lines : place;
	struct pair_entry e = {
	    .size = pair->cpu.ns > 0 ? pair->cpu.ns : (double)pair->wasteful_bytes, .pair = pair};

	memcpy(e.key, key, sizeof(e.key));
	memcpy(e.part, part, sizeof(e.part));
	return e;
}

static int compare_numbers(const uint32_t a[3], const uint32_t b[3])
{
	for (int i = 0; i < 3; i++)
		if (a[i] != b[i])
			return ASCENDING(a[i], b[i]);
	return 0;
}

/* Rows, their parts, and of a part the largest first, then in the order of arrival. */
static int compare_entries(const void *a, const void *b)
{
	const struct pair_entry *x = a, *y = b;

	return ORDER(compare_numbers(x->key, y->key), compare_numbers(x->part, y->part),
		     DESCENDING(x->size, y->size), ASCENDING(x->pair, y->pair));
}

static void add_variant(struct ranked_pair *to, const struct pair *variant)
{
	to->sum.count += variant->count;
	to->sum.wasteful_count += variant->wasteful_count;
	to->sum.checked_bytes += variant->checked_bytes;
	to->sum.wasteful_bytes += variant->wasteful_bytes;
	saturate_add(&to->sum.wasteful_squares, variant->wasteful_squares);
	to->sum.cpu.ns += variant->cpu.ns;
	to->sum.cpu.squares += variant->cpu.squares;
	to->variants++;
}

/* One of the profile's. */
static void add_pair(struct ranked_pair *to, const struct pair_scope *s, const struct pair *pair)
{
	add_variant(to, pair);
	gain_sums_add(&to->gain_sums, &s->gains[pair - s->window->profile.pairs]);
}

static void name_after(struct pair *sum, const struct pair *like)
{
	sum->watch_node = like->watch_node;
	sum->trap_node = like->trap_node;
	sum->watch_instruction = like->watch_instruction;
	sum->trap_instruction = like->trap_instruction;
	sum->location = like->location;
	sum->kind = like->kind;
	sum->region = like->region;
}

/* One row of entries that follow each other, named after its largest part; returns how many these
 * are. */
static size_t take_row(struct ranked_pair *row, const struct pair_scope *s,
		       const struct pair_entry *entries, size_t count)
{
	double best = -1, size = 0;
	size_t i, part = 0;

	*row = (struct ranked_pair){.parts = 1};
	for (i = 0; i < count && compare_numbers(entries[i].key, entries[0].key) == 0; i++) {
		if (compare_numbers(entries[i].part, entries[part].part) != 0) {
			part = i;
			size = 0;
			row->parts++;
		}
		size += entries[i].size;
		add_pair(row, s, entries[i].pair);
		if (size > best) {
			best = size;
			name_after(&row->sum, entries[part].pair);
		}
	}
	return i;
}

/* ---------------------------------------------------------------- ranking */

/* Shares of a kind's rows are of these: each goes over all contexts of ticks, so once for all rows.
 */
struct pair_wholes {
	struct cpu_whole accesses, ticks;
};

static struct pair_wholes wholes_of(const struct window_result *w, Jxp__Kind kind)
{
	return (struct pair_wholes){window_result_cpu_whole(w, kind),
				    window_result_tick_whole(w, kind)};
}

static void estimate(struct ranked_pair *row, const struct window_result *w, Jxp__Kind kind,
		     const struct pair_wholes *wholes)
{
	row->fraction = estimate_fraction((double)row->sum.wasteful_bytes,
					  (double)w->profile.kinds[kind].application.checked_bytes);
	row->ci95 = window_result_part_ci95(w, kind, row->sum.wasteful_bytes);
	row->cpu = cpu_share_estimate(&row->sum.cpu, row->sum.wasteful_count, &wholes->accesses);
	row->gain = (struct cpu_share){.ci95 = {0, 1}};
	if (w->request.kinds[JXP__KIND__KIND_CPU] &&
	    2 * row->gain_sums.untold <= row->sum.wasteful_count)
		row->gain = cpu_share_estimate(
		    &row->gain_sums.cpu, (uint64_t)ceil(row->gain_sums.ticks), &wholes->ticks);
}

bool ranked_pair_is_evidence(const struct ranked_pair *row)
{
	return row->sum.wasteful_count >= PAIRS_EVIDENCE;
}

/* Tells what rows are ranked by. */
static double lower_bound(const struct ranked_pair *row)
{
	return row->cpu.known ? row->cpu.ci95.low : row->ci95.low;
}

static int region_rank(const struct ranked_pair *row)
{
	static const int ranks[PROFILE_REGIONS] = {[JXP__REGION__REGION_HEAP] = 0,
						   [JXP__REGION__REGION_OTHER] = 1,
						   [JXP__REGION__REGION_STACK] = 2};

	return ranks[row->sum.region];
}

static int compare_rows(const void *a, const void *b)
{
	const struct ranked_pair *x = a, *y = b;

	/* qsort is not stable: contexts decide at last. */
	return ORDER(region_rank(x) - region_rank(y), DESCENDING(lower_bound(x), lower_bound(y)),
		     DESCENDING(x->sum.wasteful_bytes, y->sum.wasteful_bytes),
		     DESCENDING(x->sum.checked_bytes, y->sum.checked_bytes),
		     ASCENDING(x->sum.watch_node, y->sum.watch_node),
		     ASCENDING(x->sum.trap_node, y->sum.trap_node),
		     ASCENDING(x->sum.location, y->sum.location));
}

/* Adds a row to those that are not shown by themselves. */
static void fold(struct pair_ranking *r, const struct ranked_pair *row)
{
	size_t variants = r->folded.variants + row->variants;

	if (r->folded_rows++ == 0)
		name_after(&r->folded.sum, &row->sum);
	add_variant(&r->folded, &row->sum);
	gain_sums_add(&r->folded.gain_sums, &row->gain_sums);
	if (row->sum.region != JXP__REGION__REGION_STACK &&
	    row->sum.wasteful_count > r->folded_most)
		r->folded_most = row->sum.wasteful_count;
	r->folded.variants = variants;
}

static void rank(struct pair_ranking *r, enum pair_view view)
{
	bool all = view == PAIRS_BY_CONTEXTS;
	size_t kept = 0;

	qsort(r->pairs, r->count, sizeof(*r->pairs), compare_rows);
	for (size_t i = 0; i < r->count; i++) {
		bool evidence = ranked_pair_is_evidence(&r->pairs[i]);

		if (!evidence || (!all && kept >= PAIRS_ROWS_MAX))
			fold(r, &r->pairs[i]);
		if (all || (evidence && kept < PAIRS_ROWS_MAX))
			r->pairs[kept++] = r->pairs[i];
	}
	r->count = kept;
}

/* All kinds' rankings are held at a time, and take no more than one did with room for all pairs. */
static void shrink(struct pair_ranking *r)
{
	struct ranked_pair *fitting = NULL;

	if (r->count == 0) {
		free(r->pairs);
		r->pairs = NULL;
	} else if ((fitting = realloc(r->pairs, r->count * sizeof(*r->pairs)))) {
		r->pairs = fitting;
	}
}

/* The kind's pairs in the regions that are shown; returns how many. */
static size_t collect(struct pair_entry *entries, const struct pair_scope *s, Jxp__Kind kind,
		      enum pair_view view)
{
	const struct profile *p = &s->window->profile;
	size_t count = 0;

	for (size_t i = 0; i < p->pair_count; i++)
		if (p->pairs[i].kind == kind && s->regions[p->pairs[i].region])
			entries[count++] = entry_of(s, view, &p->pairs[i]);
	qsort(entries, count, sizeof(*entries), compare_entries);
	return count;
}

int pair_ranking_init(struct pair_ranking *r, const struct pair_scope *s, Jxp__Kind kind,
		      enum pair_view view)
{
	size_t most = s->window->profile.pair_count, count;
	_cleanup_free_ struct pair_entry *entries = NULL;
	struct pair_wholes wholes;

	*r = (struct pair_ranking){0};
	if (most == 0)
		return 0;
	entries = calloc(most, sizeof(*entries));
	r->pairs = calloc(most, sizeof(*r->pairs));
	if (!entries || !r->pairs) {
		pair_ranking_release(r);
		return -ENOMEM;
	}
	wholes = wholes_of(s->window, kind);
	count = collect(entries, s, kind, view);
	for (size_t i = 0; i < count;) {
		struct ranked_pair *row = &r->pairs[r->count];

		i += take_row(row, s, &entries[i], count - i);
		if (row->sum.wasteful_bytes == 0)
			continue; /* Nothing wasted: not ranked. */
		estimate(row, s->window, kind, &wholes);
		r->count++;
	}
	rank(r, view);
	estimate(&r->folded, s->window, kind, &wholes);
	shrink(r);
	return 0;
}

void pair_ranking_release(struct pair_ranking *r)
{
	free(r->pairs);
	*r = (struct pair_ranking){0};
}

void ranked_pair_of_places(struct ranked_pair *sum, const struct pair_scope *s, Jxp__Kind kind,
			   uint32_t place)
{
	const struct profile *p = &s->window->profile;
	const struct pair_wholes wholes = wholes_of(s->window, kind);

	*sum = (struct ranked_pair){0};
	for (size_t i = 0; i < p->pair_count; i++)
		if (p->pairs[i].kind == kind &&
		    locations_get(&p->locations, p->pairs[i].location).kind == place)
			add_pair(sum, s, &p->pairs[i]);
	estimate(sum, s->window, kind, &wholes);
}

/* ---------------------------------------------------------------- each kind */

static void regions_init(struct report_kind *k, const struct window_result *w)
{
	static const Jxp__Region order[PROFILE_REGIONS] = {
	    JXP__REGION__REGION_HEAP, JXP__REGION__REGION_STACK, JXP__REGION__REGION_OTHER};
	Jxp__Kind kind = k->kind->kind;
	double effect = window_result_design_effect(w, kind);

	for (size_t i = 0; i < PROFILE_REGIONS; i++) {
		const struct totals *t = &w->profile.kinds[kind].regions[order[i]];
		double wasteful = (double)t->wasteful_bytes, checked = (double)t->checked_bytes;

		k->regions[i] = (struct report_region){
		    .region = order[i],
		    .totals = t,
		    .fraction = estimate_fraction(wasteful, checked),
		    .ci95 = estimate_ci95(wasteful, checked, effect * (double)t->sum_squares)};
	}
}

static int rankings_init(struct report_kind *k, const struct pair_scope *s)
{
	Jxp__Kind kind = k->kind->kind;
	int r = pair_ranking_init(&k->by_location, s, kind, PAIRS_BY_LOCATION);

	if (r == 0)
		r = pair_ranking_init(&k->by_lines, s, kind, PAIRS_BY_LINES);
	if (r == 0)
		r = pair_ranking_init(&k->pairs, s, kind, PAIRS_BY_CONTEXTS);
	if (r == 0)
		r = pair_ranking_init(&k->by_turns, s, kind, PAIRS_BY_TURNS);
	return r;
}

static int kind_init(struct report_kind *k, const struct pair_scope *s,
		     const struct pair_kind *kind)
{
	const struct window_result *w = s->window;
	const struct totals *t = &w->profile.kinds[kind->kind].application;
	struct cpu_whole whole = window_result_cpu_whole(w, kind->kind);

	*k = (struct report_kind){
	    .kind = kind,
	    .application = t,
	    .jvm = &w->profile.kinds[kind->kind].jvm,
	    .fraction = estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes),
	    .ci95 = window_result_fraction_ci95(w, kind->kind),
	    .cpu = cpu_share_estimate(&t->wasteful_cpu, t->wasteful_count, &whole)};
	regions_init(k, w);
	ranked_pair_of_places(&k->spills, s, kind->kind, JXP__LOCATION__KIND__SPILL);
	return rankings_init(k, s);
}

int report_kinds_init(struct report_kind kinds[PAIR_KINDS], size_t *count,
		      const struct pair_scope *scope)
{
	int r = 0;

	*count = 0;
	for (size_t i = 0; i < PAIR_KINDS && r == 0; i++)
		if (scope->window->request.kinds[pair_kinds[i].kind])
			r = kind_init(&kinds[(*count)++], scope, &pair_kinds[i]);
	return r;
}

void report_kinds_release(struct report_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pair_ranking_release(&kinds[i].by_location);
		pair_ranking_release(&kinds[i].by_lines);
		pair_ranking_release(&kinds[i].pairs);
		pair_ranking_release(&kinds[i].by_turns);
	}
}

/* From the row that has been seen most often: none of places or lines has evidence. */
double report_evidence_needed(const struct report_kind *kinds, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (kinds[i].by_location.folded_most > most)
			most = kinds[i].by_location.folded_most;
		if (kinds[i].by_lines.folded_most > most)
			most = kinds[i].by_lines.folded_most;
	}
	return most ? (double)PAIRS_EVIDENCE / (double)most : 0;
}
