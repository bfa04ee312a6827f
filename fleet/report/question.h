/*
 * One question over the windows of a fleet, in ClickHouse's SQL, as 18.16 and a current engine take
 * it: sums by the weights that windows have (export/clickhouse/), of the columns by their roles.
 *
 * Questions begin with the rows of `windows`, so that of a window that is there in parts nothing
 * counts. A row may be there twice. So there are two ways to ask for a table: as it is, with the
 * number of rows, which is right where that is the number that the windows say they have; and each
 * row once, which is right always and takes longer.
 *
 * 18.16 has no common table expressions and no window functions; ANY joins have changed their
 * meaning since, ALL joins have not.
 */
#ifndef JXPERF_FLEET_REPORT_QUESTION_H
#define JXPERF_FLEET_REPORT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/clickhouse/columns.h"
#include "profile/window/result.h"

/* Which windows; NULL or 0: any. Texts are borrowed, and may be anything. */
struct fleet_question {
	const char *app, *group, *jdk, *gc, *version, *schedule, *namespace, *pod;
	uint64_t since_unix_ns, until_unix_ns;
	/* Of so many pairs of calling contexts, those that weigh most; 0: as many as a window may
	 * have. */
	uint32_t paths;
};

/* What a merge needs of its first window (profile/combine/merge.h); the others are like it. */
struct fleet_like {
	int sampler;
	const char *event;
	unsigned nodes;
};

/* All return a query to be freed, NULL without memory. */

/* The first window: its row of `windows`, the columns that house_is_first says. */
char *fleet_first_query(const struct fleet_question *q);
bool house_is_first(const struct house_column *c);

/* What names windows have, and which are left out: rows of app, schedule, jdk, gc, agent, version,
 * reason (0: taken; else 1 + enum merged_note), how many, the least number. */
char *fleet_names_query(const struct fleet_question *q, const struct fleet_like *like);
#define FLEET_NAMES_MAX 4096u

/* One row of sums over windows: the columns of fleet_sums, then those of `windows` that are merged.
 */
char *fleet_sums_query(const struct fleet_question *q, const struct fleet_like *like, bool once);

struct fleet_sum {
	const char *expression;
	enum house_type type;
	bool array;
};
enum fleet_sum_number {
	FLEET_ROWS,    /* of windows */
	FLEET_WINDOWS, /* different ones */
	FLEET_HOSTS,
	FLEET_PROCESSES,
	FLEET_FIRST,
	FLEET_LAST,
	FLEET_START_NS,
	FLEET_END_NS,
	FLEET_DURATION_NS,
	FLEET_OWNERS, /* different ones */
	FLEET_TABLE_ROWS,
	FLEET_KINDS,
	FLEET_KIND_WINDOWS,
	FLEET_KIND_SAMPLES,
	FLEET_KIND_STANDS,
	FLEET_KIND_WHOLES,
	FLEET_KIND_AFTERS,
	FLEET_KIND_ELAPSED,
	FLEET_KIND_WHOLE,
	FLEET_KIND_TICKS,
	FLEET_KIND_TICK_NS,
	FLEET_GATE,
	FLEET_PRETOUCH,
	FLEET_OBJECTS_NS,
	FLEET_OBJECTS_WEIGHT,
	FLEET_HEAP,
	FLEET_HEAP_WEIGHTED,
	FLEET_OBJECT_INTERVAL, /* of the last window with objects */
	FLEET_OBJECT_MIN_SIZE,
	FLEET_SUMS,
};
extern const struct fleet_sum fleet_sums[FLEET_SUMS];

/* A table's rows, merged: its columns but facts, then how many rows each was made of. heaviest:
 * only those of the fleet_paths_max() paths that weigh most. */
char *fleet_table_query(const struct fleet_question *q, const struct fleet_like *like, size_t table,
			bool once, bool heaviest);

/* A path is all calling contexts in a table's key: so many of them are asked for. 0: its rows have
 * none. */
uint32_t fleet_paths_max(const struct fleet_question *q, size_t table);

/* How much a table has, of what is there twice each time: rows, observations (of its first column
 * that counts any) and, roughly, paths. like NULL: of all windows of the application and the days,
 * which takes a quarter of the time. */
char *fleet_extent_query(const struct fleet_question *q, const struct fleet_like *like,
			 size_t table, bool once);

/* NULL: it counts none. */
const struct house_column *fleet_observations(size_t table);

/* Sums of clusters, by kind and in the order of time: the kind's name, its checked and wasteful
 * bytes, CPU time and whole, and how many rows. Clusters are hosts or windows. */
char *fleet_clusters_query(const struct fleet_question *q, const struct fleet_like *like,
			   bool hosts, bool once);

/* Contexts by their hashes: the columns of `contexts` from the third on. */
char *fleet_contexts_query(const uint8_t (*hashes)[HOUSE_HASH_BYTES], size_t count);
#define FLEET_CONTEXTS_ONCE 3800u /* a query has less than 256 KiB */

/* Applications, those that waste most first: name, hosts, windows, CPU seconds of the fleet, by
 * kind the share of it. */
char *fleet_apps_query(const struct fleet_question *q, unsigned rows);

/* Places, likewise: app, kind, class and method that make the access that could go, owner and name
 * of the field, or class of what is accessed; hosts, CPU seconds, wasteful bytes. */
char *fleet_places_query(const struct fleet_question *q, unsigned rows);

#endif
