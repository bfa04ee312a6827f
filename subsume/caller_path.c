#include "subsume/caller_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/mix.h"

#define FIRST_WAYS 1024u

/* A way outwards, of so many callers as a path has steps at most: a tree, whose roots are the
 * methods that are asked for. A way's number is larger than that of the way without its last
 * caller. */
struct caller_chain {
	uint64_t cost;
	uint32_t inner;
	uint32_t caller;
};

/* A node on the path of the walk. */
struct path_node {
	uint64_t before; /* costs that came before it */
	uint32_t method;
	bool counted; /* its path is asked for, and no node above has the same method */
};

struct caller_walk {
	const struct subsume_tree *tree;
	struct subsume_caller_path *paths;
	size_t path_count;
	uint32_t *path_of;         /* by method: its path plus 1 */
	uint16_t *active;          /* by such method: its nodes above */
	struct caller_chain *ways; /* those of paths first */
	size_t way_count, way_room;
	uint32_t
	    *slots; /* ways by inner and caller, open addressing; 0, which is a root, is free */
	size_t slot_count;
	struct path_node path[SUBSUME_DEPTH_MAX + 1];
	uint64_t total;
};

static size_t slot_of(const struct caller_walk *w, uint32_t inner, uint32_t caller)
{
	size_t mask = w->slot_count - 1, at = mix((uint64_t)inner << 32 | caller) & mask;

	while (w->slots[at] &&
	       (w->ways[w->slots[at]].inner != inner || w->ways[w->slots[at]].caller != caller))
		at = (at + 1) & mask;
	return at;
}

/* Room for one more way, in slots that are at most half full. */
static int grow(struct caller_walk *w)
{
	size_t room = w->way_room ? w->way_room * 2 : FIRST_WAYS + w->path_count;
	struct caller_chain *ways;

	if (w->way_count < w->way_room)
		return 0;
	if (room > UINT32_MAX / 4)
		return -ENOMEM;
	ways = realloc(w->ways, room * sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	w->ways = ways;
	w->way_room = room;
	free(w->slots);
	for (w->slot_count = 2; w->slot_count < 2 * room; w->slot_count *= 2)
		;
	w->slots = calloc(w->slot_count, sizeof(*w->slots));
	if (!w->slots)
		return -ENOMEM;
	for (size_t i = w->path_count; i < w->way_count; i++)
		w->slots[slot_of(w, ways[i].inner, ways[i].caller)] = (uint32_t)i;
	return 0;
}

static int outwards(struct caller_walk *w, uint32_t *way, uint32_t caller, uint64_t cost)
{
	size_t at;
	int r = grow(w);

	if (r < 0)
		return r;
	at = slot_of(w, *way, caller);
	if (!w->slots[at]) {
		w->ways[w->way_count] = (struct caller_chain){.inner = *way, .caller = caller};
		w->slots[at] = (uint32_t)w->way_count++;
	}
	*way = w->slots[at];
	w->ways[*way].cost += cost;
	return 0;
}

static int leave(struct caller_walk *w, unsigned depth)
{
	const struct path_node *s = &w->path[depth];
	uint32_t number = w->path_of[s->method], way = number - 1;
	int r = 0;

	if (number)
		w->active[s->method]--;
	if (!s->counted || w->total == s->before ||
	    w->path[depth - 1].method != w->paths[way].steps[0].method)
		return 0;
	/* Above a thread's first frame there is only the virtual root. */
	for (unsigned i = 2; i <= SUBSUME_PARTS_MAX && i < depth && r == 0; i++)
		r = outwards(w, &way, w->path[depth - i].method, w->total - s->before);
	return r;
}

static void enter(struct caller_walk *w, size_t n)
{
	struct path_node *s = &w->path[w->tree->depth[n]];

	s->method = w->tree->method[n];
	s->before = w->total;
	s->counted = n > 0 && w->path_of[s->method] && w->active[s->method] == 0;
	if (w->path_of[s->method])
		w->active[s->method]++;
	w->total += w->tree->cost[n];
}

static int walk(struct caller_walk *w)
{
	unsigned depth = 0;
	int r = 0;

	enter(w, 0);
	for (size_t n = 1; n < w->tree->node_count && r == 0; n++) {
		for (; depth >= w->tree->depth[n] && r == 0; depth--)
			r = leave(w, depth);
		depth = w->tree->depth[n];
		enter(w, n);
	}
	for (; depth > 0 && r == 0; depth--)
		r = leave(w, depth);
	return r;
}

/* More than half is one at most. */
static int follow(const struct caller_walk *w)
{
	/* By way: the next one outwards that has more than half of its path's cost, or 0. */
	_cleanup_free_ uint32_t *main_way = calloc(w->way_count, sizeof(*main_way));
	/* By way: its path. */
	_cleanup_free_ uint32_t *path = calloc(w->way_count, sizeof(*path));

	if (!main_way || !path)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->way_count; i++) {
		const struct caller_chain *way = &w->ways[i];

		path[i] = i < w->path_count ? i : path[way->inner];
		if (i >= w->path_count && way->cost > w->paths[path[i]].inclusive / 2)
			main_way[way->inner] = i;
	}
	for (uint32_t i = 0; i < w->path_count; i++) {
		struct subsume_caller_path *p = &w->paths[i];

		for (uint32_t at = main_way[i]; at; at = main_way[at])
			p->steps[p->count++] = (struct subsume_part){
			    .method = w->ways[at].caller,
			    .fraction = (double)w->ways[at].cost / (double)p->inclusive,
			};
	}
	return 0;
}

static int find(struct caller_walk *w)
{
	int r = grow(w);

	w->path_of = calloc(w->tree->method_count, sizeof(*w->path_of));
	w->active = calloc(w->tree->method_count, sizeof(*w->active));
	if (r < 0 || !w->path_of || !w->active)
		return -ENOMEM;
	for (size_t i = 0; i < w->path_count; i++) {
		w->path_of[w->paths[i].method] = (uint32_t)i + 1;
		w->ways[w->way_count++] = (struct caller_chain){0};
	}
	r = walk(w);
	return r < 0 ? r : follow(w);
}

int subsume_caller_paths(const struct subsume_tree *tree, struct subsume_caller_path *paths,
			 size_t count)
{
	struct caller_walk *w;
	int r;

	if (count == 0)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->tree = tree;
	w->paths = paths;
	w->path_count = count;
	r = find(w);
	free(w->path_of);
	free(w->active);
	free(w->ways);
	free(w->slots);
	free(w);
	return r;
}
