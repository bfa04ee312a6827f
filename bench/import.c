/*
 * How fast profiles that other programs wrote are read. Prints one row a figure: name value unit
 * (minimum to maximum).
 *
 *   collapsed     stacks as a walk through a tree of calls meets them
 *   collapsed-shuffled
 *                 the same in no order, as async-profiler's hash table gives them
 *   pprof         uncompressed, in no order; samples before what they mean
 *   pprof-gzip    the same, compressed; per byte of the file, and of what is in it
 *   jfr           chunks with other events between the samples
 *
 * The stacks are walks through a call graph of METHODS methods with CALLEES callees each. Times are
 * the thread's CPU time, from bytes in memory to a tree. A figure is the median of ROUNDS rounds.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bench/figures.h"
#include "common/mix.h"
#include "common/random.h"
#include "subsume/import/import.h"
#include "tests/unit/support/jfr_file.h"

#define ROUNDS        3
#define METHODS       16000u
#define CALLEES       6u
#define STACKS        60000u
#define DEPTH_MIN     20u
#define DEPTH_MAX     60u
#define PPROF_REPEATS 6u
#define JFR_CHUNKS    6u
#define JFR_SAMPLES   400000u /* a chunk */
#define JFR_OTHERS    2u      /* other events for each sample */
#define NAME_BYTES    64u

struct stack {
	uint32_t methods[DEPTH_MAX]; /* the outermost first */
	uint32_t depth;
};

struct bytes {
	uint8_t *at;
	size_t size, capacity;
};

static char names[METHODS][NAME_BYTES];
static struct stack *stacks;
static uint32_t order[STACKS];

/* ---------------------------------------------------------------- stacks */

/* The first callees of a method are called most. */
static uint32_t callee(uint32_t method, struct random *r)
{
	uint32_t pick = random_below(r, CALLEES), other = random_below(r, CALLEES);

	return (uint32_t)(mix(method * (uint64_t)CALLEES + (pick < other ? pick : other)) %
			  METHODS);
}

static void make_stacks(void)
{
	struct random r;

	random_seed(&r, 42);
	stacks = figures_allocate(STACKS, sizeof(*stacks));
	for (size_t m = 0; m < METHODS; m++)
		(void)snprintf(names[m], NAME_BYTES,
			       "org/example/module%zu/part/Type%zu.doSomething%zu", m % 37, m / 8,
			       m % 8);
	for (size_t i = 0; i < STACKS; i++) {
		uint32_t depth = DEPTH_MIN + random_below(&r, DEPTH_MAX - DEPTH_MIN);
		uint32_t same = i > 0 ? random_below(&r, stacks[i - 1].depth) : 0;

		if (i > 0)
			stacks[i] = stacks[i - 1];
		stacks[i].depth = same > depth ? same : depth;
		for (uint32_t d = same; d < stacks[i].depth; d++)
			stacks[i].methods[d] = d > 0 ? callee(stacks[i].methods[d - 1], &r) : 0;
		order[i] = (uint32_t)i;
	}
	for (uint32_t i = STACKS - 1; i > 0; i--) {
		uint32_t k = random_below(&r, i + 1), swapped = order[i];

		order[i] = order[k];
		order[k] = swapped;
	}
}

/* ---------------------------------------------------------------- files */

static void append(struct bytes *b, const void *from, size_t size)
{
	if (size == 0)
		return;
	while (b->size + size > b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : (size_t)1 << 20;
		b->at = figures_check(realloc(b->at, b->capacity));
	}
	memcpy(b->at + b->size, from, size);
	b->size += size;
}

static struct bytes make_collapsed(int shuffled)
{
	struct bytes b = {0};

	for (uint32_t i = 0; i < STACKS; i++) {
		const struct stack *s = &stacks[shuffled ? order[i] : i];

		for (uint32_t d = 0; d < s->depth; d++) {
			append(&b, names[s->methods[d]], strlen(names[s->methods[d]]));
			append(&b, d + 1 < s->depth ? ";" : " 7\n", d + 1 < s->depth ? 1 : 3);
		}
	}
	return b;
}

static void varint(struct bytes *b, uint64_t value)
{
	uint8_t byte;

	for (; value >= 0x80; value >>= 7) {
		byte = (uint8_t)(value | 0x80);
		append(b, &byte, 1);
	}
	byte = (uint8_t)value;
	append(b, &byte, 1);
}

static void field(struct bytes *b, uint32_t number, struct bytes *inner)
{
	varint(b, number << 3 | 2);
	varint(b, inner->size);
	append(b, inner->at, inner->size);
	inner->size = 0;
}

/* A message of two numbers. */
static void pair(struct bytes *b, uint32_t number, uint64_t first, uint64_t second)
{
	struct bytes inner = {0};

	varint(&inner, 1 << 3);
	varint(&inner, first);
	varint(&inner, 2 << 3);
	varint(&inner, second);
	field(b, number, &inner);
	free(inner.at);
}

static void pprof_sample(struct bytes *b, const struct stack *s)
{
	struct bytes list = {0}, sample = {0};

	for (uint32_t d = s->depth; d > 0; d--)
		varint(&list, s->methods[d - 1] + 1);
	field(&sample, 1, &list);
	varint(&list, 1);
	varint(&list, 10000000);
	field(&sample, 2, &list);
	field(b, 2, &sample);
	free(list.at);
	free(sample.at);
}

static struct bytes make_pprof(void)
{
	static const char *const strings[] = {"", "samples", "count", "cpu", "nanoseconds"};
	struct bytes b = {0}, inner = {0}, line = {0};

	pair(&b, 1, 1, 2);
	pair(&b, 1, 3, 4);
	for (uint32_t i = 0; i < PPROF_REPEATS * STACKS; i++)
		pprof_sample(&b, &stacks[order[i % STACKS]]);
	for (uint32_t m = 0; m < METHODS; m++) {
		varint(&inner, 1 << 3);
		varint(&inner, m + 1);
		varint(&line, 1 << 3);
		varint(&line, m + 1);
		field(&inner, 4, &line);
		field(&b, 4, &inner);
		pair(&b, 5, m + 1, m + 5);
	}
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		append(&inner, strings[i], strlen(strings[i]));
		field(&b, 6, &inner);
	}
	for (uint32_t m = 0; m < METHODS; m++) {
		append(&inner, names[m], strlen(names[m]));
		field(&b, 6, &inner);
	}
	free(inner.at);
	free(line.at);
	return b;
}

static struct bytes compress_gzip(const struct bytes *from)
{
	struct bytes b = {.capacity = from->size + 1024};
	z_stream z = {.next_in = from->at, .avail_in = (unsigned)from->size};

	b.at = figures_check(malloc(b.capacity));
	z.next_out = b.at;
	z.avail_out = (unsigned)b.capacity;
	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END || deflateEnd(&z) != Z_OK)
		abort();
	b.size = b.capacity - z.avail_out;
	return b;
}

static struct bytes make_jfr(void)
{
	struct jfr_file f = {0};
	struct jfr_file_stack *found = figures_allocate(STACKS, sizeof(*found));
	uint32_t *frames = figures_allocate((size_t)STACKS * DEPTH_MAX, sizeof(*frames));
	struct random r;

	random_seed(&r, 7);
	for (size_t i = 0; i < STACKS; i++) {
		uint32_t *to = frames + i * DEPTH_MAX;

		for (uint32_t d = 0; d < stacks[i].depth; d++)
			to[d] = stacks[i].methods[stacks[i].depth - 1 - d];
		found[i] =
		    (struct jfr_file_stack){.id = i + 1, .methods = to, .depth = stacks[i].depth};
	}
	for (unsigned chunk = 0; chunk < JFR_CHUNKS; chunk++) {
		/* Each chunk has a part of them. */
		uint32_t part = STACKS / JFR_CHUNKS;

		jfr_file_begin(&f);
		jfr_file_metadata(&f);
		for (uint32_t i = 0; i < JFR_SAMPLES; i++) {
			jfr_file_sample(&f, 1 + chunk * part + random_below(&r, part));
			for (unsigned k = 0; k < JFR_OTHERS; k++) {
				size_t other = jfr_file_open(&f, JFR_FILE_OTHER);

				jfr_file_varint(&f, UINT64_C(123456789012));
				jfr_file_close(&f, other);
			}
		}
		jfr_file_checkpoint(&f, METHODS, found + (size_t)chunk * part, part);
		jfr_file_end(&f);
	}
	free(found);
	free(frames);
	return (struct bytes){.at = f.bytes, .size = f.size};
}

/* ---------------------------------------------------------------- figures */

/* Frees the bytes. inside: what is in them when they are not compressed. */
static void figure(const char *name, struct bytes *b, size_t inside)
{
	double rate[ROUNDS], ratio = (double)inside / (double)b->size;
	size_t nodes = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct import_options options = {.format = IMPORT_AUTO};
		struct subsume_tree tree;
		struct import_notes notes;
		struct err err;
		double begin = figures_cpu_s();

		if (import_profile(b->at, b->size, &options, &tree, &notes, &err) < 0) {
			(void)fprintf(stderr, "%s: %s\n", name, err.message);
			exit(EXIT_FAILURE);
		}
		rate[i] = (double)b->size / 1e6 / (figures_cpu_s() - begin);
		nodes = tree.node_count;
		subsume_tree_release(&tree);
	}
	figures_sort(rate, ROUNDS);
	(void)printf("%-20s %8.1f MB/s (%.1f to %.1f); %.1f MB, %zu nodes\n", name,
		     rate[ROUNDS / 2], rate[0], rate[ROUNDS - 1], (double)b->size / 1e6, nodes);
	if (inside != b->size)
		(void)printf("%-20s %8.1f MB/s (%.1f to %.1f); %.1f MB\n", "  uncompressed",
			     rate[ROUNDS / 2] * ratio, rate[0] * ratio, rate[ROUNDS - 1] * ratio,
			     (double)inside / 1e6);
	(void)fflush(stdout);
	free(b->at);
	*b = (struct bytes){0};
}

int main(void)
{
	struct bytes b, gzipped;
	size_t inside;

	make_stacks();
	b = make_collapsed(0);
	figure("collapsed", &b, b.size);
	b = make_collapsed(1);
	figure("collapsed-shuffled", &b, b.size);
	b = make_pprof();
	gzipped = compress_gzip(&b);
	inside = b.size;
	figure("pprof", &b, b.size);
	figure("pprof-gzip", &gzipped, inside);
	b = make_jfr();
	figure("jfr", &b, b.size);
	free(stacks);
	return EXIT_SUCCESS;
}
