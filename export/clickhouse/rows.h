/*
 * A window's rows as RowBinary, by the columns of columns.h.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_ROWS_H
#define JXPERF_EXPORT_CLICKHOUSE_ROWS_H

#include "export/clickhouse/columns.h"
#include "export/clickhouse/facts.h"

/* Appends the columns of one row; contexts that it names are marked in its hashes. 0, -ENOBUFS or
 * -ENOMEM, and then it is there in parts. */
int house_row_put(struct house_writer *out, const struct house_table *t,
		  const struct house_row *row);

#endif
