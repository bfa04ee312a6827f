/* jxperfctl fleet-schema: the tables that a fleet's windows go to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/fleet/options.h"
#include "common/clock.h"
#include "common/cleanup.h"
#include "export/clickhouse/schema.h"

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
    {.name = "apply", FIELD(apply), .help = "make what is not there yet; each shard needs it"},
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

/* s NULL: they are printed. */
static int each_statement(const struct house_schema *schema, struct server *s, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0; i++) {
		_cleanup_free_ char *text = NULL;

		if (house_schema_statement(schema, i, &text) < 0)
			return err_set(err, ENOMEM, "out of memory");
		if (!text)
			break;
		if (s)
			r = apply(s, text, err);
		else
			(void)printf("%s;\n", text); /* main looks at stdout's errors. */
	}
	return r;
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
		return each_statement(&schema, NULL, err);
	}
	outside.database = ""; /* It may not be there yet. */
	r = server_open(&outside, &s, err);
	if (r == 0)
		r = ask_version(s, &schema.version, err);
	if (r == 0)
		r = each_statement(&schema, s, err);
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
