#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/clickhouse/schema.h"
#include "export/clickhouse/types.h"
#include "tests/unit/support/golden.h"

static char *all(const struct house_schema *s)
{
	char *text = NULL, *statement;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; house_schema_statement(s, i, &statement) == 0 && statement; i++) {
		(void)fprintf(out, "%s;\n", statement);
		free(statement);
	}
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(tables_are_what_they_were)
{
	char *text = all(&(struct house_schema){.database = "jxperf", .keep_days = 90});

	assert_golden("clickhouse.sql", text);
	free(text);
}

/* arg: the one column that is not there, of each table. */
static bool has_but_one(void *arg, const char *table, const char *column)
{
	const char *const *lacks = arg;

	return strcmp(lacks[0], table) != 0 || strcmp(lacks[1], column) != 0;
}

static bool has_nothing(void *arg, const char *table, const char *column)
{
	assert_null(strpbrk(table, " (,"));
	assert_null(strpbrk(column, " (,"));
	(void)arg;
	return false;
}

static char *additions(const struct house_schema *s, house_has_column *has, void *arg,
		       size_t *tables)
{
	char *text = NULL, *statement;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);

	for (; house_schema_addition(s, count, has, arg, &statement) == 0 && statement; count++) {
		(void)fprintf(out, "%s", statement);
		free(statement);
	}
	assert_int_equal(fclose(out), 0);
	*tables = count;
	return text;
}

TEST(each_column_that_a_table_lacks_is_added_but_for_those_of_the_key)
{
	const char *lacks[] = {"pairs", "checked_bytes"};
	struct house_schema s = {.database = "d"};
	size_t tables;
	char *text = additions(&s, has_but_one, lacks, &tables);

	assert_int_equal(tables, HOUSE_TABLES);
	assert_string_equal(
	    text, "ALTER TABLE d.pairs\n    ADD COLUMN IF NOT EXISTS checked_bytes UInt64");
	free(text);
	s.version = 1816;
	text = additions(&s, has_but_one, lacks, &tables);
	assert_string_equal(text, "ALTER TABLE d.pairs\n    ADD COLUMN checked_bytes UInt64");
	free(text);
	lacks[1] = "row_no";
	text = additions(&s, has_but_one, lacks, &tables);
	assert_string_equal(text, "");
	free(text);
}

TEST(columns_are_added_to_tables_of_shards_and_those_above)
{
	struct house_schema s = {.database = "d", .cluster = "c"};
	size_t tables;
	char *text = additions(&s, has_nothing, NULL, &tables), *whole, *local, *above;

	assert_int_equal(tables, 2 * HOUSE_TABLES);
	local = strstr(text, "ALTER TABLE d.windows_local\n");
	above = strstr(text, "ALTER TABLE d.windows\n");
	assert_true(local && above && local < above);
	assert_null(strstr(text, "EXISTS app String"));
	assert_null(strstr(text, "EXISTS day Date"));
	whole = additions(&s, NULL, NULL, &tables);
	assert_string_equal(text, whole);
	free(whole);
	free(text);
}

TEST(an_old_server_gets_no_ttl_and_a_cluster_gets_both_tables)
{
	char *text = all(&(struct house_schema){
	    .database = "d", .cluster = "c", .keep_days = 90, .version = 1816});

	assert_null(strstr(text, "TTL"));
	assert_non_null(strstr(text, "CREATE TABLE IF NOT EXISTS d.pairs_local ("));
	assert_non_null(strstr(text, "CREATE TABLE IF NOT EXISTS d.pairs AS d.pairs_local ENGINE = "
				     "Distributed(c, d, pairs_local, sipHash64(host))"));
	free(text);
}

TEST(versions_and_names_are_checked)
{
	struct err err = {""};
	unsigned version = 7;

	assert_int_equal(house_version_parse("18.16.1", &version, &err), 0);
	assert_int_equal(version, 1816);
	assert_int_equal(house_version_parse("26.5", &version, &err), 0);
	assert_int_equal(version, 2605);
	assert_int_equal(house_version_parse("new", &version, &err), -EINVAL);
	assert_int_equal(house_name_check("the database", "jxperf_2", &err), 0);
	assert_int_equal(house_name_check("the database", "x; DROP", &err), -EINVAL);
	assert_int_equal(house_name_check("the database", "2x", &err), -EINVAL);
	assert_int_equal(house_name_check("the database", "", &err), -EINVAL);
}
