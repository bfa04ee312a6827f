#include "daemon/serve/stored_end.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/answer/selection.h"

/* What is asked of the store, and where its answer goes. */
struct stored_end {
	struct connection *connection;
	uid_t owner; /* whose windows there are for the asker */
	unsigned number;
	struct window_result *window; /* what the answer is */
};

/* What is there of a window that could not run, or that cannot be read any more, is its row. */
static int ask(void *arg, struct database *db, struct err *err)
{
	struct stored_end *s = arg;
	struct err ignored;

	if (database_load(db, s->owner, s->number, &s->window, &ignored) == 0)
		return 0;
	return database_load_row(db, s->owner, s->number, &s->window, err);
}

static void on_answer(void *arg, int result, const char *message)
{
	struct stored_end *s = arg;

	if (result < 0)
		connection_fail(s->connection, false, message);
	else
		connection_send_end(s->connection, s->window);
}

static void release(void *arg)
{
	struct stored_end *s = arg;

	window_result_free(s->window);
	free(s);
}

bool stored_end_may_be(const struct connection *c, const char *id)
{
	unsigned number;

	return connection_context(c)->store && selection_number(id, &number) &&
	       !engine_find_window(connection_context(c)->engine, id);
}

void stored_end_send(struct connection *c, const char *id)
{
	struct stored_end *s = calloc(1, sizeof(*s));
	const struct reading_question question = {
	    .arg = s, .ask = ask, .done = on_answer, .release = release};

	if (!s) {
		connection_fail(c, false, "out of memory");
		return;
	}
	s->connection = c;
	s->owner = connection_asker(c)->sees;
	(void)selection_number(id, &s->number); /* It is one: the caller has looked. */
	connection_read(c, &question);
}
