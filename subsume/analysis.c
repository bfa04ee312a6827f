#include "subsume/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/mix.h"

#define NONE UINT16_MAX /* no position */

/* A dominator that is left, in 32 bits: 128 bytes a method are little beside twenty million nodes.
 */
#define DISTANCE_BITS 6u
#define DISTANCE_MASK ((1u << DISTANCE_BITS) - 1)

_Static_assert(SUBSUME_DISTANCE_MAX <= DISTANCE_MASK, "a distance does not fit");
_Static_assert((SUBSUME_METHODS_MAX - 1) << DISTANCE_BITS >> DISTANCE_BITS ==
		   SUBSUME_METHODS_MAX - 1,
	       "a method does not fit");
_Static_assert(SUBSUME_DEPTH_MAX < NONE, "a position does not fit");

struct dominators {
	uint32_t left[SUBSUME_DISTANCE_MAX]; /* method and distance, at worst so far */
};

/* A place on the path of the adjusted tree (section 4.2). */
struct adjusted_node {
	uint64_t hash; /* of the methods up to here */
	uint32_t method;
	uint16_t previous; /* the last place before of the same method, or NONE */
	uint16_t depth;    /* of the node here in the tree as it is */
};

/* A node on the path of the tree as it is. */
struct frame {
	struct adjusted_node hidden; /* what was at its position */
	uint64_t before;             /* all costs that came before its own */
	uint32_t method;
	uint16_t position; /* on the adjusted path */
	uint16_t top;      /* of its parent */
	uint16_t height;
	bool folds; /* it began a repetition anew: places behind its own, up to top, are left out */
	bool outermost; /* of its method on this path */
};

/*
 * Invariant, while a node is the last of frames: path[0..position] are its ancestors in the
 * adjusted tree, it included; last[m] is the last of these places that is m's; what of path is
 * behind it is what its siblings' and its ancestors' siblings find again once it is left.
 */
struct dominance_pass {
	struct adjusted_node path[SUBSUME_DEPTH_MAX + 1];
	struct frame frames[SUBSUME_DEPTH_MAX + 1];
	uint64_t powers[SUBSUME_DEPTH_MAX + 1];
	uint64_t total; /* of the nodes so far */
	struct subsume_facts *facts;
	uint16_t *last;                /* by method */
	struct dominators *dominators; /* by method, */
	uint8_t *dominators_left;      /* and how many */
};

/* ---------------------------------------------------------------- what is given */

static int check_bounds(const struct subsume_bounds *bounds)
{
	return bounds->distance <= SUBSUME_DISTANCE_MAX ? 0 : -EINVAL;
}

static int check_tree(const struct subsume_tree *tree)
{
	uint64_t total = 0;

	if (tree->node_count == 0 || tree->node_count > SUBSUME_NODES_MAX ||
	    tree->method_count == 0 || tree->method_count > SUBSUME_METHODS_MAX ||
	    tree->method[0] != 0 || tree->depth[0] != 0)
		return -EINVAL;
	for (size_t n = 0; n < tree->node_count; n++)
		if (__builtin_add_overflow(total, tree->cost[n], &total))
			return -EINVAL;
	for (size_t n = 1; n < tree->node_count; n++)
		if (tree->method[n] - 1 >= tree->method_count - 1 || tree->depth[n] == 0 ||
		    tree->depth[n] > SUBSUME_DEPTH_MAX || tree->depth[n] > tree->depth[n - 1] + 1)
			return -EINVAL;
	return 0;
}

/* ---------------------------------------------------------------- the adjusted path */

/* Methods of a path are the digits of a number, modulo 2^64: equal segments have equal hashes. */
#define HASH_BASE GOLDEN_RATIO

/* The hash of places from + 1 .. to. */
static uint64_t segment_hash(const struct dominance_pass *p, unsigned from, unsigned to)
{
	return p->path[to].hash - p->path[from].hash * p->powers[to - from];
}

/* Whether a method whose last place is at begins a repetition that is folded, if it is called from
 * place top: listing 2. What lies between its last two places is compared with what has come since.
 * Only segments that are equal are looked at place by place, and few are: each takes as many new
 * nodes as it is long. */
static bool begins_anew(const struct dominance_pass *p, unsigned at, unsigned top)
{
	unsigned before = p->path[at].previous, length = top - at;

	if (before == NONE || at - before != length + 1 ||
	    segment_hash(p, at, top) != segment_hash(p, before, at - 1))
		return false;
	for (unsigned i = 1; i <= length; i++)
		if (p->path[at + i].method != p->path[before + i].method)
			return false;
	return true;
}

/* Takes a node whose parent's place is top to its own. */
static void enter_place(struct dominance_pass *p, struct frame *f, unsigned depth, unsigned top)
{
	uint16_t at = p->last[f->method];

	f->top = (uint16_t)top;
	f->folds = at != NONE && begins_anew(p, at, top);
	if (f->folds) {
		f->position = at;
		f->hidden.depth = p->path[at].depth;
		p->path[at].depth = (uint16_t)depth;
		for (unsigned i = top; i > at; i--)
			p->last[p->path[i].method] = p->path[i].previous;
		return;
	}
	f->position = (uint16_t)(top + 1);
	f->hidden = p->path[top + 1];
	p->path[top + 1] = (struct adjusted_node){
	    .hash = p->path[top].hash * HASH_BASE + f->method,
	    .method = f->method,
	    .previous = at,
	    .depth = (uint16_t)depth,
	};
	p->last[f->method] = f->position;
}

static void leave_place(struct dominance_pass *p, const struct frame *f)
{
	if (!f->folds) {
		p->last[f->method] = p->path[f->position].previous;
		p->path[f->position] = f->hidden;
		return;
	}
	p->path[f->position].depth = f->hidden.depth;
	for (unsigned i = f->position + 1u; i <= f->top; i++)
		p->last[p->path[i].method] = (uint16_t)i;
}

/* ---------------------------------------------------------------- dominators */

/* Begins with a method's first node: all methods that are near above it. */
static unsigned first_dominators(const struct dominance_pass *p, struct dominators *d,
				 unsigned position)
{
	uint32_t own = p->path[position].method;
	unsigned left = 0;

	for (unsigned distance = 1; distance <= SUBSUME_DISTANCE_MAX && distance <= position;
	     distance++) {
		uint32_t method = p->path[position - distance].method;

		if (method != own && p->last[method] == position - distance)
			d->left[left++] = method << DISTANCE_BITS | distance;
	}
	return left;
}

/* Goes on with any other: those that are above this one, too. Farther ones than
 * SUBSUME_DISTANCE_MAX are given up: nobody is told how far they are. */
static unsigned keep_dominators(const struct dominance_pass *p, struct dominators *d, unsigned left,
				unsigned position)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < left; i++) {
		uint32_t method = d->left[i] >> DISTANCE_BITS;
		uint32_t farthest = d->left[i] & DISTANCE_MASK;
		/* NONE is behind every position: as a distance it is a huge one. */
		uint32_t distance = position - p->last[method];

		if (distance > SUBSUME_DISTANCE_MAX)
			continue;
		d->left[kept++] =
		    method << DISTANCE_BITS | (distance > farthest ? distance : farthest);
	}
	return kept;
}

static void dominate(struct dominance_pass *p, uint32_t method, unsigned position)
{
	struct dominators *d = &p->dominators[method];
	uint8_t *left = &p->dominators_left[method];

	if (p->facts[method].occurrences == 0)
		*left = (uint8_t)first_dominators(p, d, position);
	else if (*left)
		*left = (uint8_t)keep_dominators(p, d, *left, position);
}

/* Tells the first by name of several that are as near, which does not depend on the order of the
 * tree. */
static void tell_distance(const struct dominators *d, unsigned left,
			  const struct subsume_method *methods, struct subsume_facts *f)
{
	for (unsigned i = 0; i < left; i++) {
		uint32_t distance = d->left[i] & DISTANCE_MASK;
		uint32_t method = d->left[i] >> DISTANCE_BITS;

		if (distance > f->distance ||
		    (distance == f->distance &&
		     strcmp(methods[method].label, methods[f->dominator].label) > 0))
			continue;
		f->distance = distance;
		f->dominator = method;
	}
}

static void tell_distances(struct dominance_pass *p, const struct subsume_tree *tree)
{
	for (size_t m = 1; m < tree->method_count; m++) {
		struct subsume_facts *f = &p->facts[m];

		f->distance = f->occurrences ? SUBSUME_FAR : 0;
		tell_distance(&p->dominators[m], p->dominators_left[m], tree->methods, f);
	}
}

/* ---------------------------------------------------------------- the pass */

static void enter(struct dominance_pass *p, unsigned depth, uint32_t method, uint64_t cost)
{
	struct frame *f = &p->frames[depth];
	struct subsume_facts *facts = &p->facts[method];

	f->method = method;
	f->height = 0;
	f->before = p->total;
	/* Folding leaves a place of every method on the path. */
	f->outermost = p->last[method] == NONE;
	enter_place(p, f, depth, p->frames[depth - 1].position);
	dominate(p, method, f->position);
	p->total += cost;
	facts->exclusive += cost;
	facts->occurrences++;
}

static void leave(struct dominance_pass *p, unsigned depth)
{
	struct frame *f = &p->frames[depth];
	struct frame *parent = &p->frames[p->path[f->position - 1].depth];
	struct subsume_facts *facts = &p->facts[f->method];

	if (f->height > facts->height)
		facts->height = f->height;
	if (f->outermost)
		facts->inclusive += p->total - f->before;
	if (parent->height <= f->height)
		parent->height = (uint16_t)(f->height + 1);
	leave_place(p, f);
}

/* Node 0 is above all; its method is nobody else's, so its place is never left. */
static void begin(struct dominance_pass *p, const struct subsume_tree *tree)
{
	memset(p->last, 0xff, tree->method_count * sizeof(*p->last));
	p->powers[0] = 1;
	for (size_t i = 1; i <= SUBSUME_DEPTH_MAX; i++)
		p->powers[i] = p->powers[i - 1] * HASH_BASE;
	p->path[0] = (struct adjusted_node){.previous = NONE};
	p->last[0] = 0;
	p->total = tree->cost[0];
	p->facts[0].exclusive = tree->cost[0];
	p->facts[0].occurrences = 1;
}

static void walk(struct dominance_pass *p, const struct subsume_tree *tree)
{
	unsigned depth = 0;

	begin(p, tree);
	for (size_t n = 1; n < tree->node_count; n++) {
		for (; depth >= tree->depth[n]; depth--)
			leave(p, depth);
		enter(p, ++depth, tree->method[n], tree->cost[n]);
	}
	for (; depth > 0; depth--)
		leave(p, depth);
	p->facts[0].height = p->frames[0].height;
	p->facts[0].inclusive = p->total;
	tell_distances(p, tree);
}

static void release_pass(struct dominance_pass **p)
{
	if (!*p)
		return;
	free((*p)->last);
	free((*p)->dominators);
	free((*p)->dominators_left);
	free(*p);
}

static int find_facts(const struct subsume_tree *tree, struct subsume_facts *facts, uint64_t *total)
{
	_cleanup_(release_pass) struct dominance_pass *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->facts = facts;
	p->last = malloc(tree->method_count * sizeof(*p->last));
	p->dominators = malloc(tree->method_count * sizeof(*p->dominators));
	p->dominators_left = calloc(tree->method_count, sizeof(*p->dominators_left));
	if (!p->last || !p->dominators || !p->dominators_left)
		return -ENOMEM;
	walk(p, tree);
	*total = p->total;
	return 0;
}

/* ---------------------------------------------------------------- who subsumes, and what */

static void choose(const struct subsume_tree *tree, struct subsume_analysis *a)
{
	a->subsuming_methods = 0;
	for (size_t m = 0; m < a->method_count; m++) {
		struct subsume_facts *f = &a->methods[m];

		f->induced = 0;
		f->subsumes =
		    m == 0 || (!tree->methods[m].always_subsumed && f->height > a->bounds.height &&
			       f->distance > a->bounds.distance);
		a->subsuming_methods += f->subsumes;
	}
}

/* Each cost goes to the nearest node above, or at, its own whose method subsumes. */
static void induce(const struct subsume_tree *tree, struct subsume_analysis *a)
{
	uint32_t owners[SUBSUME_DEPTH_MAX + 1];

	a->subsuming_nodes = 0;
	for (size_t n = 0; n < tree->node_count; n++) {
		bool subsumes = a->methods[tree->method[n]].subsumes;
		unsigned depth = tree->depth[n];
		uint32_t owner = subsumes ? (uint32_t)n : owners[depth - 1];

		owners[depth] = a->owner[n] = owner;
		a->subsuming_nodes += subsumes;
		a->methods[tree->method[owner]].induced += tree->cost[n];
	}
}

int subsume_rebound(const struct subsume_tree *tree, const struct subsume_bounds *bounds,
		    struct subsume_analysis *a)
{
	int r = check_bounds(bounds);

	if (r < 0)
		return r;
	a->bounds = *bounds;
	choose(tree, a);
	induce(tree, a);
	return 0;
}

int subsume_analyse(const struct subsume_tree *tree, const struct subsume_bounds *bounds,
		    struct subsume_analysis *out)
{
	struct subsume_analysis a = {0};
	int r = check_bounds(bounds);

	if (r == 0)
		r = check_tree(tree);
	if (r < 0)
		return r;
	a.method_count = tree->method_count;
	a.methods = calloc(tree->method_count, sizeof(*a.methods));
	a.owner = malloc(tree->node_count * sizeof(*a.owner));
	r = a.methods && a.owner ? find_facts(tree, a.methods, &a.total) : -ENOMEM;
	if (r < 0) {
		subsume_analysis_release(&a);
		return r;
	}
	(void)subsume_rebound(tree, bounds, &a); /* The bounds are checked. */
	*out = a;
	return 0;
}

void subsume_analysis_release(struct subsume_analysis *a)
{
	free(a->methods);
	free(a->owner);
	*a = (struct subsume_analysis){0};
}
