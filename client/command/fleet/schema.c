/* jxperfctl fleet-schema: the tables that a fleet's windows go to. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/fleet/options.h"
#include "common/clock.h"
#include "common/cleanup.h"
#include "export/clickhouse/schema.h"

/* Names of all columns of a database, which may have tables of others. */
#define COLUMNS_BYTES_MAX ((size_t)16 << 20)

struct fleet_schema_options {
	struct server_options server;
	bool print, apply;
	const char *cluster;
	uint64_t keep_ns;
	unsigned version;
};

#define FIELD(member) .field = offsetof(struct fleet_schema_options, member)

static int set_version(const char *text, void *version, struct err *err)
{
	return house_version_parse(text, version, err);
}

static const struct argument_option arguments[] = {
    {.name = "print", FIELD(print), .help = "print the statements"},
    {.name = "apply",
     FIELD(apply),
     .help = "make the tables and columns that are not there yet; each shard needs it"},
    {.group = server_arguments, FIELD(server)},
    {.name = "cluster",
     .type = ARGUMENT_TEXT,
     FIELD(cluster),
     .noun = "a cluster",
     .value = "C",
     .help = "tables over the shards of this cluster of the server's configuration"},
    {.name = "keep",
     .type = ARGUMENT_DURATION,
     FIELD(keep_ns),
     .value = "TIME",
     .help = "the server drops windows that are older, in days",
     .unset = "they stay"},
    {.name = "engine-version",
     .type = ARGUMENT_PARSED,
     .parse = set_version,
     FIELD(version),
     .value = "V",
     .help = "print: for a server of this version, like 18.16",
     .unset = "a current one; apply: the server's own"},
    {0},
};

static struct fleet_schema_options asked;

static int ask_version(struct server *s, unsigned *version, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;
	char text[64];
	int r;

	buffer_init(&answer, 4096);
	r = server_ask(s, "SELECT version()", &answer, err);
	if (r < 0)
		return r;
	(void)snprintf(text, sizeof(text), "%.*s", (int)buffer_length(&answer), /* May be cut. */
		       buffer_length(&answer) > 0 ? (const char *)buffer_head(&answer) : "");
	text[strcspn(text, "\r\n")] = '\0';
	return house_version_parse(text, version, err) < 0
		   ? err_set(err, EPROTO, "the server's version '%s' is none of ClickHouse's", text)
		   : 0;
}

static int apply(struct server *s, const char *statement, struct err *err)
{
	_cleanup_(buffer_release) struct buffer answer;

	buffer_init(&answer, 65536);
	return server_ask(s, statement, &answer, err);
}

/* s NULL: it is printed. */
static int take_statement(struct server *s, const char *text, struct err *err)
{
	if (s)
		return apply(s, text, err);
	(void)printf("%s;\n", text); /* main looks at stdout's errors. */
	return 0;
}

static int make_tables(const struct house_schema *schema, struct server *s, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0; i++) {
		_cleanup_free_ char *text = NULL;

		if (house_schema_statement(schema, i, &text) < 0)
			return err_set(err, ENOMEM, "out of memory");
		if (!text)
			break;
		r = take_statement(s, text, err);
	}
	return r;
}

/* Is there a line "TABLE\tCOLUMN"? arg: the lines. */
static bool has_column(void *arg, const char *table, const char *column)
{
	const struct buffer *lines = arg;
	size_t left = buffer_length(lines), table_bytes = strlen(table), bytes = strlen(column);
	const char *text = left > 0 ? (const char *)buffer_head(lines) : "";

	while (left > 0) {
		const char *end = memchr(text, '\n', left);
		size_t length = end ? (size_t)(end - text) : left;

		if (length == table_bytes + 1 + bytes && memcmp(text, table, table_bytes) == 0 &&
		    text[table_bytes] == '\t' && memcmp(text + table_bytes + 1, column, bytes) == 0)
			return true;
		text += length + (end != NULL);
		left -= length + (end != NULL);
	}
	return false;
}

static int ask_columns(struct server *s, const char *database, struct buffer *lines,
		       struct err *err)
{
	_cleanup_free_ char *question = NULL;

	if (asprintf(&question,
		     "SELECT table, name FROM system.columns WHERE database = '%s' FORMAT "
		     "TabSeparated",
		     database) < 0)
		return err_set(err, ENOMEM, "out of memory");
	return server_ask(s, question, lines, err);
}

/* To tables that an earlier version has made. */
static int add_columns(const struct house_schema *schema, struct server *s, struct err *err)
{
	_cleanup_(buffer_release) struct buffer lines;
	int r = 0;

	buffer_init(&lines, COLUMNS_BYTES_MAX);
	if (s)
		r = ask_columns(s, schema->database, &lines, err);
	for (size_t i = 0; r == 0; i++) {
		_cleanup_free_ char *text = NULL;

		if (house_schema_addition(schema, i, s ? has_column : NULL, &lines, &text) < 0)
			return err_set(err, ENOMEM, "out of memory");
		if (!text)
			break;
		if (text[0])
			r = take_statement(s, text, err);
	}
	return r;
}

static bool adds_by_asking_only(const struct house_schema *schema)
{
	return schema->version && schema->version < HOUSE_VERSION_ADD_IF_ABSENT;
}

static int print(const struct house_schema *schema, struct err *err)
{
	int r = make_tables(schema, NULL, err);

	if (r < 0 || !adds_by_asking_only(schema))
		return r < 0 ? r : add_columns(schema, NULL, err);
	(void)printf("-- version %u.%u has no ADD COLUMN IF NOT EXISTS: to tables of an earlier "
		     "jxperf, --apply adds the columns that they lack\n",
		     schema->version / 100, schema->version % 100);
	return 0;
}

static void say_no_ttl(const struct house_schema *schema, FILE *out)
{
	if (schema->keep_days && schema->version && schema->version < HOUSE_VERSION_TTL)
		(void)fprintf(
		    out, /* What is not read is not missed. */
		    "-- version %u.%u drops nothing by itself: drop old days of each table "
		    "with ALTER TABLE %s.pairs%s DROP PARTITION '2026-11-22'\n",
		    schema->version / 100, schema->version % 100, schema->database,
		    schema->cluster ? "_local" : "");
}

static int check(const struct fleet_schema_options *o, struct house_schema *schema, struct err *err)
{
	int r;

	if (o->print == o->apply)
		return err_set(err, EINVAL,
			       "'fleet-schema' needs --print or --apply: see 'jxperfctl help "
			       "fleet-schema'");
	*schema = (struct house_schema){.database = o->server.database ? o->server.database
								       : HOUSE_DATABASE,
					.cluster = o->cluster,
					.keep_days = (unsigned)(o->keep_ns / (86400 * NS_PER_S)),
					.version = o->version};
	if (o->keep_ns && !schema->keep_days)
		return err_set(err, EINVAL, "--keep is in days: write '1d' or more");
	r = house_name_check("the database", schema->database, err);
	return r == 0 && o->cluster ? house_name_check("the cluster", o->cluster, err) : r;
}

static int schema(struct client *c, struct command_call *call, struct err *err)
{
	const struct fleet_schema_options *o = &asked;
	struct server_options outside = o->server;
	struct house_schema schema = {0};
	_cleanup_(server_release) struct server *s = NULL;
	int r;

	(void)call;        /* There are no operands. */
	client_release(c); /* No daemon is asked. */
	r = check(o, &schema, err);
	if (r < 0)
		return r;
	if (o->print) {
		say_no_ttl(&schema, stdout);
		return print(&schema, err);
	}
	outside.database = ""; /* It may not be there yet. */
	r = server_open(&outside, &s, err);
	if (r == 0)
		r = ask_version(s, &schema.version, err);
	if (r == 0)
		r = make_tables(&schema, s, err);
	if (r == 0)
		r = add_columns(&schema, s, err);
	if (r == 0)
		say_no_ttl(&schema, stderr);
	return r;
}

const struct command cmd_fleet_schema = {
    "fleet-schema",
    "--print|--apply [option...]",
    "tables of ClickHouse for a fleet's windows; no daemon needed",
    "",
    .run = schema,
    .options = arguments,
    .settings = &asked};
