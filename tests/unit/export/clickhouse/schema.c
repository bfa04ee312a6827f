#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/clickhouse/schema.h"
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
