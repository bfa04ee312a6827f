/*
 * The windows that wait to be sent somewhere, by destination: rows of the database of windows. A
 * finished window with a record enters the queue of each destination in the transaction that keeps
 * it, and leaves it when it was acknowledged there, or with its row when the limits delete that.
 *
 * As with all of the database: one thread at a time for each connection; 0 or -errno with a line,
 * and nothing changed.
 */
#ifndef JXPERF_DAEMON_STORE_QUEUE_H
#define JXPERF_DAEMON_STORE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct database;

#define QUEUE_DESTINATIONS_MAX 16
#define QUEUE_NAME_BYTES       64

/* Their names, each once. */
struct queue_destinations {
	char names[QUEUE_DESTINATIONS_MAX][QUEUE_NAME_BYTES];
	size_t count;
};

/* The place of a name; the count where there is none. */
size_t queue_find(const struct queue_destinations *d, const char *name);

/* What waits for one of them. */
struct queue_state {
	uint64_t windows;
	uint64_t oldest_unix_ns; /* when the oldest of them ended; 0 without any */
};

/* Windows of a destination that is no longer one. */
struct queue_forgotten {
	char name[QUEUE_NAME_BYTES]; /* "": none */
	uint64_t windows;
};

/* A window with a record waits for each of them. */
int queue_put(struct database *db, const struct queue_destinations *to, unsigned number,
	      struct err *err);

/* Likewise those below a number that a daemon that died left unfinished, as far as they have a
 * record; and ends them (database_salvage, whose count it gives). */
int queue_salvage(struct database *db, const struct queue_destinations *to, unsigned below,
		  unsigned *count, struct err *err);

/* Windows have arrived at a destination, or never will. */
int queue_take_out(struct database *db, const char *destination, const unsigned *numbers,
		   size_t count, struct err *err);

/* Rows of all other destinations go; says of which and how many, at most QUEUE_DESTINATIONS_MAX at
 * a time. */
int queue_forget_others(struct database *db, const struct queue_destinations *these,
			struct queue_forgotten forgotten[QUEUE_DESTINATIONS_MAX], struct err *err);

/* What waits for each. */
int queue_states(struct database *db, const struct queue_destinations *d,
		 struct queue_state states[QUEUE_DESTINATIONS_MAX], struct err *err);

/* The lowest numbers that wait for a destination, at most room. */
int queue_numbers(struct database *db, const char *destination, unsigned *numbers, size_t room,
		  size_t *count, struct err *err);

/* What an old database says of one window goes into a new one. */
int queue_take_over(struct database *from, struct database *to, unsigned number, struct err *err);

/* Which store this is: 32 hexadecimal digits that it has got at random, with the first batch that
 * had a destination. With a window's number they are its name for good. */
#define QUEUE_STORE_BYTES 33
/* -ENOENT as long as it has none. */
int queue_store_id(struct database *db, char id[QUEUE_STORE_BYTES], struct err *err);
/* Gives it one where it has none. */
int queue_store_id_make(struct database *db, struct err *err);

#endif
