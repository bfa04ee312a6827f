/*
 * Questions to the database of windows, off the event loop: each is answered on the loop's pool,
 * over a connection of its own that is closed again, beside whatever is being written.
 */
#ifndef JXPERF_DAEMON_STORE_READING_H
#define JXPERF_DAEMON_STORE_READING_H

#include <uv.h>

#include "common/err.h"
#include "daemon/store/database.h"

struct reading;

/* One question. arg is what it is about and where the answer goes. */
struct reading_question {
	void *arg;
	/* On the pool. 0, or -errno with a line. */
	int (*ask)(void *arg, struct database *db, struct err *err);
	/* On the loop: result is ask's, or why it could not be asked. Not after reading_cancel. */
	void (*done)(void *arg, int result, const char *message);
	/* On the loop, last of all and always: frees arg. */
	void (*release)(void *arg);
};

/* path has to last. 0; -ENOMEM, and then arg is the caller's still. */
int reading_start(struct reading **out, uv_loop_t *loop, const char *path,
		  const struct reading_question *question);

/* Nobody wants the answer any more; it is thrown away when it comes. NULL is safe. */
void reading_cancel(struct reading *r);

/* The same at once, for those who are on the pool already. */
int reading_now(const char *path, const struct reading_question *question, struct err *err);

#endif
