/*
 * Windows as rows of ClickHouse's tables (docs/fleet.md): a batch is an INSERT for each table that
 * it has rows of, those of `windows` last.
 */
#ifndef JXPERF_EXPORT_CLICKHOUSE_CLICKHOUSE_H
#define JXPERF_EXPORT_CLICKHOUSE_CLICKHOUSE_H

#include "export/format.h"

extern const struct export_format export_clickhouse;

#endif
