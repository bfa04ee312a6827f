/* What a thread has freed goes back to the kernel. */
#include "tests/unit/support/test.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/window/give_back.h"

#define PIECES      500u
#define PIECE_BYTES 4000u

static size_t anonymous_kib(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t kib = 0;
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %zu", &kib) == 1)
			break;
	(void)fclose(f);
	assert_int_not_equal(kib, 0);
	return kib;
}

struct outcome {
	unsigned keep_every; /* of the pieces; the others are freed */
	size_t before, freed, after;
	bool intact;
};

static void *use_and_give_back(void *arg)
{
	static unsigned char *pieces[PIECES];
	struct outcome *o = arg;

	o->before = anonymous_kib();
	for (unsigned i = 0; i < PIECES; i++) {
		pieces[i] = malloc(PIECE_BYTES);
		memset(pieces[i], (int)i, PIECE_BYTES);
	}
	for (unsigned i = 0; i < PIECES; i++)
		if (i % o->keep_every != 0)
			free(pieces[i]);
	o->freed = anonymous_kib();
	give_back_freed();
	o->after = anonymous_kib();
	/* What is in use stays as it is. */
	o->intact = true;
	for (unsigned i = 0; i < PIECES; i += o->keep_every) {
		for (unsigned j = 0; j < PIECE_BYTES; j++)
			o->intact &= pieces[i][j] == (unsigned char)i;
		free(pieces[i]);
	}
	return NULL;
}

/* Sanitizers bring an allocator of their own, which keeps what is freed. */
static void need_glibc(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	print_message("a sanitizer's allocator is in glibc's place\n");
	skip();
#endif
}

/* As where a program has freed large blocks: glibc then trims nothing by itself. */
static struct outcome keep_every(unsigned pieces)
{
	struct outcome o = {.keep_every = pieces};
	pthread_t thread;

	assert_int_equal(mallopt(M_TRIM_THRESHOLD, 64 << 20), 1);
	assert_int_equal(pthread_create(&thread, NULL, use_and_give_back, &o), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(o.intact);
	return o;
}

TEST(what_a_thread_has_freed_is_no_longer_resident)
{
	struct outcome o;

	need_glibc();
	o = keep_every(PIECES / 2);
	assert_true(o.freed > o.before + 1500);
	assert_true(o.after < o.before + 500);
}

/* As chunks are that HotSpot keeps for its next arenas. */
TEST(nor_is_what_lies_between_pieces_in_use)
{
	struct outcome o;

	need_glibc();
	o = keep_every(12);
	assert_true(o.freed > o.before + 1500);
	assert_true(o.after < o.before + 1000);
}

TEST(it_takes_nothing_where_nothing_was_freed)
{
	size_t before = anonymous_kib();

	need_glibc();
	give_back_freed();
	give_back_freed();
	assert_true(anonymous_kib() < before + 200);
}
