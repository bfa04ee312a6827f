#include "daemon/serve/stored.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "daemon/report/report.h"

/* A report that is asked for. */
struct stored_report {
	const char *database;
	uid_t owner; /* whose windows there are for the asker */
	unsigned number;
	Jxp__Format format;
	uint32_t pairs;
};

bool stored_number(const char *id, unsigned *number)
{
	char *end;
	unsigned long value;

	if (id[0] != 'w' || id[1] < '1' || id[1] > '9')
		return false;
	value = strtoul(id + 1, &end, 10);
	if (*end || value > UINT_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

static int load(const struct stored_report *s, struct window_result **w, struct err *err)
{
	const struct database_filter filter = {.owner = s->owner, .app = ""};
	struct database *db = NULL;
	struct database_row row;
	int r = database_open(s->database, DATABASE_READ, &db, err);

	if (r == 0)
		r = database_find(db, &filter, s->number, &row, err);
	if (r == 0)
		r = database_load(db, s->number, w, err);
	database_close(db);
	return r;
}

static int write_report(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
			size_t *size, struct window_result **about, struct err *err)
{
	const struct stored_report *s = arg;
	int r = load(s, about, err);

	return r < 0 ? r
		     : report_new_unless(cancelled, *about, s->format, s->pairs, max_bytes, text,
					 size, err);
}

void stored_send_report(struct connection *c, const Jxp__ReportRequest *request)
{
	struct stored_report *s = calloc(1, sizeof(*s));
	const struct render_job job = {.arg = s, .write = write_report, .release = free};

	if (!s) {
		connection_fail(c, false, "out of memory");
		return;
	}
	*s = (struct stored_report){.database = connection_context(c)->store,
				    .owner = connection_asker(c)->sees,
				    .format = request->format,
				    .pairs = request->pairs};
	(void)stored_number(request->window, &s->number); /* It is one: the caller has looked. */
	connection_send_job(c, &job);
}
