/*
 * Columns that are no column of a window's own tables: whose row it is, and what a window or a row
 * comes to in words and weights. Each says how its value is written.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_FACTS_H
#define JXPERF_EXPORT_CLICKHOUSE_FACTS_H

#include "export/clickhouse/types.h"
#include "export/clickhouse/contexts.h"
#include "export/clickhouse/writer.h"
#include "export/format.h"
#include "profile/combine/merge.h"

/* What is written about; all borrowed. */
struct house_row {
	const struct export_origin *origin;
	const struct window_result *window;
	const struct house_hashes *hashes; /* of its contexts */
	const uint32_t *rows;              /* that it has, by data table */
	struct merge_weights weights;
	uint32_t number; /* of the row among its table's of the window, or a context's node */
	const void *row;
};

/* Each ended by a column without a name: what every data table begins with; and more of kinds, of
 * allocation sites, of windows and of contexts. */
extern const struct house_column house_row_facts[], house_kind_facts[], house_site_facts[],
    house_window_facts[], house_context_facts[];

/* Parts of a kind's totals: 0 all of the application, then by region, the last one the JVM's. */
#define HOUSE_PARTS (PROFILE_REGIONS + 2u)

#endif
