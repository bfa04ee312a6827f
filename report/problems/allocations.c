#include "report/problems/allocations.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "report/problems/grouping.h"
#include "report/problems/operation.h"
#include "report/problems/weighed.h"

/* ---------------------------------------------------------------- whose doing */

/* Methods that a context's innermost frame may be the doing of, the nearest one first. */
struct nearby {
	uint32_t methods[ALLOCATION_CALLERS];
	size_t count;
};

static bool has(const struct nearby *n, uint32_t method)
{
	for (size_t i = 0; i < n->count; i++)
		if (n->methods[i] == method)
			return true;
	return false;
}

/* An object is made for whoever calls its constructor. */
static bool is_constructor(const struct profile *p, uint32_t method)
{
	const struct cct_method *m = cct_method(&p->cct, method);

	return m && strcmp(strings_get(&p->strings, m->name), "<init>") == 0;
}

uint32_t *allocation_frames_new(const struct profile *p)
{
	uint32_t *frames = calloc(p->cct.node_count + 1, sizeof(*frames));

	for (uint32_t id = 1; frames && id <= p->cct.node_count; id++) {
		uint32_t method = cct_node_method(&p->cct, id);

		frames[id] = method && !operation_is_basic(p, id) && !is_constructor(p, method)
				 ? id
				 : frames[cct_node(&p->cct, id)->parent];
	}
	return frames;
}

static struct nearby nearby_of(const struct profile *p, const uint32_t *frames, uint32_t node)
{
	struct nearby n = {.count = 0};

	node = frames[node];
	for (int i = 0; node && i < ALLOCATION_FRAMES && n.count < ALLOCATION_CALLERS; i++) {
		uint32_t method = cct_node_method(&p->cct, node);

		if (!has(&n, method))
			n.methods[n.count++] = method;
		node = frames[cct_node(&p->cct, node)->parent];
	}
	return n;
}

bool allocation_is_near(const struct profile *p, const uint32_t *frames, uint32_t node,
			uint32_t method)
{
	struct nearby n = nearby_of(p, frames, node);

	return has(&n, method);
}

/* ---------------------------------------------------------------- groups */

/* By method, of sites that nobody has taken. */
static void add_up(double *sums, const struct window_result *w, const uint32_t *frames,
		   const bool *taken)
{
	const struct object_profile *o = &w->objects;

	for (size_t i = 0; i < o->site_count; i++) {
		struct nearby n = nearby_of(&w->profile, frames, taken[i] ? 0 : o->sites[i].node);
		double bytes = o->sites[i].alloc_bytes;

		for (size_t j = 0; j < n.count; j++, bytes *= 1 - ALLOCATION_DISTANT)
			sums[n.methods[j]] += bytes;
	}
}

/* The next method on the way out that has most of what is left of a method's allocated; 0: none. */
static uint32_t next_out(const struct window_result *w, const uint32_t *frames, const bool *taken,
			 uint32_t method, struct weighed *scratch)
{
	const struct object_profile *o = &w->objects;
	double all = 0;
	size_t count = 0;

	for (size_t i = 0; i < o->site_count; i++) {
		struct nearby n = nearby_of(&w->profile, frames, taken[i] ? 0 : o->sites[i].node);

		for (size_t j = 0; j < n.count; j++) {
			if (n.methods[j] != method)
				continue;
			all += o->sites[i].alloc_bytes;
			if (j + 1 < n.count)
				scratch[count++] = (struct weighed){
				    .what = n.methods[j + 1], .weight = o->sites[i].alloc_bytes};
		}
	}
	count = weighed_add_up(scratch, count);
	return count > 0 && scratch[0].weight >= MERGED_PART * all ? scratch[0].what : 0;
}

/* The method for which most is left, or one further out that has as much: which of the two has a
 * little more is chance, and what is further out has the other one's as well. 0: nothing is left.
 * Clears the sums. */
static uint32_t choose(double *sums, const struct window_result *w, const uint32_t *frames,
		       const bool *taken, struct weighed *scratch)
{
	size_t methods = w->profile.cct.method_count;
	uint32_t best = 0, out;

	for (uint32_t m = 1; m <= methods; m++)
		if (sums[m] > (best ? sums[best] : 0))
			best = m;
	out = best ? next_out(w, frames, taken, best, scratch) : 0;
	/* Recursion may lead back. */
	for (unsigned i = 0; out && i < ALLOCATION_CALLERS; i++) {
		if (sums[out] < ALLOCATION_TIE * sums[best])
			break;
		best = out;
		out = next_out(w, frames, taken, best, scratch);
	}
	for (size_t m = 1; m <= methods; m++)
		sums[m] = 0;
	return best;
}

/* Those of the rest that may be a method's doing. They are taken from now on; returns how many. */
static size_t take(uint32_t *sites, const struct window_result *w, const uint32_t *frames,
		   bool *taken, uint32_t method)
{
	size_t count = 0;

	for (size_t i = 0; i < w->objects.site_count; i++) {
		if (taken[i] ||
		    !allocation_is_near(&w->profile, frames, w->objects.sites[i].node, method))
			continue;
		taken[i] = true;
		sites[count++] = (uint32_t)i;
	}
	return count;
}

int allocation_groups_init(struct allocation_groups *g, const struct window_result *w,
			   const uint32_t *frames)
{
	size_t methods = w->profile.cct.method_count, used = 0;
	_cleanup_free_ double *sums = calloc(methods + 1, sizeof(*sums));
	_cleanup_free_ bool *taken = calloc(w->objects.site_count + 1, sizeof(*taken));
	_cleanup_free_ struct weighed *scratch =
	    calloc(w->objects.site_count + 1, sizeof(*scratch));

	*g = (struct allocation_groups){.sites =
					    calloc(w->objects.site_count + 1, sizeof(*g->sites))};
	if (!sums || !taken || !scratch || !g->sites)
		return -ENOMEM;
	while (g->count < ALLOCATION_GROUPS) {
		struct allocation_group *group = &g->list[g->count];

		add_up(sums, w, frames, taken);
		group->method = choose(sums, w, frames, taken, scratch);
		if (!group->method)
			break;
		group->sites = &g->sites[used];
		group->count = take(&g->sites[used], w, frames, taken, group->method);
		used += group->count;
		g->count++;
	}
	return 0;
}

void allocation_groups_release(struct allocation_groups *g)
{
	free(g->sites);
	*g = (struct allocation_groups){0};
}

/* ---------------------------------------------------------------- what it comes to */

/* The part of the sampled allocations that has a site. In windows of before small ones
 * have none. */
static double known_part(const struct window_result *w)
{
	double sampled = (double)w->counters[JXP__COUNTER__COUNTER_OBJECTS_SAMPLED];
	double small = (double)w->counters[JXP__COUNTER__COUNTER_OBJECTS_SMALL];
	bool told = false;

	for (size_t i = 0; i < w->objects.site_count && !told; i++)
		told = w->objects.sites[i].untracked > 0;
	return !told && window_result_object_min_size(w) > 0 && sampled > small
		   ? 1 - small / sampled
		   : 1;
}

static void part_of_all(struct problem_allocation *out, const struct window_result *w, double bytes,
			double squares)
{
	double all = 0, all_squares = 0, known = known_part(w);

	for (size_t i = 0; i < w->objects.site_count; i++) {
		all += w->objects.sites[i].alloc_bytes;
		all_squares += w->objects.sites[i].alloc_squares;
	}
	out->fraction = known * estimate_fraction(bytes, all);
	out->fraction_ci95 = estimate_share_ci95(bytes, squares, all, all_squares);
	out->fraction_ci95.low *= known;
	out->fraction_ci95.high *= known;
}

/* The method that makes most of it itself, or has the JDK do it. */
static void find_maker(struct problem_allocation *out, const struct window_result *w,
		       const uint32_t *frames, const uint32_t *sites, size_t count,
		       struct weighed *scratch)
{
	double all = 0;

	for (size_t i = 0; i < count; i++) {
		const struct object_site *site = &w->objects.sites[sites[i]];
		struct nearby n = nearby_of(&w->profile, frames, site->node);

		scratch[i] = (struct weighed){.what = n.count > 0 ? n.methods[0] : 0,
					      .weight = site->alloc_bytes};
		all += site->alloc_bytes;
	}
	weighed_add_up(scratch, count);
	out->maker = scratch[0].what;
	out->maker_part = scratch[0].weight / all;
}

int problem_allocation_init(struct problem_allocation *out, const struct window_result *w,
			    const uint32_t *frames, const uint32_t *sites, size_t count)
{
	_cleanup_free_ struct weighed *classes = calloc(count + 1, sizeof(*classes));
	double bytes = 0, squares = 0, objects = 0, tracked = 0, live = 0;

	*out = (struct problem_allocation){0};
	if (!classes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct object_site *site = &w->objects.sites[sites[i]];

		out->samples += site->allocations;
		bytes += site->alloc_bytes;
		squares += site->alloc_squares;
		objects += site->alloc_count;
		tracked += site->alloc_bytes - site->untracked_bytes;
		live += site->live_bytes;
		classes[i] =
		    (struct weighed){.what = site->class_name, .weight = site->alloc_bytes};
	}
	if (!(bytes > 0))
		return 0;
	part_of_all(out, w, bytes, squares);
	out->bytes = bytes;
	out->objects = objects;
	out->per_s =
	    estimate_fraction(objects * (double)NS_PER_S, (double)window_result_objects_ns(w));
	out->garbage = tracked > 0 ? fmax(0, 1 - live / tracked) : 0;
	out->class_count = weighed_add_up(classes, count);
	for (size_t i = 0; i < out->class_count && i < PROBLEM_CLASSES_MAX; i++)
		out->classes[i] = (struct problem_class){.name = classes[i].what,
							 .fraction = classes[i].weight / bytes};
	find_maker(out, w, frames, sites, count, classes);
	return 0;
}
