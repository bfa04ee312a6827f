/* jxperfctl fleet-plan: what the schedules of a configuration would do in a fleet. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/output/json.h"
#include "client/output/plan.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "fleet/config/config.h"
#include "fleet/hosts.h"

struct plan_options {
	const char *hosts;
	const char *config;
	const char *schedule; /* NULL: all */
	uint32_t epochs;
	uint64_t from_unix_ns;
	uint32_t pairs_per_window;
	bool verbose;
};

/* Nobody knows it of a fleet before it is profiled; `windows` shows it of hosts that are. */
#define PAIRS_PER_WINDOW_DEFAULT 1000

#define FIELD(member) .field = offsetof(struct plan_options, member)

static const struct argument_option arguments[] = {
    {.name = "hosts",
     .type = ARGUMENT_TEXT,
     FIELD(hosts),
     .noun = "a file",
     .value = "FILE",
     .help = "a line for each application of a host: HOST APP COUNT"},
    {.name = "config",
     .type = ARGUMENT_TEXT,
     FIELD(config),
     .noun = "a file",
     .value = "FILE",
     .help = "the daemons' configuration"},
    {.name = "epochs",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(epochs),
     .value = "N",
     .help = "how many epochs of each schedule"},
    {.name = "schedule",
     .type = ARGUMENT_TEXT,
     FIELD(schedule),
     .noun = "a schedule",
     .value = "S",
     .help = "of this one only"},
    {.name = "from",
     .type = ARGUMENT_PARSED,
     .parse = parse_time,
     FIELD(from_unix_ns),
     .value = "TIME",
     .help = "from the epoch on that this time is in",
     .unset = "now"},
    {.name = "pairs-per-window",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(pairs_per_window),
     .value = "N",
     .help = "a window brings so many, it is taken, for pairs-per-day",
     .unset = "1000"},
    {.name = "verbose", FIELD(verbose), .help = "each window, too"},
    {0},
};

static int check_options(const struct plan_options *o, struct err *err)
{
	const struct {
		bool given;
		const char *name;
	} needed[] = {
	    {o->hosts, "--hosts FILE"}, {o->config, "--config FILE"}, {o->epochs, "--epochs N"}};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!needed[i].given)
			return err_set(err, EINVAL,
				       "'fleet-plan' needs %s: see 'jxperfctl help fleet-plan'",
				       needed[i].name);
	return 0;
}

/* The schedule that is asked for; NULL without a question. */
static int find_schedule(const struct config *config, const struct plan_options *o,
			 const struct config_schedule **out, struct err *err)
{
	if (config->schedule_count == 0)
		return err_set(err, EINVAL, "'%s' has no schedule", o->config);
	if (!o->schedule) {
		*out = NULL;
		return 0;
	}
	for (size_t i = 0; i < config->schedule_count; i++)
		if (strcmp(config->schedules[i].name, o->schedule) == 0) {
			*out = &config->schedules[i];
			return 0;
		}
	return err_set(err, EINVAL, "'%s' has no schedule '%s'", o->config, o->schedule);
}

/* The end of the last epoch has to be a time, too. */
static int check_span(const struct plan_question *q, struct err *err)
{
	for (size_t i = 0; i < q->config->schedule_count; i++) {
		uint64_t length_ns, end_ns;

		if (__builtin_mul_overflow(q->config->schedules[i].every_ns,
					   q->epochs + UINT64_C(1), &length_ns) ||
		    __builtin_add_overflow(q->from_unix_ns, length_ns, &end_ns))
			return err_set(err, EINVAL,
				       "%" PRIu32 " epochs of schedule '%s' end after the year "
				       "2500: ask for fewer",
				       q->epochs, q->config->schedules[i].name);
	}
	return 0;
}

static struct plan_options asked;

static void set_defaults(void)
{
	asked.from_unix_ns = clock_ns(CLOCK_REALTIME);
	asked.pairs_per_window = PAIRS_PER_WINDOW_DEFAULT;
}

static int plan(struct client *c, struct command_call *call, struct err *err)
{
	const struct plan_options *o = &asked;
	_cleanup_(config_release) struct config config = {0};
	_cleanup_(fleet_hosts_release) struct fleet_hosts hosts = {0};
	struct plan_question q = {.config = &config,
				  .hosts = &hosts,
				  .from_unix_ns = o->from_unix_ns,
				  .epochs = o->epochs,
				  .pairs_per_window = o->pairs_per_window,
				  .verbose = o->verbose};
	json_t *json;
	int r;

	(void)call;        /* There are no operands. */
	client_release(c); /* No daemon is asked, and a large fleet may be interrupted. */
	if ((r = check_options(o, err)) < 0 || (r = config_load(&config, o->config, err)) < 0 ||
	    (r = find_schedule(&config, o, &q.schedule, err)) < 0 ||
	    (r = check_span(&q, err)) < 0 || (r = fleet_hosts_load(&hosts, o->hosts, err)) < 0)
		return r;
	if (!c->json)
		return plan_print(&q, err);
	json = plan_json(&q, err);
	return json_print(json, err);
}

const struct command cmd_fleet_plan = {"fleet-plan",
				       "OPTION...",
				       "what schedules would do in a fleet; no daemon needed",
				       "",
				       .run = plan,
				       .options = arguments,
				       .settings = &asked,
				       .prepare = set_defaults};
