#include "export/clickhouse/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "export/clickhouse/columns.h"

#define NAME_BYTES_MAX 128u

int house_name_check(const char *what, const char *name, struct err *err)
{
	if (!label_is_identifier(name) || strlen(name) > NAME_BYTES_MAX)
		return err_set(err, EINVAL,
			       "%s '%s' is no name: use letters, digits and underscores", what,
			       name);
	return 0;
}

int house_version_parse(const char *text, unsigned *version, struct err *err)
{
	unsigned year, release;

	if (sscanf(text, "%3u.%2u", &year, &release) != 2) /* NOLINT(cert-err34-c): as wide. */
		return err_set(err, EINVAL, "'%s' is no version of ClickHouse, such as 18.16",
			       text);
	*version = 100 * year + release;
	return 0;
}

/* ---------------------------------------------------------------- statements */

static void write_table(FILE *out, const struct house_schema *s, const struct house_table *t)
{
	char type[HOUSE_TYPE_BYTES];

	(void)fprintf(out, "CREATE TABLE IF NOT EXISTS %s.%s%s (\n", s->database, t->name,
		      s->cluster ? "_local" : "");
	for (size_t i = 0; i < t->count; i++)
		(void)fprintf(out, "    %s %s%s\n", t->columns[i].name,
			      house_type_name(&t->columns[i], type), i + 1 < t->count ? "," : "");
	(void)fprintf(out, ") ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (%s)",
		      t->order);
	if (s->keep_days && (!s->version || s->version >= HOUSE_VERSION_TTL))
		(void)fprintf(out, " TTL day + INTERVAL %u DAY", s->keep_days);
}

static void write_distributed(FILE *out, const struct house_schema *s, const struct house_table *t)
{
	(void)fprintf(out,
		      "CREATE TABLE IF NOT EXISTS %s.%s AS %s.%s_local ENGINE = Distributed(%s, "
		      "%s, %s_local, sipHash64(host))",
		      s->database, t->name, s->database, t->name, s->cluster, s->database, t->name);
}

int house_schema_statement(const struct house_schema *s, size_t i, char **text)
{
	size_t size, tables = HOUSE_TABLES;
	FILE *out;

	*text = NULL;
	if (i > (s->cluster ? 2 * tables : tables))
		return 0;
	out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	if (i == 0)
		(void)fprintf(out, "CREATE DATABASE IF NOT EXISTS %s", s->database);
	else if (i <= tables)
		write_table(out, s, house_table(i - 1));
	else
		write_distributed(out, s, house_table(i - 1 - tables));
	if (fclose(out) != 0) {
		free(*text);
		*text = NULL;
		return -ENOMEM;
	}
	return 0;
}
