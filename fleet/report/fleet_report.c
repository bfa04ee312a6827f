#include "fleet/report/fleet_report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/saturate.h"
#include "common/utf8.h"
#include "fleet/report/answer.h"
#include "profile/combine/row_merge.h"

/* All that is asked for one report. */
struct inquiry {
	struct fleet_server *server; /* its limit is what the answers that are kept leave */
	const struct fleet_question *question;
	struct fleet_like like;
	struct window_result *first;
	struct merge merge;
	uint64_t hosts;
	uint64_t rows[HOUSE_DATA]; /* that the windows say they have */
	struct buffer tables[HOUSE_DATA];
	struct fleet_contexts contexts;
	/* Sums of hosts, by kind. */
	struct clusters {
		double *checked, *wasteful, *cpu, *wholes;
		size_t capacities[4];
		unsigned count;
	} clusters[KIND_VALUES];
};

static void inquiry_release(struct inquiry *i)
{
	window_result_free(i->first);
	merge_release(&i->merge);
	for (size_t t = 0; t < HOUSE_DATA; t++)
		buffer_release(&i->tables[t]);
	fleet_contexts_release(&i->contexts);
	for (size_t k = 0; k < KIND_VALUES; k++) {
		free(i->clusters[k].checked);
		free(i->clusters[k].wasteful);
		free(i->clusters[k].cpu);
		free(i->clusters[k].wholes);
	}
}

static int no_memory(struct err *err)
{
	return err_set(err, ENOMEM, "out of memory for the fleet's answer");
}

/* Says why an answer could not be used. */
static int bad_answer(int r, const char *of, struct err *err)
{
	if (r != -EBADMSG)
		return no_memory(err);
	return err_set(err, EBADMSG,
		       "the server's answer about %s is none of ClickHouse's with the tables of "
		       "'jxperfctl fleet-schema'",
		       of);
}

/* Sends a query, which is freed, and has its answer in b, which was empty. */
static int ask(const struct fleet_server *s, char *query, struct buffer *b, struct err *err)
{
	int r;

	buffer_init(b, s->answer_bytes_max);
	if (!query)
		return no_memory(err);
	r = s->ask(s->context, query, b, err);
	free(query);
	return r;
}

/* ---------------------------------------------------------------- which windows */

static int nothing_meant(const struct fleet_question *q, struct err *err)
{
	if (!q->app)
		return err_set(err, ENODATA, "the server has no window of these");
	return err_set(err, ENODATA, "the server has no window of application '%s' like that",
		       q->app);
}

static int ask_first(struct inquiry *i, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	int r = ask(i->server, fleet_first_query(i->question), &answer, err);

	if (r < 0)
		return r;
	i->first = window_result_restored(0);
	if (!i->first)
		return no_memory(err);
	r = fleet_answer_first(&answer, i->first);
	if (r == -ENODATA)
		return nothing_meant(i->question, err);
	if (r < 0)
		return bad_answer(r, "windows", err);
	i->like = (struct fleet_like){.sampler = (int)i->first->findings.sampler,
				      .event = i->first->request.event,
				      .nodes = i->first->findings.numa.node_count};
	return merge_begin(&i->merge, i->first) < 0 ? no_memory(err) : 0;
}

/* A group of windows of the same names. */
static int read_names(struct inquiry *i, struct fleet_reader *r)
{
	enum { APP, SCHEDULE, JDK, GC, AGENT, VERSION, TEXTS };
	char texts[TEXTS][FLEET_TEXT_BYTES];
	struct window_merged *facts = i->merge.facts;
	const struct window_result *first = i->first;
	const struct {
		enum merged_note which;
		unsigned text;
		const char *first;
	} notes[] = {{MERGED_OTHER_APP, APP, first->app},
		     {MERGED_OTHER_JDK, JDK, first->jdk},
		     {MERGED_OTHER_GC, GC, first->gc},
		     {MERGED_OTHER_AGENT, AGENT, first->agent_version},
		     {MERGED_OTHER_VERSION, VERSION, first->version}};
	uint64_t windows;
	uint32_t least;
	uint8_t reason;

	for (size_t t = 0; t < TEXTS; t++)
		reader_text(r, texts[t]);
	reason = reader_u8(r);
	windows = reader_u64(r);
	least = reader_u32(r);
	if (r->failed || reason > MERGED_NOTES || windows > UINT32_MAX)
		return -EBADMSG;
	if (reason > 0)
		return merge_leave_out(&i->merge, (enum merged_note)(reason - 1), (unsigned)windows,
				       least, "");
	merged_names_add(&facts->apps, texts[APP], (unsigned)windows);
	merged_names_add(&facts->schedules, texts[SCHEDULE], (unsigned)windows);
	for (size_t n = 0; n < sizeof(notes) / sizeof(notes[0]); n++)
		if (strcmp(texts[notes[n].text], notes[n].first) != 0)
			merged_note(facts, notes[n].which, (unsigned)windows, least,
				    texts[notes[n].text]);
	return 0;
}

static int ask_names(struct inquiry *i, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	int r = ask(i->server, fleet_names_query(i->question, &i->like), &answer, err);
	struct fleet_reader reader = reader_of(&answer);

	while (r == 0 && reader_more(&reader)) {
		r = read_names(i, &reader);
		if (r < 0)
			return bad_answer(r, "names", err);
	}
	return r;
}

/* ---------------------------------------------------------------- sums over windows */

struct sums {
	double numbers[FLEET_SUMS];
	double arrays[FLEET_SUMS][HOUSE_DATA > KIND_VALUES ? HOUSE_DATA : KIND_VALUES];
	uint64_t whole[FLEET_SUMS]; /* of integers, all digits */
};

#define SUMS_ARRAY (sizeof(((struct sums *)0)->arrays[0]) / sizeof(double))

/* None of these sums is below 0. */
static double read_number(struct fleet_reader *r, enum house_type type, uint64_t *whole)
{
	double number;

	*whole = 0;
	if (type == HOUSE_F64) {
		number = reader_f64(r);
		r->failed |= number < 0;
		return number;
	}
	reader_bytes(r, whole, reader_type_size(type));
	return (double)*whole;
}

static void read_sums(struct fleet_reader *r, struct sums *s)
{
	for (size_t i = 0; i < FLEET_SUMS; i++) {
		const struct fleet_sum *sum = &fleet_sums[i];
		uint64_t count, whole;

		if (!sum->array) {
			s->numbers[i] = read_number(r, sum->type, &s->whole[i]);
			continue;
		}
		count = reader_length(r);
		for (uint64_t at = 0; at < count && !r->failed; at++) {
			double value = read_number(r, sum->type, &whole);

			if (at < SUMS_ARRAY)
				s->arrays[i][at] = value;
		}
	}
}

/* Of a sum of whole numbers, however large somebody says it is. */
static uint64_t whole_of(double sum, uint64_t most)
{
	return sum < (double)most ? (uint64_t)sum : most;
}

static void take_kinds(struct inquiry *i, const struct sums *s)
{
	for (size_t k = 0; k < KIND_VALUES; k++) {
		struct merged_kind *facts = &i->merge.facts->kinds[k];
		struct merge_kind *sums = &i->merge.kinds[k];

		i->merge.result->request.kinds[k] =
		    k != JXP__KIND__KIND_NONE && s->arrays[FLEET_KINDS][k] > 0;
		facts->windows = (unsigned)whole_of(s->arrays[FLEET_KIND_WINDOWS][k], UINT32_MAX);
		facts->elapsed_ns = whole_of(s->arrays[FLEET_KIND_ELAPSED][k], INT64_MAX);
		facts->whole_ns = s->arrays[FLEET_KIND_WHOLE][k];
		facts->ticks = s->arrays[FLEET_KIND_TICKS][k];
		facts->tick_ns = s->arrays[FLEET_KIND_TICK_NS][k];
		sums->samples = s->arrays[FLEET_KIND_SAMPLES][k];
		sums->stands_for_s = s->arrays[FLEET_KIND_STANDS][k];
		sums->wholes_for_s = s->arrays[FLEET_KIND_WHOLES][k];
		sums->after_for_s = s->arrays[FLEET_KIND_AFTERS][k];
	}
}

static void take_sums(struct inquiry *i, const struct sums *s)
{
	struct window_result *w = i->merge.result;
	struct window_merged *facts = i->merge.facts;

	take_kinds(i, s);
	i->hosts = s->whole[FLEET_HOSTS];
	facts->windows = (unsigned)s->whole[FLEET_WINDOWS];
	facts->hosts = (unsigned)s->whole[FLEET_HOSTS];
	facts->processes = (unsigned)s->whole[FLEET_PROCESSES];
	facts->first = (unsigned)s->whole[FLEET_FIRST];
	facts->last = (unsigned)s->whole[FLEET_LAST];
	w->start_unix_ns = s->whole[FLEET_START_NS];
	w->end_unix_ns = s->whole[FLEET_END_NS];
	w->request.duration_ns = s->whole[FLEET_DURATION_NS];
	w->findings.kernel_gate = s->whole[FLEET_GATE];
	w->always_pretouch = s->whole[FLEET_PRETOUCH];
	if (s->whole[FLEET_OWNERS] > 1)
		w->owner = PROC_ANY_UID;
	w->object_interval = s->whole[FLEET_OBJECT_INTERVAL];
	w->object_min_size = s->whole[FLEET_OBJECT_MIN_SIZE];
	i->merge.objects_ns = s->whole[FLEET_OBJECTS_NS];
	i->merge.objects.stands_for_s = s->numbers[FLEET_OBJECTS_WEIGHT];
	i->merge.objects.heap = s->numbers[FLEET_HEAP];
	i->merge.objects.weighted = s->numbers[FLEET_HEAP_WEIGHTED];
	for (size_t t = 0; t < HOUSE_DATA; t++)
		i->rows[t] = whole_of(s->arrays[FLEET_TABLE_ROWS][t], INT64_MAX);
}

/* 1 where rows are there twice: *s is of no use then. */
static int ask_sums_once(struct inquiry *i, bool once, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	int r = ask(i->server, fleet_sums_query(i->question, &i->like, once), &answer, err);
	struct fleet_reader reader = reader_of(&answer);
	struct sums s = {0};

	if (r < 0)
		return r;
	read_sums(&reader, &s);
	if (!reader.failed && s.whole[FLEET_ROWS] != s.whole[FLEET_WINDOWS] && !once)
		return 1;
	if (!reader.failed)
		r = fleet_answer_windows(&reader, i->merge.result);
	if (reader.failed || r < 0)
		return bad_answer(-EBADMSG, "windows", err);
	take_sums(i, &s);
	return 0;
}

static int ask_sums(struct inquiry *i, struct err *err)
{
	int r = ask_sums_once(i, false, err);

	return r > 0 ? ask_sums_once(i, true, err) : r;
}

/* ---------------------------------------------------------------- tables */

static int ask_extent_of(struct inquiry *i, size_t table, const struct fleet_like *like, bool once,
			 struct fleet_extent *extent, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	int r = ask(i->server, fleet_extent_query(i->question, like, table, once), &answer, err);
	struct fleet_reader reader = reader_of(&answer);
	struct fleet_extent e;

	if (r < 0)
		return r;
	e.rows = reader_u64(&reader);
	e.observations = reader_u64(&reader);
	e.paths = reader_u64(&reader);
	if (reader.failed || reader_more(&reader))
		return bad_answer(-EBADMSG, house_table(table)->name, err);
	*extent = e;
	return 0;
}

/* Where a table has as many rows as the windows that are meant, they are these windows'. */
static int ask_extent(struct inquiry *i, size_t table, bool once, struct fleet_extent *extent,
		      struct err *err)
{
	int r = once ? 0 : ask_extent_of(i, table, NULL, false, extent, err);

	if (r < 0 || (!once && extent->rows == i->rows[table]))
		return r;
	return ask_extent_of(i, table, &i->like, once, extent, err);
}

static int ask_list(struct inquiry *i, size_t table, bool once, bool heaviest,
		    struct fleet_extent *listed, struct err *err)
{
	struct buffer *answer = &i->tables[table];
	int r;

	buffer_release(answer);
	r = ask(i->server, fleet_table_query(i->question, &i->like, table, once, heaviest), answer,
		err);
	if (r < 0)
		return r;
	r = fleet_contexts_collect(&i->contexts, table, answer, listed);
	return r < 0 ? bad_answer(r, house_table(table)->name, err) : 0;
}

/* What is listed is less than what there is. */
static void note_cut(struct inquiry *i, size_t table, const struct fleet_extent *all,
		     const struct fleet_extent *listed)
{
	struct window_merged *facts = i->merge.facts;
	uint64_t left = saturate_less(all->observations, listed->observations);

	_Static_assert(HOUSE_DATA <= MERGED_CUTS, "each table may be cut");
	facts->cuts[facts->cut_count++] = (struct merged_cut){
	    .table = house_table(table)->name, .observations = left, .all = all->observations};
	row_merge_cut(i->merge.result, house_table(table)->table, left);
}

/* Its rows as they are, or, where these are not as many as the windows have, each once. Where they
 * may have more paths than are asked for, how many they have is asked first. */
static int ask_table(struct inquiry *i, size_t table, struct err *err)
{
	const uint64_t expected = i->rows[table], most = fleet_paths_max(i->question, table);
	const bool large = most > 0 && expected > most;
	struct fleet_extent all, listed;
	size_t contexts = i->contexts.count;
	bool known = false;
	int r = 0;

	for (int once = 0; once <= 1 && r == 0 && expected > 0; once++) {
		all = (struct fleet_extent){.rows = expected};
		known = large;
		if (large)
			r = ask_extent(i, table, once, &all, err);
		if (r < 0 || (all.rows != expected && !once))
			continue;
		i->contexts.count = contexts;
		r = ask_list(i, table, once, large && all.paths > most, &listed, err);
		if (r == 0 && !known && listed.rows < expected) {
			r = ask_extent(i, table, once, &all, err);
			known = true;
		}
		if (r == 0 && (known ? all.rows : listed.rows) == expected)
			break;
	}
	if (r == 0 && known && listed.rows < all.rows)
		note_cut(i, table, &all, &listed);
	return r;
}

static int ask_contexts(struct inquiry *i, struct err *err)
{
	struct fleet_contexts *c = &i->contexts;

	if (fleet_contexts_sort(c) < 0)
		return no_memory(err);
	for (size_t at = 0; at < c->count; at += FLEET_CONTEXTS_ONCE) {
		size_t left = c->count - at;
		_cleanup_(buffer_release) struct buffer answer;
		int r = ask(
		    i->server,
		    fleet_contexts_query((const uint8_t(*)[HOUSE_HASH_BYTES]) & c->hashes[at],
					 left < FLEET_CONTEXTS_ONCE ? left : FLEET_CONTEXTS_ONCE),
		    &answer, err);

		if (r < 0)
			return r;
		r = fleet_contexts_add(c, &answer, i->merge.result);
		if (r < 0)
			return bad_answer(r, "contexts", err);
	}
	return 0;
}

static int ask_tables(struct inquiry *i, struct err *err)
{
	int r = 0;

	for (size_t t = 0; t < HOUSE_DATA && r == 0; t++) {
		r = ask_table(i, t, err);
		i->server->answer_bytes_max -= buffer_length(&i->tables[t]);
	}
	if (r == 0)
		r = ask_contexts(i, err);
	for (size_t t = 0; t < HOUSE_DATA && r == 0; t++) {
		if (i->rows[t] == 0)
			continue;
		r = fleet_answer_table(t, &i->tables[t], &i->contexts, &i->merge);
		if (r < 0)
			return bad_answer(r, house_table(t)->name, err);
	}
	if (r == 0)
		loop_profile_link(&i->merge.result->loops);
	return r;
}

/* ---------------------------------------------------------------- how they differ */

struct cluster {
	Jxp__Kind kind;
	struct pair_cluster sums;
	uint64_t rows;
};

static int read_cluster(struct fleet_reader *r, struct cluster *c)
{
	struct pair_cluster *sums = &c->sums;
	char name[FLEET_TEXT_BYTES];

	reader_text(r, name);
	*c = (struct cluster){.kind = pair_kind_named(name)};
	sums->checked = reader_f64(r);
	sums->wasteful = reader_f64(r);
	sums->cpu = reader_f64(r);
	sums->whole = reader_f64(r);
	c->rows = reader_u64(r);
	r->failed |= sums->checked < 0 || sums->wasteful < 0 || sums->cpu < 0 || sums->whole < 0;
	return r->failed ? -EBADMSG : 0;
}

static int add_host(struct clusters *to, const struct pair_cluster *c)
{
	double *const *const lists[] = {&to->checked, &to->wasteful, &to->cpu, &to->wholes};
	const double values[] = {c->checked, c->wasteful, c->cpu, c->whole};

	for (size_t i = 0; i < 4; i++) {
		int r = array_reserve((void *)lists[i], &to->capacities[i], to->count + 1,
				      sizeof(double));

		if (r < 0)
			return r;
		(*lists[i])[to->count] = values[i];
	}
	to->count++;
	return 0;
}

/* The next window of its kind, as merge_add would take it. */
static void add_window(struct merge *m, const struct cluster *c)
{
	struct pair_batch batch = {.taken = true};

	batch.batch = batch_next(&m->kinds[c->kind].clock, &batch.fold);
	pair_merge_batch(m->facts, c->kind, &batch, &c->sums);
}

/* What is no kind of pairs has no sums of batches, and as many as these windows make. */
static void count_batches(struct merge *m)
{
	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (!pair_kind_find((Jxp__Kind)kind))
			m->kinds[kind].clock = batch_clock_of(m->facts->kinds[kind].windows);
}

static int read_clusters(struct inquiry *i, struct fleet_reader *r, bool hosts)
{
	int e = 0;

	while (reader_more(r) && e == 0) {
		struct cluster c;

		e = read_cluster(r, &c);
		if (e < 0 || c.kind == JXP__KIND__KIND_NONE)
			continue;
		if (hosts)
			e = add_host(&i->clusters[c.kind], &c.sums);
		else
			add_window(&i->merge, &c);
	}
	return e;
}

/* How many rows a list of clusters is of. */
static uint64_t cluster_rows(struct fleet_reader r)
{
	uint64_t rows = 0;
	struct cluster c;

	while (reader_more(&r) && read_cluster(&r, &c) == 0)
		rows += c.kind != JXP__KIND__KIND_NONE ? c.rows : 0;
	return rows;
}

/* Each window has a row for each of its kinds of pairs. */
static uint64_t expected_clusters(const struct inquiry *i)
{
	uint64_t rows = 0;

	for (size_t k = 0; k < PAIR_KINDS; k++)
		rows += i->merge.facts->kinds[pair_kinds[k].kind].windows;
	return rows;
}

static int ask_clusters(struct inquiry *i, struct err *err)
{
	bool hosts = i->hosts >= FLEET_HOSTS_MIN;
	struct fleet_reader reader;
	struct buffer answer = {0};
	int r = 0;

	if (!hosts)
		count_batches(&i->merge);
	if (expected_clusters(i) == 0)
		return 0;
	for (int once = 0; once <= 1 && r == 0; once++) {
		buffer_release(&answer);
		r = ask(i->server, fleet_clusters_query(i->question, &i->like, hosts, once),
			&answer, err);
		reader = reader_of(&answer);
		if (r == 0 && cluster_rows(reader) == expected_clusters(i))
			break;
	}
	if (r == 0) {
		r = read_clusters(i, &reader, hosts);
		if (r < 0)
			r = bad_answer(r, "kinds", err);
	}
	buffer_release(&answer);
	return r;
}

static void take_clusters(const struct inquiry *i, struct window_result *w)
{
	w->merged->by_hosts = i->hosts >= FLEET_HOSTS_MIN;
	for (size_t k = 0; k < PAIR_KINDS && w->merged->by_hosts; k++) {
		const struct clusters *c = &i->clusters[pair_kinds[k].kind];
		const struct pair_clusters all = {c->checked, c->wasteful, c->cpu, c->wholes,
						  c->count};

		pair_merge_clusters(w, pair_kinds[k].kind, &all);
	}
}

/* ---------------------------------------------------------------- all of it */

int fleet_report_ask(const struct fleet_server *server, const struct fleet_question *q,
		     struct window_result **out, struct err *err)
{
	struct fleet_server left = *server;
	_cleanup_(inquiry_release) struct inquiry i = {.server = &left, .question = q};
	struct window_result *w = NULL;
	int r = ask_first(&i, err);

	if (r == 0)
		r = ask_names(&i, err);
	if (r == 0)
		r = ask_sums(&i, err);
	if (r == 0)
		r = ask_tables(&i, err);
	if (r == 0)
		r = ask_clusters(&i, err);
	if (r == 0)
		r = merge_finish(&i.merge, &w, err);
	if (r < 0 || !w)
		return r;
	take_clusters(&i, w);
	*out = w;
	return 0;
}

int fleet_report_apps(const struct fleet_server *server, const struct fleet_question *q,
		      unsigned rows, struct fleet_app **apps, size_t *count, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	_cleanup_free_ struct fleet_app *list = calloc(rows, sizeof(*list));
	int r = ask(server, fleet_apps_query(q, rows), &answer, err);
	struct fleet_reader reader = reader_of(&answer);
	char name[FLEET_TEXT_BYTES];
	size_t n = 0;

	if (r < 0)
		return r;
	if (!list)
		return no_memory(err);
	for (; reader_more(&reader) && n < rows; n++) {
		struct fleet_app *app = &list[n];

		reader_text(&reader, name);
		(void)utf8_sanitize(app->name, sizeof(app->name), name); /* May be cut. */
		app->hosts = reader_u64(&reader);
		app->windows = reader_u64(&reader);
		app->cpu_s = reader_f64(&reader);
		for (size_t k = 0; k < PAIR_KINDS; k++)
			app->wasteful[k] = reader_f64(&reader);
		(void)reader_u8(&reader);
	}
	if (reader.failed || reader_more(&reader))
		return bad_answer(-EBADMSG, "applications", err);
	if (n == 0)
		return nothing_meant(q, err);
	*apps = TAKE_PTR(list);
	*count = n;
	return 0;
}

/* "org.example.Cart.total": a class and a member of it, either of which may be unknown. */
static void read_member(struct fleet_reader *r, char out[FLEET_PLACE_BYTES])
{
	char names[2][FLEET_TEXT_BYTES], whole[2 * FLEET_TEXT_BYTES];

	reader_text(r, names[0]);
	reader_text(r, names[1]);
	(void)snprintf(whole, sizeof(whole), "%s%s%s", names[0],
		       names[0][0] && names[1][0] ? "." : "", names[1]); /* Fits. */
	(void)utf8_sanitize(out, FLEET_PLACE_BYTES, whole);              /* May be cut. */
}

static void read_fleet_place(struct fleet_reader *r, struct fleet_place *p)
{
	char text[FLEET_TEXT_BYTES];

	reader_text(r, text);
	(void)utf8_sanitize(p->app, sizeof(p->app), text); /* May be cut. */
	reader_text(r, text);
	(void)utf8_sanitize(p->kind, sizeof(p->kind), text); /* Likewise. */
	read_member(r, p->method);
	read_member(r, p->place);
	p->hosts = reader_u64(r);
	/* Nanoseconds of ticks, times seconds of CPU time for each of them. */
	p->cpu_s = reader_f64(r);
	p->bytes = reader_f64(r);
}

int fleet_report_places(const struct fleet_server *server, const struct fleet_question *q,
			unsigned rows, struct fleet_place **places, size_t *count, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	_cleanup_free_ struct fleet_place *list = calloc(rows, sizeof(*list));
	int r = ask(server, fleet_places_query(q, rows), &answer, err);
	struct fleet_reader reader = reader_of(&answer);
	size_t n = 0;

	if (r < 0)
		return r;
	if (!list)
		return no_memory(err);
	while (reader_more(&reader) && n < rows)
		read_fleet_place(&reader, &list[n++]);
	if (reader.failed || reader_more(&reader))
		return bad_answer(-EBADMSG, "pairs", err);
	*places = TAKE_PTR(list);
	*count = n;
	return 0;
}
