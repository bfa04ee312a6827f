#include "daemon/schedule/tuner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "daemon/schedule/known_jvms.h"
#include "daemon/schedule/planner.h"
#include "daemon/shares/pool_work.h"
#include "daemon/store/query.h"

/* What the pool needs to know of a schedule. */
struct tuned_schedule {
	char name[PLANNER_NAME_BYTES];
	double every_s;
	double host_fraction;
};

struct tuning_question {
	struct pool_work work;
	struct tuner *tuner; /* for done alone */
	char *database;      /* owned */
	uint64_t day;
	struct planner_evidence *rows; /* owned */
	size_t count;
	size_t schedule_count;
	struct tuned_schedule schedules[];
};

struct tuner {
	uv_loop_t *loop;
	struct planner *planner;
	const struct config *config;
	void (*changed)(void *arg);
	void *arg;
	char *database; /* owned; NULL: none */
	struct tuning_question *asked;
	uint64_t tried_ns; /* CLOCK_MONOTONIC */
};

/* ---------------------------------------------------------------- on the pool */

/* A window in each epoch of a host that takes part in each would bring so much: a pair of a window
 * that stands for S seconds is one of S / every of them. */
static void take_row(struct planner_evidence *to, const struct tuned_schedule *s,
		     const struct database_evidence *from)
{
	*to = (struct planner_evidence){
	    .evidence = {.day = from->day,
			 .pairs = from->pairs_s / s->every_s,
			 .probability = s->every_s / (s->host_fraction * from->weight_s)}};
	memcpy(to->schedule, s->name, sizeof(to->schedule));
	(void)snprintf(to->app, sizeof(to->app), "%s",
		       from->app); /* The planner's are cut alike. */
}

static int read_schedule(struct tuning_question *q, struct database *db,
			 const struct tuned_schedule *s, struct database_evidence *found,
			 struct err *err)
{
	uint64_t since = q->day > EVIDENCE_DAYS ? q->day - EVIDENCE_DAYS : 0;
	struct planner_evidence *rows;
	size_t count = 0;
	int r = database_evidence(db, s->name, since * EVIDENCE_DAY_NS, q->day * EVIDENCE_DAY_NS,
				  found, KNOWN_JVMS_MAX, &count, err);

	if (r < 0 || count == 0)
		return r;
	rows = reallocarray(q->rows, q->count + count, sizeof(*rows));
	if (!rows)
		return err_set(err, ENOMEM, "out of memory");
	q->rows = rows;
	for (size_t i = 0; i < count; i++)
		take_row(&q->rows[q->count++], s, &found[i]);
	return 0;
}

static int read_store(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct tuning_question *q = arg;
	_cleanup_free_ struct database_evidence *found = calloc(KNOWN_JVMS_MAX, sizeof(*found));
	struct database *db = NULL;
	int r;

	if (!found)
		return err_set(err, ENOMEM, "out of memory");
	r = database_open(q->database, DATABASE_READ, &db, err);
	for (size_t i = 0; i < q->schedule_count && r == 0 && !*cancelled; i++)
		r = read_schedule(q, db, &q->schedules[i], found, err);
	database_close(db);
	return r;
}

/* ---------------------------------------------------------------- on the loop */

/* Before the planner is told. */
static void say_failing(const struct tuner *t, const char *why)
{
	bool failing = planner_lacks_evidence(t->planner);

	if (why && !failing)
		log_warn("what windows brought cannot be read, so probabilities for "
			 "'pairs-per-day' stay as they are: %s",
			 why);
	else if (!why && failing)
		log_info("what windows brought can be read again");
}

static void on_read(void *arg, int result, const char *message)
{
	struct tuning_question *q = arg;
	struct tuner *t = q->tuner;

	t->asked = NULL;
	say_failing(t, result < 0 ? message : NULL);
	if (result < 0)
		planner_lack_evidence(t->planner, q->day);
	else
		planner_take_evidence(t->planner, q->day, TAKE_PTR(q->rows), q->count);
	t->changed(t->arg);
}

static void free_question(void *arg)
{
	struct tuning_question *q = arg;

	free(q->database);
	free(q->rows);
	free(q);
}

static struct tuning_question *make_question(struct tuner *t, uint64_t day)
{
	size_t most = t->config->schedule_count;
	struct tuning_question *q = calloc(1, sizeof(*q) + most * sizeof(q->schedules[0]));

	if (!q)
		return NULL;
	q->tuner = t;
	q->day = day;
	q->database = strdup(t->database);
	for (size_t i = 0; i < most; i++) {
		const struct config_schedule *s = &t->config->schedules[i];
		struct tuned_schedule *to = &q->schedules[q->schedule_count];

		if (s->pairs_per_day == 0)
			continue;
		*to = (struct tuned_schedule){.every_s = (double)s->every_ns / (double)NS_PER_S,
					      .host_fraction = s->host_fraction};
		(void)snprintf(to->name, sizeof(to->name), "%s", s->name); /* Fits. */
		q->schedule_count++;
	}
	if (q->database)
		return q;
	free_question(q);
	return NULL;
}

void tuner_look(struct tuner *t, uint64_t unix_ns)
{
	static const struct pool_task task = {
	    .run = read_store, .done = on_read, .release = free_question};
	uint64_t day = evidence_day(unix_ns), now_ns = clock_monotonic_ns();
	bool again = planner_lacks_evidence(t->planner) && t->database &&
		     now_ns - t->tried_ns >= TUNER_RETRY_NS;

	if (t->asked || (!planner_wants_evidence(t->planner, unix_ns) && !again))
		return;
	t->tried_ns = now_ns;
	t->asked = t->database ? make_question(t, day) : NULL;
	if (t->asked) {
		pool_work_start(&t->asked->work, t->loop, &task, t->asked);
		return;
	}
	say_failing(t, t->database ? "out of memory" : "windows are not kept");
	planner_lack_evidence(t->planner, day);
}

/* ---------------------------------------------------------------- life */

struct tuner *tuner_new(uv_loop_t *loop, struct planner *planner, const struct config *config,
			void (*changed)(void *arg), void *arg)
{
	struct tuner *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct tuner){.loop = loop,
				    .planner = planner,
				    .config = config,
				    .changed = changed,
				    .arg = arg};
	return t;
}

static void forget_question(struct tuner *t)
{
	if (t->asked)
		pool_work_cancel(&t->asked->work);
	t->asked = NULL;
}

void tuner_free(struct tuner *t)
{
	if (!t)
		return;
	forget_question(t);
	free(t->database);
	free(t);
}

void tuner_set_store(struct tuner *t, const char *database)
{
	free(t->database);
	t->database = database ? strdup(database) : NULL; /* Without memory: as without a store. */
}

void tuner_configure(struct tuner *t, const struct config *config)
{
	forget_question(t);
	t->config = config;
}
