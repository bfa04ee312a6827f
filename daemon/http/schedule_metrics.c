#include "daemon/http/schedule_metrics.h"

#include <inttypes.h>

#include "daemon/http/exposition.h"
#include "daemon/schedule/newcomers.h"
#include "daemon/schedule/planner.h"

/* Names of schedules need no escaping: fleet/config admits letters, digits and "._-". */
static void write_windows(FILE *out, const struct planner_schedule *s)
{
	const struct {
		const char *outcome;
		uint64_t count;
	} rows[] = {{"ran", s->windows - s->costly}, {"costly", s->costly}, {"failed", s->failed}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		fprintf(out,
			"jxperf_schedule_windows_total{schedule=\"%s\",outcome=\"%s\"} %" PRIu64
			"\n",
			s->config->name, rows[i].outcome, rows[i].count);
}

static void write_missed(FILE *out, const struct planner_schedule *s)
{
	for (unsigned i = 0; i < MISS_MAX; i++)
		fprintf(out,
			"jxperf_schedule_missed_total{schedule=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
			s->config->name, name_of_miss((enum miss)i), s->missed[i]);
}

static void write_stopped(FILE *out, const struct planner_schedule *s)
{
	fprintf(out, "jxperf_schedule_stopped{schedule=\"%s\"} %d\n", s->config->name,
		s->stopped[0] != '\0');
}

static const struct {
	const char *name;
	enum exposition_type type;
	const char *help;
	void (*write)(FILE *out, const struct planner_schedule *s);
} families[] = {
    {"jxperf_schedule_windows", EXPOSITION_COUNTER,
     "Scheduled windows by how they ended: ran, costly (above their budget) or failed.",
     write_windows},
    {"jxperf_schedule_missed", EXPOSITION_COUNTER,
     "Scheduled windows that something was in the way of for too long.", write_missed},
    {"jxperf_schedule_stopped", EXPOSITION_GAUGE,
     "1: the schedule has stopped itself because its windows failed or cost too much.",
     write_stopped},
};

void schedule_metrics_write(FILE *out, const struct planner *p, bool openmetrics)
{
	size_t count = planner_schedule_count(p);

	if (count == 0)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		exposition_head(out, openmetrics, families[i].type, families[i].name,
				families[i].help);
		for (size_t j = 0; j < count; j++)
			families[i].write(out, planner_schedule(p, j));
	}
	exposition_counter(out, openmetrics, "jxperf_schedule_jvms_over_limit",
			   "JVMs that schedules did not look at because there were too many; "
			   "counted in each round.",
			   planner_jvms_over_limit(p));
}

void discovery_metrics_write(FILE *out, const struct newcomers *n, bool openmetrics)
{
	const struct {
		const char *name, *help;
		uint64_t value;
	} counters[] = {
	    {"jxperf_discovery_started",
	     "Processes that started and may be JVMs, as the kernel told.", n->started},
	    {"jxperf_discovery_ended", "JVMs that ended, as the kernel told.", n->ended},
	    {"jxperf_discovery_missed",
	     "Starts and ends of processes that there was no room for; a look at all processes "
	     "follows.",
	     n->missed},
	    {"jxperf_discovery_looks", "Looks at processes that started.", n->looks},
	    {"jxperf_discovery_rounds", "Looks at all processes.", n->rounds},
	};

	exposition_gauge(
	    out, openmetrics, "jxperf_discovery_bpf",
	    "1: the kernel tells of processes that start and end. 0: JVMs are found by looks at "
	    "all processes only, and the log says why.",
	    n->works);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		exposition_counter(out, openmetrics, counters[i].name, counters[i].help,
				   counters[i].value);
}
