#include "fleet/report/question.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "profile/window/tables.h"
#include "proto/kinds.h"

#define DAY_NS (86400 * NS_PER_S)

#define FORMAT " FORMAT RowBinary"

#define WINDOW_KEY "app, host, store, window_no"

/* Text of a query; writing to memory fails at its end. */
struct query {
	FILE *out;
	char *text;
	size_t size;
};

static bool query_begin(struct query *q)
{
	q->text = NULL;
	q->out = open_memstream(&q->text, &q->size);
	return q->out;
}

static char *query_end(struct query *q)
{
	if (fclose(q->out) == 0)
		return q->text;
	free(q->text);
	return NULL;
}

#define ADD(q, ...) ((void)fprintf((q)->out, __VA_ARGS__))

/* Whatever it has, it is a text to the server. */
static void add_text(struct query *q, const char *text)
{
	ADD(q, "'");
	for (; *text; text++)
		if (*text == '\'' || *text == '\\')
			ADD(q, "\\%c", *text);
		else
			ADD(q, "%c", *text);
	ADD(q, "'");
}

/* ---------------------------------------------------------------- which windows */

static void add_equal(struct query *q, const char *column, const char *text)
{
	if (!text)
		return;
	ADD(q, " AND %s = ", column);
	add_text(q, text);
}

/* "17" is 17, and 17.0.9+9, but not 170. */
static void add_jdk(struct query *q, const char *jdk)
{
	if (!jdk)
		return;
	ADD(q, " AND (jdk = ");
	add_text(q, jdk);
	ADD(q, " OR substring(jdk, 1, %zu) IN (concat(", strlen(jdk) + 1);
	add_text(q, jdk);
	ADD(q, ", '.'), concat(");
	add_text(q, jdk);
	ADD(q, ", '+'), concat(");
	add_text(q, jdk);
	ADD(q, ", '-')))");
}

/* What every table has: a part of the key, and its partition. */
static void add_common(struct query *q, const struct fleet_question *a)
{
	ADD(q, " WHERE 1");
	add_equal(q, "app", a->app);
	if (a->since_unix_ns)
		ADD(q, " AND day >= toDate(%" PRIu64 ")", a->since_unix_ns / DAY_NS);
	if (a->until_unix_ns)
		ADD(q, " AND day <= toDate(%" PRIu64 ")", a->until_unix_ns / DAY_NS);
}

static void add_asked(struct query *q, const struct fleet_question *a)
{
	add_common(q, a);
	add_equal(q, "host_group", a->group);
	add_equal(q, "gc", a->gc);
	add_equal(q, "version", a->version);
	add_equal(q, "schedule", a->schedule);
	add_equal(q, "namespace", a->namespace);
	add_equal(q, "pod", a->pod);
	add_jdk(q, a->jdk);
	if (a->since_unix_ns)
		ADD(q, " AND start_unix_ns >= %" PRIu64, a->since_unix_ns);
	if (a->until_unix_ns)
		ADD(q, " AND start_unix_ns < %" PRIu64, a->until_unix_ns);
}

#define WITHOUT_ACCOUNT "(samples > 0 AND cpu_ns = 0)"

/* Those that the merge takes (skips in profile/combine/merge.c). */
static void add_like(struct query *q, const struct fleet_like *like)
{
	ADD(q, " AND state != %d AND findings_sampler = %d AND request_event = ", WINDOW_FAILED,
	    like->sampler);
	add_text(q, like->event);
	ADD(q,
	    " AND (request_kinds[%d] = 0 OR findings_numa_node_count = %u) AND "
	    "NOT " WITHOUT_ACCOUNT,
	    JXP__KIND__KIND_NUMA + 1, like->nodes);
}

/* ---------------------------------------------------------------- windows */

bool house_is_first(const struct house_column *c)
{
	return !c->put && c->table == TABLE_WINDOW;
}

char *fleet_first_query(const struct fleet_question *a)
{
	const struct house_table *t = house_table(HOUSE_WINDOWS);
	const char *between = "";
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT ");
	for (size_t i = 0; i < t->count; i++) {
		if (!house_is_first(&t->columns[i]))
			continue;
		ADD(&q, "%s%s", between, t->columns[i].name);
		between = ", ";
	}
	ADD(&q, " FROM windows");
	add_asked(&q, a);
	ADD(&q, " AND state != %d AND NOT " WITHOUT_ACCOUNT, WINDOW_FAILED);
	ADD(&q, " ORDER BY start_unix_ns, host, store, window_no LIMIT 1" FORMAT);
	return query_end(&q);
}

char *fleet_names_query(const struct fleet_question *a, const struct fleet_like *like)
{
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q,
	    "SELECT app, schedule, jdk, gc, agent_version, version, reason_no, toUInt64(count()), "
	    "toUInt32(min(window_no)) FROM (SELECT " WINDOW_KEY
	    ", schedule, jdk, gc, agent_version, version, toUInt8(multiIf(state = %d, %d, "
	    "findings_sampler != %d OR request_event != ",
	    WINDOW_FAILED, 1 + MERGED_NO_PROFILE, like->sampler);
	add_text(&q, like->event);
	ADD(&q,
	    ", %d, request_kinds[%d] != 0 AND findings_numa_node_count != %u, %d, " WITHOUT_ACCOUNT
	    ", %d, 0)) AS reason_no FROM windows",
	    1 + MERGED_OTHER_SAMPLER, JXP__KIND__KIND_NUMA + 1, like->nodes, 1 + MERGED_OTHER_NODES,
	    1 + MERGED_NO_ACCOUNT);
	add_asked(&q, a);
	ADD(&q,
	    " LIMIT 1 BY " WINDOW_KEY ") GROUP BY app, schedule, jdk, gc, agent_version, version, "
	    "reason_no ORDER BY count() DESC LIMIT %u" FORMAT,
	    FLEET_NAMES_MAX);
	return query_end(&q);
}

/* 18.16 does not find columns that only a lambda names: so they are its arguments, or there is
 * none.
 */
#define FOR_KIND(value, i) "toFloat64(sum(toFloat64(" value ") * is_for[" #i "]))"
#define BY_KIND(value)                                                                           \
	"[" FOR_KIND(value, 1) "," FOR_KIND(value, 2) "," FOR_KIND(value, 3) "," FOR_KIND(       \
	    value, 4) "," FOR_KIND(value, 5) "," FOR_KIND(value,                                 \
							  6) "," FOR_KIND(value,                 \
									  7) "," FOR_KIND(value, \
											  8) "]"
_Static_assert(KIND_VALUES == 8, "BY_KIND has them all");

const struct fleet_sum fleet_sums[FLEET_SUMS] = {
    [FLEET_ROWS] = {.expression = "toUInt64(count())", .type = HOUSE_U64},
    [FLEET_WINDOWS] = {.expression = "toUInt64(uniqExact(" WINDOW_KEY "))", .type = HOUSE_U64},
    [FLEET_HOSTS] = {.expression = "toUInt64(uniqExact(host))", .type = HOUSE_U64},
    [FLEET_PROCESSES] = {.expression = "toUInt64(uniqExact(host, pid))", .type = HOUSE_U64},
    [FLEET_FIRST] = {.expression = "toUInt32(min(window_no))", .type = HOUSE_U32},
    [FLEET_LAST] = {.expression = "toUInt32(max(window_no))", .type = HOUSE_U32},
    [FLEET_START_NS] = {.expression = "toUInt64(min(start_unix_ns))", .type = HOUSE_U64},
    [FLEET_END_NS] = {.expression = "toUInt64(max(end_unix_ns))", .type = HOUSE_U64},
    [FLEET_DURATION_NS] = {.expression = "toUInt64(sum(request_duration_ns))", .type = HOUSE_U64},
    [FLEET_OWNERS] = {.expression = "toUInt64(uniqExact(owner))", .type = HOUSE_U64},
    [FLEET_TABLE_ROWS] = {.expression = "sumForEach(rows)", .type = HOUSE_U64, .array = true},
    [FLEET_KINDS] = {.expression = "maxForEach(is_for)", .type = HOUSE_U8, .array = true},
    [FLEET_KIND_WINDOWS] = {.expression = BY_KIND("1"), .type = HOUSE_F64, .array = true},
    [FLEET_KIND_SAMPLES] = {.expression = BY_KIND("samples"), .type = HOUSE_F64, .array = true},
    [FLEET_KIND_STANDS] = {.expression = BY_KIND("samples * observation_weight"),
			   .type = HOUSE_F64,
			   .array = true},
    [FLEET_KIND_WHOLES] = {.expression = BY_KIND("whole_ns * cpu_weight"),
			   .type = HOUSE_F64,
			   .array = true},
    [FLEET_KIND_AFTERS] = {.expression = BY_KIND("after_ns * cpu_weight"),
			   .type = HOUSE_F64,
			   .array = true},
    [FLEET_KIND_ELAPSED] = {.expression = BY_KIND("elapsed_ns"), .type = HOUSE_F64, .array = true},
    [FLEET_KIND_WHOLE] = {.expression = BY_KIND("whole_ns"), .type = HOUSE_F64, .array = true},
    [FLEET_KIND_TICKS] = {.expression = BY_KIND("ticks"), .type = HOUSE_F64, .array = true},
    [FLEET_KIND_TICK_NS] = {.expression = BY_KIND("tick_ns"), .type = HOUSE_F64, .array = true},
    [FLEET_GATE] = {.expression = "toUInt8(min(findings_kernel_gate))", .type = HOUSE_U8},
    [FLEET_PRETOUCH] = {.expression = "toUInt8(max(always_pretouch))", .type = HOUSE_U8},
    [FLEET_OBJECTS_NS] = {.expression = "toUInt64(sum(objects_ns))", .type = HOUSE_U64},
    [FLEET_OBJECTS_WEIGHT] = {.expression = "toFloat64(sum(tracks_objects * objects_weight))",
			      .type = HOUSE_F64},
    [FLEET_HEAP] = {.expression = "toFloat64(sum(tracks_objects * heap))", .type = HOUSE_F64},
    [FLEET_OBJECT_INTERVAL] =
	{.expression = "toUInt64(argMax(object_interval, tracks_objects * start_unix_ns))",
	 .type = HOUSE_U64},
    [FLEET_OBJECT_MIN_SIZE] =
	{.expression = "toUInt64(argMax(object_min_size, tracks_objects * start_unix_ns))",
	 .type = HOUSE_U64},
    [FLEET_HEAP_WEIGHTED] = {.expression = "toFloat64(sum(tracks_objects * heap * weight))",
			     .type = HOUSE_F64},
};

/* ---------------------------------------------------------------- columns */

/* What each is multiplied by. */
static const char *const weights[HOUSE_WEIGHTS] = {
    [WEIGHT_CPU] = "cpu_weight",
    [WEIGHT_BESIDE] = "cpu_weight",
    [WEIGHT_LOOPS] = "cpu_weight",
    [WEIGHT_PAIRS] = "cpu_weight",
    [WEIGHT_ACCESS] = "weight",
    [WEIGHT_TIME] = "objects_weight",
    [HOUSE_WEIGHT_OBSERVATION] = "observation_weight",
};

static void add_weighted(struct query *q, const struct house_column *c)
{
	const char *weight = weights[c->weight], *name = c->name;
	const char *squared = c->sum == HOUSE_SQUARES ? " * " : "";
	const char *again = weight && c->sum == HOUSE_SQUARES ? weight : "";

	if (!weight && c->array)
		ADD(q, "sumForEach(%s)", name);
	else if (!weight)
		ADD(q, "toFloat64(sum(%s))", name);
	else if (c->array)
		ADD(q, "sumForEach(arrayMap((v, w) -> v * w, %s, replicate(%s%s%s, %s)))", name,
		    weight, squared, again, name);
	else
		ADD(q, "toFloat64(sum(%s * %s%s%s))", name, weight, squared, again);
}

/* The layout that all tell, where 0 tells nothing. */
static void add_layout(struct query *q, const char *name)
{
	ADD(q, "toUInt32(if(minIf(%s, %s > 0) = max(%s) OR max(%s) = 0, max(%s), %u))", name, name,
	    name, name, name, LOCATION_VARIES);
}

static void add_column(struct query *q, const struct house_column *c)
{
	const char *each = c->array ? "ForEach" : "";
	char type[HOUSE_TYPE_BYTES];

	switch ((enum house_sum)c->sum) {
	case HOUSE_KEY:
		ADD(q, "%s", c->name);
		break;
	case HOUSE_ANY:
		ADD(q, "any(%s)", c->name);
		break;
	case HOUSE_LAYOUT:
		add_layout(q, c->name);
		break;
	case HOUSE_MOST:
		ADD(q, "to%s(max%s(%s))", house_type_name(c, type), each, c->name);
		break;
	case HOUSE_COUNT:
		if (c->array)
			ADD(q, "sumForEach(%s)", c->name);
		else
			ADD(q, "toUInt64(sum(%s))", c->name);
		break;
	default:
		add_weighted(q, c);
	}
}

/* All that are merged. */
static void add_columns(struct query *q, const struct house_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->columns[i].sum == HOUSE_FACT)
			continue;
		add_column(q, &t->columns[i]);
		ADD(q, ", ");
	}
}

/* ---------------------------------------------------------------- sums */

char *fleet_sums_query(const struct fleet_question *a, const struct fleet_like *like, bool once)
{
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT ");
	for (size_t i = 0; i < FLEET_SUMS; i++)
		ADD(&q, "%s, ", fleet_sums[i].expression);
	add_columns(&q, house_table(HOUSE_WINDOWS));
	ADD(&q, "1 FROM %s", once ? "(SELECT * FROM windows" : "windows");
	add_asked(&q, a);
	add_like(&q, like);
	if (once)
		ADD(&q, " LIMIT 1 BY " WINDOW_KEY ")");
	ADD(&q, FORMAT);
	return query_end(&q);
}

/* ---------------------------------------------------------------- tables */

static bool is_path(const struct house_column *c)
{
	return c->sum == HOUSE_KEY && c->type == HOUSE_HASH;
}

static bool has_paths(const struct house_table *t)
{
	size_t i = 0;

	while (i < t->count && !is_path(&t->columns[i]))
		i++;
	return i < t->count;
}

/* A hash of the calling contexts in a row's key, between two texts: two that have the same are as
 * one where rows are ranked, and in nothing else. */
static void add_path(struct query *q, const struct house_table *t, const char *before,
		     const char *after)
{
	const char *between = "cityHash64(";

	ADD(q, "%s", before);
	for (size_t i = 0; i < t->count; i++) {
		if (!is_path(&t->columns[i]))
			continue;
		ADD(q, "%s%s", between, t->columns[i].name);
		between = ", ";
	}
	ADD(q, ")%s", after);
}

/* Which of their windows' columns are needed beside a table's own. */
static void add_needed(struct query *q, const struct house_table *t)
{
	bool named[HOUSE_WEIGHTS] = {false};

	for (size_t i = 0; i < t->count; i++)
		if (t->columns[i].sum == HOUSE_WEIGHTED || t->columns[i].sum == HOUSE_SQUARES)
			named[t->columns[i].weight] = true;
	named[WEIGHT_CPU] |= named[WEIGHT_BESIDE] | named[WEIGHT_LOOPS] | named[WEIGHT_PAIRS];
	for (size_t w = 0; w < HOUSE_WEIGHTS; w++)
		if (named[w] && weights[w] &&
		    (w == WEIGHT_CPU || strcmp(weights[w], weights[WEIGHT_CPU]) != 0))
			ADD(q, ", %s", weights[w]);
}

/* Rows of a table with columns of their windows: with the weights that it needs, and more of these.
 * only: a condition on them, or NULL.
 */
static void add_rows(struct query *q, const struct fleet_question *a, const struct fleet_like *like,
		     size_t table, const char *more, bool once, const char *only)
{
	const struct house_table *t = house_table(table);

	ADD(q, " FROM ");
	if (once)
		ADD(q, "(SELECT * FROM %s", t->name);
	else
		ADD(q, "%s", t->name);
	if (once) {
		add_common(q, a);
		if (only)
			ADD(q, " AND %s", only);
		ADD(q, " LIMIT 1 BY " WINDOW_KEY ", row_no) AS r");
	}
	ADD(q, " GLOBAL ALL INNER JOIN (SELECT host, store, window_no");
	add_needed(q, t);
	ADD(q, "%s FROM windows", more);
	add_asked(q, a);
	add_like(q, like);
	if (once)
		ADD(q, " LIMIT 1 BY " WINDOW_KEY);
	ADD(q, ") AS w USING (host, store, window_no)");
	/* Before rows are joined. */
	if (only && !once)
		ADD(q, " PREWHERE %s", only);
	add_common(q, a);
}

/* Weighted sums tell which rows matter most, the last one first: CPU time before bytes. So many of
 * them are looked at.
 */
static void add_order(struct query *q, const struct house_table *t, unsigned sums)
{
	const char *between = " ORDER BY ";

	for (size_t i = t->count; i-- > 0 && sums > 0;) {
		const struct house_column *c = &t->columns[i];

		if (c->sum != HOUSE_WEIGHTED)
			continue;
		sums--;
		ADD(q, "%s%s", between, c->array ? "arraySum(" : "");
		add_column(q, c);
		ADD(q, "%s DESC", c->array ? ")" : "");
		between = ", ";
	}
}

/* Rows of the paths that weigh most, as a condition. */
static char *heaviest_paths(const struct fleet_question *a, const struct fleet_like *like,
			    size_t table, bool once)
{
	const struct house_table *t = house_table(table);
	struct query q;

	if (!query_begin(&q))
		return NULL;
	add_path(&q, t, "", " GLOBAL IN (");
	add_path(&q, t, "SELECT ", " AS path");
	/* What wastes nothing weighs nothing. */
	add_rows(&q, a, like, table, "", once,
		 t->table == TABLE_PAIRS ? "wasteful_count > 0" : NULL);
	ADD(&q, " GROUP BY path");
	/* Each sum more takes a third longer; without a clock the first is 0. */
	add_order(&q, t, like->sampler == JXP__SAMPLER__SAMPLER_CLOCK ? 1 : UINT_MAX);
	ADD(&q, " LIMIT %" PRIu32 ")", fleet_paths_max(a, table));
	return query_end(&q);
}

char *fleet_table_query(const struct fleet_question *a, const struct fleet_like *like,
			size_t number, bool once, bool heaviest)
{
	const struct house_table *t = house_table(number);
	_cleanup_free_ char *paths = heaviest ? heaviest_paths(a, like, number, once) : NULL;
	const char *between = "";
	struct query q;

	if ((heaviest && !paths) || !query_begin(&q))
		return NULL;
	ADD(&q, "SELECT ");
	add_columns(&q, t);
	ADD(&q, "toUInt64(count())");
	add_rows(&q, a, like, number, "", once, paths);
	ADD(&q, " GROUP BY ");
	for (size_t i = 0; i < t->count; i++) {
		if (t->columns[i].sum != HOUSE_KEY)
			continue;
		ADD(&q, "%s%s", between, t->columns[i].name);
		between = ", ";
	}
	add_order(&q, t, UINT_MAX);
	ADD(&q, " LIMIT %zu" FORMAT, window_tables[t->table].layout->limit);
	return query_end(&q);
}

uint32_t fleet_paths_max(const struct fleet_question *a, size_t table)
{
	const struct house_table *t = house_table(table);

	if (!has_paths(t))
		return 0;
	return t->table == TABLE_PAIRS && a->paths
		   ? a->paths
		   : (uint32_t)window_tables[t->table].layout->limit;
}

const struct house_column *fleet_observations(size_t table)
{
	const struct house_table *t = house_table(table);

	for (size_t i = 0; i < t->count; i++)
		if (t->columns[i].sum == HOUSE_COUNT)
			return &t->columns[i];
	return NULL;
}

char *fleet_extent_query(const struct fleet_question *a, const struct fleet_like *like,
			 size_t table, bool once)
{
	const struct house_table *t = house_table(table);
	const struct house_column *counts = fleet_observations(table);
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT toUInt64(count())");
	if (counts)
		ADD(&q, counts->array ? ", toUInt64(sum(arraySum(%s)))" : ", toUInt64(sum(%s))",
		    counts->name);
	else
		ADD(&q, ", toUInt64(count())");
	if (has_paths(t))
		add_path(&q, t, ", toUInt64(uniqCombined(", "))");
	else
		ADD(&q, ", toUInt64(0)");
	if (like) {
		add_rows(&q, a, like, table, "", once, NULL);
	} else {
		ADD(&q, " FROM %s", t->name);
		add_common(&q, a);
	}
	ADD(&q, FORMAT);
	return query_end(&q);
}

char *fleet_clusters_query(const struct fleet_question *a, const struct fleet_like *like,
			   bool hosts, bool once)
{
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT kind, toFloat64(sum(checked_bytes * observation_weight)), "
		"toFloat64(sum(wasteful_bytes * observation_weight)), "
		"toFloat64(sum(wasteful_cpu_ns * cpu_weight)), toFloat64(sum(whole_ns * "
		"cpu_weight)), toUInt64(count())");
	add_rows(&q, a, like, house_table_of(TABLE_KINDS), ", whole_ns, start_unix_ns", once, NULL);
	ADD(&q,
	    " AND part = 0 GROUP BY kind, host%s ORDER BY kind, min(start_unix_ns), host%s" FORMAT,
	    hosts ? "" : ", store, window_no", hosts ? "" : ", store, window_no");
	return query_end(&q);
}

/* As a text: a list of calls of unhex() takes 18.16 four times as long. */
static void add_hash(struct query *q, const uint8_t hash[HOUSE_HASH_BYTES])
{
	ADD(q, "'");
	for (size_t i = 0; i < HOUSE_HASH_BYTES; i++)
		ADD(q, isalnum(hash[i]) ? "%c" : "\\x%02X", hash[i]);
	ADD(q, "'");
}

char *fleet_contexts_query(const uint8_t (*hashes)[HOUSE_HASH_BYTES], size_t count)
{
	const struct house_table *t = house_table(HOUSE_CONTEXTS);
	const char *between = "";
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT ");
	for (size_t i = 0; i < t->count; i++) {
		if (t->columns[i].sum == HOUSE_FACT)
			continue;
		ADD(&q, "%s", between);
		add_column(&q, &t->columns[i]);
		between = ", ";
	}
	ADD(&q, " FROM contexts WHERE context IN (");
	for (size_t i = 0; i < count; i++) {
		ADD(&q, "%s", i > 0 ? "," : "");
		add_hash(&q, hashes[i]);
	}
	ADD(&q, ") GROUP BY context" FORMAT);
	return query_end(&q);
}

char *fleet_apps_query(const struct fleet_question *a, unsigned rows)
{
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT app, toUInt64(any(hosts)), toUInt64(any(app_windows)), "
		"toFloat64(any(app_cpu_s)), ");
	for (size_t i = 0; i < PAIR_KINDS; i++)
		ADD(&q,
		    "toFloat64(if(sumIf(whole, kind = '%s') > 0, sumIf(wasteful, kind = '%s') "
		    "/ sumIf(whole, kind = '%s'), 0)), ",
		    pair_kinds[i].name, pair_kinds[i].name, pair_kinds[i].name);
	ADD(&q, "1 FROM (SELECT app, kind, sum(wasteful_cpu_ns * cpu_weight) AS wasteful, "
		"sum(whole_ns * cpu_weight) AS whole FROM (SELECT app, host, store, window_no, "
		"kind, wasteful_cpu_ns FROM kinds");
	add_common(&q, a);
	ADD(&q, " AND part = 0 LIMIT 1 BY " WINDOW_KEY ", kind) AS r GLOBAL ALL INNER JOIN (SELECT "
		"host, store, window_no, cpu_weight, whole_ns FROM windows");
	add_asked(&q, a);
	ADD(&q, " LIMIT 1 BY " WINDOW_KEY
		") AS w USING (host, store, window_no) GROUP BY app, kind) AS per_kind "
		"GLOBAL ALL INNER JOIN (SELECT app, uniqExact(host) AS hosts, count() AS "
		"app_windows, sum(cpu_s * weight) AS app_cpu_s FROM (SELECT " WINDOW_KEY
		", cpu_s, weight FROM windows");
	add_asked(&q, a);
	ADD(&q,
	    " LIMIT 1 BY " WINDOW_KEY
	    ") GROUP BY app) AS per_app USING (app) GROUP BY app ORDER BY "
	    "sum(wasteful) DESC, app LIMIT %u" FORMAT,
	    rows);
	return query_end(&q);
}

/* The access that could go, of a wasteful pair (pair_removable_node). */
static void add_removable(struct query *q, const char *what)
{
	ADD(q, "if(kind = '%s', watch_%s, trap_%s)",
	    pair_kind_find(JXP__KIND__KIND_DEAD_STORE)->name, what, what);
}

char *fleet_places_query(const struct fleet_question *a, unsigned rows)
{
	struct query q;

	if (!query_begin(&q))
		return NULL;
	ADD(&q, "SELECT app, kind, ");
	add_removable(&q, "class");
	ADD(&q, " AS by_class, ");
	add_removable(&q, "method");
	ADD(&q,
	    " AS by_method, if(location_owner = '', location_class, location_owner) AS "
	    "of_class, location_field, toUInt64(uniqExact(host)), toFloat64(sum(cpu_ns * "
	    "cpu_weight)), toFloat64(sum(wasteful_bytes * observation_weight)) FROM "
	    "(SELECT " WINDOW_KEY
	    ", row_no, kind, watch_class, watch_method, trap_class, trap_method, "
	    "location_owner, location_class, location_field, cpu_ns, wasteful_bytes FROM pairs");
	add_common(&q, a);
	ADD(&q, " AND wasteful_count > 0 LIMIT 1 BY " WINDOW_KEY
		", row_no) AS r GLOBAL ALL INNER JOIN (SELECT host, store, window_no, cpu_weight, "
		"observation_weight FROM windows");
	add_asked(&q, a);
	ADD(&q,
	    " LIMIT 1 BY " WINDOW_KEY ") AS w USING (host, store, window_no) GROUP BY app, kind, "
	    "by_class, by_method, of_class, location_field ORDER BY sum(cpu_ns * cpu_weight) "
	    "DESC, sum(wasteful_bytes * observation_weight) DESC LIMIT %u" FORMAT,
	    rows);
	return query_end(&q);
}
