/* jxperfctl fleet-top: which applications of a fleet waste most, and where. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/fleet/options.h"
#include "client/output/json.h"
#include "client/output/table.h"
#include "common/cleanup.h"
#include "common/json.h"

#define ROWS_DEFAULT 10u

struct fleet_top_options {
	struct server_options server;
	struct fleet_question question;
	uint32_t rows;
};

#define FIELD(member) .field = offsetof(struct fleet_top_options, member)

static const struct argument_option arguments[] = {
    {.group = server_arguments, FIELD(server)},
    {.group = question_arguments, FIELD(question)},
    {.name = "rows",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(rows),
     .value = "N",
     .help = "at most N rows of each list",
     .unset = "10"},
    {0},
};

static struct fleet_top_options asked;

struct worst {
	struct fleet_app *apps;
	size_t app_count;
	struct fleet_place *places;
	size_t place_count;
};

static void found_release(struct worst *f)
{
	free(f->apps);
	free(f->places);
}

static int ask(const struct fleet_top_options *o, struct worst *f, struct err *err)
{
	uint32_t rows = o->rows ? o->rows : ROWS_DEFAULT;
	_cleanup_(server_release) struct server *s = NULL;
	int r = server_open(&o->server, &s, err);

	if (r == 0)
		r = fleet_report_apps(server_asked(s), &o->question, rows, &f->apps, &f->app_count,
				      err);
	return r < 0 ? r
		     : fleet_report_places(server_asked(s), &o->question, rows, &f->places,
					   &f->place_count, err);
}

/* ---------------------------------------------------------------- what is said */

static json_t *apps_json(const struct worst *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->app_count; i++) {
		const struct fleet_app *a = &f->apps[i];
		json_t *app = JSON_OBJECT({"app", json_string(a->name)},
					  {"hosts", json_integer((json_int_t)a->hosts)},
					  {"windows", json_integer((json_int_t)a->windows)},
					  {"cpu_s", json_real(a->cpu_s)});

		for (size_t k = 0; k < PAIR_KINDS; k++)
			app = json_with(app, pair_kinds[k].name, json_real(a->wasteful[k]));
		list = json_appended(list, app);
	}
	return list;
}

static json_t *places_json(const struct worst *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->place_count; i++) {
		const struct fleet_place *p = &f->places[i];

		list = json_appended(
		    list, JSON_OBJECT(
			      {"app", json_string(p->app)}, {"kind", json_string(p->kind)},
			      {"method", json_string(p->method)}, {"place", json_string(p->place)},
			      {"hosts", json_integer((json_int_t)p->hosts)},
			      {"cpu_s", json_real(p->cpu_s)}, {"bytes", json_real(p->bytes)}));
	}
	return list;
}

static int print_apps(const struct worst *f)
{
	static const char *const headings[] = {"APP",          "HOSTS",       "WINDOWS",
					       "CPU-SECONDS",  "DEAD-STORES", "SILENT-STORES",
					       "SILENT-LOADS", NULL};
	struct table table;
	int r;

	table_init(&table, headings);
	for (size_t i = 0; i < f->app_count; i++) {
		const struct fleet_app *a = &f->apps[i];

		table_cell(&table, "%s", a->name[0] ? a->name : "-");
		table_cell(&table, "%" PRIu64, a->hosts);
		table_cell(&table, "%" PRIu64, a->windows);
		table_cell(&table, "%.0f", a->cpu_s);
		for (size_t k = 0; k < PAIR_KINDS; k++)
			table_cell(&table, "%.1f%%", 100 * a->wasteful[k]);
	}
	r = table_print(&table, stdout);
	table_release(&table);
	return r;
}

static int print_places(const struct worst *f)
{
	static const char *const headings[] = {"CPU-SECONDS", "HOSTS", "APP", "KIND",
					       "METHOD",      "PLACE", NULL};
	struct table table;
	int r;

	table_init(&table, headings);
	for (size_t i = 0; i < f->place_count; i++) {
		const struct fleet_place *p = &f->places[i];
		const char *const cells[] = {p->app, p->kind, p->method, p->place};

		table_cell(&table, "%.1f", p->cpu_s);
		table_cell(&table, "%" PRIu64, p->hosts);
		for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++)
			table_cell(&table, "%s", cells[c][0] ? cells[c] : "-");
	}
	r = table_print(&table, stdout);
	table_release(&table);
	return r;
}

static int top(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_(found_release) struct worst found = {.apps = NULL};
	int r;

	(void)call;        /* There are no operands. */
	client_release(c); /* No daemon is asked. */
	r = ask(&asked, &found, err);
	if (r < 0)
		return r;
	if (c->json)
		return json_print(
		    JSON_OBJECT({"apps", apps_json(&found)}, {"places", places_json(&found)}), err);
	r = print_apps(&found);
	(void)putchar('\n'); /* main looks at stdout's errors. */
	return r < 0 || print_places(&found) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

const struct command cmd_fleet_top = {
    "fleet-top",
    "[option...]",
    "which applications of a fleet waste most CPU time, and where",
    "",
    .run = top,
    .options = arguments,
    .settings = &asked};
