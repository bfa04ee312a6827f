/*
 * Fills a state directory with windows: `fill_store DIRECTORY COUNT [LARGE [DESTINATION]]`. What
 * tests of a large store begin with. With a destination, all of them wait to be sent there.
 *
 * LARGE of them, the last ones, are as a real program's window is: some 300 pairs on 1,500
 * contexts, of one program, each with its own sums. The others have a few pairs. They begin ten
 * minutes one after the other, the last of them now, in turn of the applications app0 to app9; the
 * large ones are of the application "large".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "daemon/store/clock_trust.h"
#include "daemon/store/database.h"
#include "daemon/store/queue.h"
#include "daemon/store/record.h"
#include "daemon/store/state_dir.h"
#include "tests/unit/support/sample_window.h"

#define METHODS 1500
#define PAIRS   300
#define APART   (600 * NS_PER_S)
#define AT_ONCE 1000

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % limit);
}

/* The same tree in each window, met in another order. */
static struct window_result *large_window(unsigned number)
{
	static char names[METHODS][32];
	struct window_result *w = sample_window_empty(number, "large");
	uint32_t nodes[METHODS], first = random_below(METHODS);

	for (uint32_t i = 0; i < METHODS; i++) {
		uint32_t method = (first + i) % METHODS;

		(void)snprintf(names[method], sizeof(names[method]), "method%u", method);
		nodes[method] = sample_window_node(w, 0, names[method], (int32_t)method);
		for (uint32_t depth = 1; depth < 1 + method % 8; depth++)
			nodes[method] = sample_window_node(w, nodes[method], names[method],
							   (int32_t)(method + depth));
	}
	for (uint32_t i = 0; i < PAIRS; i++)
		sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE + i % 3, nodes[i * 5],
				    nodes[(i * 7) % METHODS], 1 + random_below(10),
				    random_below(3) == 0);
	return w;
}

static int put(struct database *db, struct window_result *w, uint64_t start_unix_ns,
	       const struct queue_destinations *to, struct err *err)
{
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;
	int r;

	w->start_unix_ns = start_unix_ns;
	w->end_unix_ns = start_unix_ns + 12 * NS_PER_S;
	r = record_encode(w, &record, &size);
	if (r == 0)
		r = database_put(db, w, record, size, err);
	if (r == 0)
		r = queue_put(db, to, w->number, err);
	window_result_free(w);
	return r;
}

static int fill(struct database *db, unsigned count, unsigned large,
		const struct queue_destinations *to, struct err *err)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);
	char app[16];
	int r = database_begin(db, err);

	if (r == 0)
		r = queue_store_id_make(db, err);
	for (unsigned i = 1; i <= count && r == 0; i++) {
		(void)snprintf(app, sizeof(app), "app%u", i % 10);
		r = put(db,
			i + large > count ? large_window(i)
					  : sample_window(i, app, random_below(60)),
			now - (count - i) * APART, to, err);
		if (r == 0 && i % AT_ONCE == 0) {
			r = database_commit(db, err);
			if (r == 0)
				r = database_begin(db, err);
		}
	}
	return r == 0 ? database_commit(db, err) : r;
}

/* As if a daemon had kept them all the while: the clock is trusted. */
static int trust_clock(struct database *db, struct err *err)
{
	struct clock_trust clock = {.known = false};
	char note[CLOCK_NOTE_BYTES];
	int64_t set_ns;

	(void)clock_trust_look(&clock, false, &set_ns); /* Nothing was known: nothing is doubted. */
	return database_put_note(db, DATABASE_NOTE_CLOCK, note, clock_trust_note(&clock, note),
				 err);
}

int main(int argc, char **argv)
{
	struct queue_destinations to = {.count = 0};
	struct database *db = NULL;
	struct state_dir dir;
	struct err err;
	unsigned count, large;
	int r;

	if (argc < 3) {
		(void)fprintf(stderr, "usage: fill_store DIRECTORY COUNT [LARGE [DESTINATION]]\n");
		return 2;
	}
	count = (unsigned)strtoul(argv[2], NULL, 10);
	if (argc > 4) {
		to.count = 1;
		(void)snprintf(to.names[0], sizeof(to.names[0]), "%s", argv[4]);
	}
	large = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	r = state_dir_open(&dir, argv[1], &err);
	if (r == 0)
		r = database_open(dir.database, DATABASE_WRITE, &db, &err);
	if (r == 0)
		r = fill(db, count, large < count ? large : count, &to, &err);
	if (r == 0)
		r = trust_clock(db, &err);
	database_close(db);
	if (r < 0) {
		(void)fprintf(stderr, "fill_store: %s\n", err.message);
		return EXIT_FAILURE;
	}
	state_dir_close(&dir);
	return EXIT_SUCCESS;
}
