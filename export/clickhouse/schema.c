#include "export/clickhouse/schema.h"

#include <errno.h>
#include <stdbool.h>
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

/* 0 or -ENOMEM; ends the text. */
static int close_text(FILE *out, char **text)
{
	if (fclose(out) == 0)
		return 0;
	free(*text);
	*text = NULL;
	return -ENOMEM;
}

static size_t tables_of(const struct house_schema *s)
{
	return s->cluster ? 2 * (size_t)HOUSE_TABLES : HOUSE_TABLES;
}

int house_schema_statement(const struct house_schema *s, size_t i, char **text)
{
	size_t size, tables = HOUSE_TABLES;
	FILE *out;

	*text = NULL;
	if (i > tables_of(s))
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
	return close_text(out, text);
}

/* ---------------------------------------------------------------- tables of an earlier version */

/* Is the column a part of the sorting key, or the day, by which partitions are made? */
static bool is_of_key(const struct house_table *t, const char *column)
{
	size_t length = strlen(column);

	if (strcmp(column, "day") == 0)
		return true;
	for (const char *key = t->order; *key; key += strspn(key, ", ")) {
		size_t of_key = strcspn(key, ",");

		if (of_key == length && strncmp(key, column, length) == 0)
			return true;
		key += of_key;
	}
	return false;
}

static void write_addition(FILE *out, const struct house_schema *s, const struct house_table *t,
			   const char *table, house_has_column *has, void *arg)
{
	bool old = s->version && s->version < HOUSE_VERSION_ADD_IF_ABSENT;
	const char *before = "";
	char type[HOUSE_TYPE_BYTES];

	for (size_t i = 0; i < t->count; i++) {
		const struct house_column *c = &t->columns[i];

		if (is_of_key(t, c->name) || (has && has(arg, table, c->name)))
			continue;
		if (!before[0])
			(void)fprintf(out, "ALTER TABLE %s.%s\n", s->database, table);
		(void)fprintf(out, "%s    ADD COLUMN %s%s %s", before, old ? "" : "IF NOT EXISTS ",
			      c->name, house_type_name(c, type));
		before = ",\n";
	}
}

int house_schema_addition(const struct house_schema *s, size_t i, house_has_column *has, void *arg,
			  char **text)
{
	char table[HOUSE_NAME_BYTES];
	const struct house_table *t;
	size_t size;
	FILE *out;

	*text = NULL;
	if (i >= tables_of(s))
		return 0;
	t = house_table(i % HOUSE_TABLES);
	(void)snprintf(table, sizeof(table), "%s%s", t->name, /* Fits. */
		       s->cluster && i < HOUSE_TABLES ? "_local" : "");
	out = open_memstream(text, &size);
	if (!out)
		return -ENOMEM;
	write_addition(out, s, t, table, has, arg);
	return close_text(out, text);
}
