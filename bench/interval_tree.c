/*
 * What the interval tree costs, beside two red-black trees: libc's tsearch(3), with the interval as
 * its key, and the one of libuv's uv/tree.h (BSD), compiled in with its comparison. Prints one row
 * a figure: name value unit (minimum to maximum).
 *
 *   stab     look-ups of addresses that lie in an interval
 *   mixed    nine look-ups, then one interval removed and inserted elsewhere
 *   relocate one collection that moves so much of the tree, as one batch and one by one
 *   bytes    memory per interval
 *
 * Addresses: uniform; zipf (the rank's weight is 1/rank, ranks scattered over the heap); sequential
 * (objects allocated, and then accessed, in the order of their addresses).
 *
 * Times are the thread's CPU time, so neighbours matter only through caches and memory. A figure is
 * the median of ROUNDS rounds in which the trees take turns; a round before them is not counted.
 * Each round draws its accesses anew, so that nothing profits from having seen the same ones.
 * All trees must give the same answers.
 */
#include <malloc.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv/tree.h>

#include "bench/figures.h"
#include "common/cleanup.h"
#include "profile/container/interval_tree.h"

#define ROUNDS       5
#define OPERATIONS   500000u
#define MIXED_EVERY  10u
#define OBJECT_BYTES 64u
#define SLOT_BYTES   96u
#define HEAP_START   UINT64_C(0x700000000)
#define LARGEST      1000000u

enum distribution { UNIFORM, ZIPF, SEQUENTIAL, DISTRIBUTIONS };
static const char *const distribution_names[] = {"uniform", "zipf", "sequential"};

/* The workload: object i lives at homes[turn][i], and each replacement takes it to the other one.
 */
struct workload {
	uint32_t objects;
	uint64_t *homes[2];
	uint32_t *order; /* OPERATIONS objects, in the order of access */
};

/* One kind of tree. Every function works on the one tree of its kind that there is at a time. */
struct contender {
	const char *name;
	void (*init)(const struct workload *w);
	void (*insert)(uint32_t object, uint64_t start);
	void (*remove)(uint32_t object);
	uint32_t (*stab)(uint64_t address); /* the object */
	void (*release)(void);
};

/* ---------------------------------------------------------------- the splay tree */

static struct interval_tree splay_tree;
static uint32_t *splay_ids;

static void splay_init(const struct workload *w)
{
	interval_tree_init(&splay_tree, w->objects, NULL, NULL);
	splay_ids = figures_allocate(w->objects, sizeof(*splay_ids));
}

static void splay_insert(uint32_t object, uint64_t start)
{
	if (interval_tree_insert(&splay_tree, start, OBJECT_BYTES, object, &splay_ids[object]) < 0)
		abort();
}

static void splay_remove(uint32_t object)
{
	if (interval_tree_remove(&splay_tree, splay_ids[object]) < 0)
		abort();
}

static uint32_t splay_stab(uint64_t address)
{
	const struct interval_node *n = interval_tree_stab(&splay_tree, address);

	return n ? n->object : UINT32_MAX;
}

static void splay_release(void)
{
	interval_tree_release(&splay_tree);
	free(splay_ids);
}

/* ---------------------------------------------------------------- intervals of the others */

struct interval {
	RB_ENTRY(interval) entry; /* of no use to tsearch, and not counted there */
	uint64_t start, last;
	uint32_t object;
};

static int compare(const struct interval *a, const struct interval *b)
{
	return a->last < b->start ? -1 : a->start > b->last;
}

static struct interval *place(struct interval *i, uint32_t object, uint64_t start)
{
	i->start = start;
	i->last = start + OBJECT_BYTES - 1;
	i->object = object;
	return i;
}

/* ---------------------------------------------------------------- tsearch */

static void *libc_root;
static struct interval *libc_intervals;

static void libc_init(const struct workload *w)
{
	libc_intervals = figures_allocate(w->objects, sizeof(*libc_intervals));
}

static int libc_compare(const void *a, const void *b)
{
	return compare(a, b);
}

static void libc_insert(uint32_t object, uint64_t start)
{
	if (!tsearch(place(&libc_intervals[object], object, start), &libc_root, libc_compare))
		abort();
}

static void libc_remove(uint32_t object)
{
	if (!tdelete(&libc_intervals[object], &libc_root, libc_compare))
		abort();
}

static uint32_t libc_stab(uint64_t address)
{
	struct interval key = {.start = address, .last = address};
	struct interval *const *found = tfind(&key, &libc_root, libc_compare);

	return found ? (*found)->object : UINT32_MAX;
}

static void keep_key(void *key)
{
	(void)key;
}

static void libc_release(void)
{
	tdestroy(libc_root, keep_key);
	libc_root = NULL;
	free(libc_intervals);
}

/* ---------------------------------------------------------------- uv/tree.h */

RB_HEAD(uv_tree, interval);
static struct uv_tree uv_root;
static struct interval *uv_intervals;
RB_GENERATE_STATIC(uv_tree, interval, entry, compare)

static void uv_init(const struct workload *w)
{
	uv_intervals = figures_allocate(w->objects, sizeof(*uv_intervals));
}

static void uv_insert(uint32_t object, uint64_t start)
{
	if (RB_INSERT(uv_tree, &uv_root, place(&uv_intervals[object], object, start)))
		abort();
}

static void uv_remove(uint32_t object)
{
	(void)RB_REMOVE(uv_tree, &uv_root, &uv_intervals[object]);
}

static uint32_t uv_stab(uint64_t address)
{
	struct interval key = {.start = address, .last = address};
	const struct interval *found = RB_FIND(uv_tree, &uv_root, &key);

	return found ? found->object : UINT32_MAX;
}

static void uv_release(void)
{
	RB_INIT(&uv_root);
	free(uv_intervals);
}

static const struct contender contenders[] = {
    {"splay", splay_init, splay_insert, splay_remove, splay_stab, splay_release},
    {"tsearch", libc_init, libc_insert, libc_remove, libc_stab, libc_release},
    {"uv_rb", uv_init, uv_insert, uv_remove, uv_stab, uv_release},
};
#define CONTENDERS (sizeof(contenders) / sizeof(contenders[0]))

/* ---------------------------------------------------------------- workloads */

/* xorshift64*: every run the same. */
static uint64_t random_below(uint64_t bound)
{
	static uint64_t state = 88172645463325252;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * UINT64_C(2685821657736338717) >> 16) % bound;
}

static void shuffle(uint64_t *items, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = (uint32_t)random_below(i);
		uint64_t item = items[i - 1];

		items[i - 1] = items[j];
		items[j] = item;
	}
}

/* Objects are numbered by rank; where they are in the heap was shuffled. */
static void order_by_zipf(struct workload *w)
{
	_cleanup_free_ double *cumulated = figures_allocate(w->objects, sizeof(*cumulated));
	double sum = 0;

	for (uint32_t i = 0; i < w->objects; i++)
		cumulated[i] = sum += 1.0 / (i + 1);
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		double wanted = (double)random_below(UINT64_C(1) << 40) / 0x1p40 * sum;
		uint32_t low = 0, high = w->objects - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (cumulated[middle] < wanted)
				low = middle + 1;
			else
				high = middle;
		}
		w->order[i] = low;
	}
}

static void draw_order(struct workload *w, enum distribution d)
{
	if (d == ZIPF) {
		order_by_zipf(w);
		return;
	}
	for (uint32_t i = 0; i < OPERATIONS; i++)
		w->order[i] = d == SEQUENTIAL ? i % w->objects : (uint32_t)random_below(w->objects);
}

static void workload_init(struct workload *w, uint32_t objects, enum distribution d)
{
	w->objects = objects;
	w->order = figures_allocate(OPERATIONS, sizeof(*w->order));
	for (uint32_t half = 0; half < 2; half++) {
		w->homes[half] = figures_allocate(objects, sizeof(**w->homes));
		for (uint64_t i = 0; i < objects; i++)
			w->homes[half][i] = HEAP_START + (half * objects + i) * SLOT_BYTES;
		if (d != SEQUENTIAL)
			shuffle(w->homes[half], objects);
	}
	draw_order(w, d);
}

static void workload_release(struct workload *w)
{
	free(w->order);
	free(w->homes[0]);
	free(w->homes[1]);
}

/* ---------------------------------------------------------------- measuring */

static void print_row(const char *name, double *values, const char *unit)
{
	figures_sort(values, ROUNDS);
	(void)printf("%-44s %.3f %s  (%.3f to %.3f)\n", name, values[ROUNDS / 2], unit, values[0],
		     values[ROUNDS - 1]);
}

/* Operations a second, in millions. turn says which home each object lives at. */
static double run(const struct contender *c, const struct workload *w, bool mixed, uint8_t *turn)
{
	double start = figures_cpu_s();

	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t object = w->order[i];

		if (mixed && i % MIXED_EVERY == 0) {
			c->remove(object);
			turn[object] ^= 1;
			c->insert(object, w->homes[turn[object]][object]);
		} else if (c->stab(w->homes[turn[object]][object] + i % OBJECT_BYTES) != object) {
			(void)fprintf(stderr, "%s: wrong answer\n", c->name);
			abort();
		}
	}
	return OPERATIONS / (figures_cpu_s() - start) / 1e6;
}

static void fill(const struct contender *c, const struct workload *w)
{
	c->init(w);
	for (uint32_t i = 0; i < w->objects; i++)
		c->insert(i, w->homes[0][i]);
}

/* Look-ups alone come first: the trees are as filling left them, or as look-ups made them. */
static void bench_rates(uint32_t objects, enum distribution d)
{
	struct workload w;
	uint8_t *turns[CONTENDERS];

	workload_init(&w, objects, d);
	for (size_t c = 0; c < CONTENDERS; c++) {
		fill(&contenders[c], &w);
		turns[c] = figures_allocate(objects, sizeof(**turns));
	}
	for (int mixed = 0; mixed < 2; mixed++) {
		double rates[CONTENDERS][ROUNDS];

		for (int round = -1; round < ROUNDS; round++) {
			for (size_t c = 0; c < CONTENDERS; c++)
				rates[c][round < 0 ? 0 : round] =
				    run(&contenders[c], &w, mixed, turns[c]);
			draw_order(&w, d);
		}
		for (size_t c = 0; c < CONTENDERS; c++) {
			char name[64];

			(void)snprintf(name, sizeof(name), "tree_%s_%s_%u_%s",
				       mixed ? "mixed" : "stab", distribution_names[d], objects,
				       contenders[c].name);
			print_row(name, rates[c], "Mops/s");
		}
	}
	for (size_t c = 0; c < CONTENDERS; c++) {
		contenders[c].release();
		free(turns[c]);
	}
	workload_release(&w);
}

/* ---------------------------------------------------------------- memory */

/* What malloc holds more after the tree was filled; large blocks are counted apart from it. */
static double heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)(info.uordblks + info.hblkhd);
}

static void bench_memory(uint32_t objects)
{
	struct workload w;

	workload_init(&w, objects, UNIFORM);
	for (size_t c = 0; c < CONTENDERS; c++) {
		double before = heap_bytes(), bytes;

		fill(&contenders[c], &w);
		bytes = heap_bytes() - before;
		if (contenders[c].stab == splay_stab)
			bytes -= (double)objects * sizeof(*splay_ids); /* The bench's own. */
		if (contenders[c].stab == libc_stab)
			bytes -= (double)objects * sizeof(libc_intervals->entry);
		(void)printf("tree_bytes_%u_%-28s %.1f bytes/interval\n", objects,
			     contenders[c].name, bytes / objects);
		contenders[c].release();
	}
	workload_release(&w);
}

/* ---------------------------------------------------------------- collections */

static void fill_moves(struct interval_move *moves, const uint64_t *homes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		moves[i] = (struct interval_move){.start = homes[i], .node = splay_ids[i]};
}

/* Milliseconds for the first count objects of w to move to their other homes. */
static double relocate(const struct workload *w, struct interval_move *moves, uint32_t count,
		       bool batch)
{
	double start;

	fill(&contenders[0], w);
	fill_moves(moves, w->homes[1], count);
	start = figures_cpu_s();
	if (batch) {
		interval_tree_relocate(&splay_tree, moves, count, NULL, 0);
	} else {
		for (uint32_t i = 0; i < count; i++)
			splay_remove(i);
		for (uint32_t i = 0; i < count; i++)
			splay_insert(i, w->homes[1][i]);
	}
	start = (figures_cpu_s() - start) * 1e3;
	if (splay_tree.count != w->objects || splay_stab(w->homes[1][count - 1]) != count - 1)
		abort();
	splay_release();
	return start;
}

/* Shares of the tree from 1/smallest_share to all of it. */
static void bench_relocate(uint32_t objects, enum distribution d, uint32_t smallest_share)
{
	struct workload w;
	_cleanup_free_ struct interval_move *moves = figures_allocate(objects, sizeof(*moves));

	workload_init(&w, objects, d);
	for (uint32_t share = smallest_share; share >= 1; share /= 2) {
		double batch[ROUNDS], each[ROUNDS];
		char name[64];

		for (int round = -1; round < ROUNDS; round++) {
			batch[round < 0 ? 0 : round] = relocate(&w, moves, objects / share, true);
			each[round < 0 ? 0 : round] = relocate(&w, moves, objects / share, false);
		}
		(void)snprintf(name, sizeof(name), "tree_relocate_%s_%u_1/%u_batch",
			       distribution_names[d], objects, share);
		print_row(name, batch, "ms");
		(void)snprintf(name, sizeof(name), "tree_relocate_%s_%u_1/%u_each",
			       distribution_names[d], objects, share);
		print_row(name, each, "ms");
	}
	workload_release(&w);
}

int main(void)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0); /* It is watched. */
	for (uint32_t objects = 1000; objects <= LARGEST; objects *= 10)
		for (enum distribution d = UNIFORM; d < DISTRIBUTIONS; d++)
			bench_rates(objects, d);
	bench_relocate(LARGEST / 10, UNIFORM, 64);
	bench_relocate(LARGEST / 10, SEQUENTIAL, 64);
	bench_relocate(LARGEST, UNIFORM, 1);
	bench_relocate(LARGEST, SEQUENTIAL, 1);
	for (uint32_t objects = 1000; objects <= LARGEST; objects *= 10)
		bench_memory(objects);
	return EXIT_SUCCESS;
}
