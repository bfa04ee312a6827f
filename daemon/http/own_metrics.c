#include "daemon/http/own_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "daemon/broker/client.h"
#include "daemon/broker/proto.h"
#include "daemon/engine/engine.h"
#include "daemon/questions/jar_versions.h"
#include "daemon/engine/pause.h"
#include "daemon/http/exposition.h"
#include "daemon/schedule/newcomers.h"
#include "daemon/schedule/planner.h"
#include "daemon/store/keeper.h"
#include "profile/window/tables.h"

/* Families of one sample without labels, in tables. */
struct gauge {
	const char *name, *help;
	double value;
};

struct told_counter {
	const char *name, *help;
	uint64_t value;
};

static void write_gauges(FILE *out, bool openmetrics, const struct gauge *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		exposition_gauge(out, openmetrics, rows[i].name, rows[i].help, rows[i].value);
}

static void write_counters(FILE *out, bool openmetrics, const struct told_counter *rows,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		exposition_counter(out, openmetrics, rows[i].name, rows[i].help, rows[i].value);
}

#define ROWS(table) table, sizeof(table) / sizeof((table)[0])

/* ---------------------------------------------------------------- the process */

double process_metrics_start(void)
{
	struct proc_identity self;
	double now_s = (double)clock_ns(CLOCK_REALTIME) / (double)NS_PER_S;
	double up_s = (double)clock_ns(CLOCK_BOOTTIME) / (double)NS_PER_S;

	if (proc_identify(getpid(), &self) < 0)
		return 0;
	return now_s - (up_s - (double)self.start_ticks / (double)sysconf(_SC_CLK_TCK));
}

static void write_cpu(FILE *out, bool openmetrics)
{
	exposition_head(out, openmetrics, EXPOSITION_COUNTER, "process_cpu_seconds",
			"CPU time of the daemon, its privileged half not included.");
	fprintf(out, "process_cpu_seconds_total %.6f\n", clock_s(proc_self_cpu_ns()));
}

static void write_memory(FILE *out, bool openmetrics)
{
	char text[128];
	uint64_t virtual_pages, resident_pages;
	double page = (double)sysconf(_SC_PAGESIZE);

	if (proc_read("/proc/self/statm", text, sizeof(text)) < 0 ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &virtual_pages, &resident_pages) != 2)
		return;
	exposition_gauge(out, openmetrics, "process_virtual_memory_bytes",
			 "Address space of the daemon.", (double)virtual_pages * page);
	exposition_gauge(out, openmetrics, "process_resident_memory_bytes",
			 "Resident memory of the daemon.", (double)resident_pages * page);
}

static void write_descriptors(FILE *out, bool openmetrics)
{
	DIR *directory = opendir("/proc/self/fd");
	struct rlimit limit;
	double count = -3; /* ".", "..", and the directory's own */

	if (directory) {
		while (readdir(directory)) /* NOLINT(concurrency-mt-unsafe): its own stream */
			count++;
		(void)closedir(directory); /* Only read. */
		exposition_gauge(out, openmetrics, "process_open_fds",
				 "Descriptors that the daemon has open.", count);
	}
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		exposition_gauge(out, openmetrics, "process_max_fds",
				 "Descriptors that it may have open.", (double)limit.rlim_cur);
}

void process_metrics_write(FILE *out, double start_s, bool openmetrics)
{
	write_cpu(out, openmetrics);
	write_memory(out, openmetrics);
	write_descriptors(out, openmetrics);
	if (start_s > 0)
		exposition_gauge(out, openmetrics, "process_start_time_seconds",
				 "When the daemon started, in seconds since 1970.", start_s);
}

void own_cost_write(FILE *out, const struct broker_client *client, bool openmetrics)
{
	uint64_t ns = proc_own_cpu_ns() + (client ? broker_client_cpu_ns(client) : 0);

	exposition_head(out, openmetrics, EXPOSITION_COUNTER, "jxperf_own_cpu_seconds",
			"CPU time of all processes of jxperfd, its privileged half included; of "
			"those that help for a while once they have ended.");
	fprintf(out, "jxperf_own_cpu_seconds_total %.6f\n", (double)ns / (double)NS_PER_S);
}

/* ---------------------------------------------------------------- its configuration */

void daemon_metrics_write(FILE *out, const struct daemon_metrics *m, bool openmetrics)
{
	exposition_head(out, openmetrics, EXPOSITION_GAUGE, "jxperf_config_info",
			"The configuration in force, by a hash of its keys and values; always 1.");
	fprintf(out, "jxperf_config_info{hash=\"%016" PRIx64 "\"} 1\n", m->config_hash);
	exposition_gauge(out, openmetrics, "jxperf_config_last_reload_successful",
			 "0: the configuration that was read last was refused, and the one before "
			 "is in force.",
			 !m->config_failed);
	exposition_gauge(out, openmetrics, "jxperf_config_last_reload_success_timestamp_seconds",
			 "When the configuration in force was read, in seconds since 1970.",
			 m->config_read_s);
	exposition_counter(out, openmetrics, "jxperf_control_connections_refused",
			   "Connections to the control socket that were refused: its limits were "
			   "reached, or nobody could tell who it was.",
			   m->connections_refused);
}

/* ---------------------------------------------------------------- the broker */

void broker_metrics_came(struct broker_metrics *m)
{
	m->connected = true;
	m->events_lost_before += m->events_lost;
	m->events_lost = 0;
}

void broker_metrics_left(struct broker_metrics *m)
{
	m->connected = false;
}

void broker_metrics_take(struct broker_metrics *m, const struct broker_event *event)
{
	m->workers_given_up += event->kind == BROKER_EVENT_WORKER_GIVEN_UP;
	m->events_lost = event->lost;
}

void broker_metrics_write(FILE *out, const struct broker_metrics *m, bool openmetrics)
{
	exposition_gauge(out, openmetrics, "jxperf_broker_connected",
			 "Whether the daemon has its privileged half, without which nothing is "
			 "profiled.",
			 m->connected);
	exposition_counter(
	    out, openmetrics, "jxperf_workers_given_up",
	    "Processes that were given up because their target held them up: it uses a "
	    "file system that does not answer.",
	    m->workers_given_up);
	exposition_counter(out, openmetrics, "jxperf_broker_events_lost",
			   "Events of the privileged half that the daemon read too slowly to get.",
			   m->events_lost_before + m->events_lost);
}

/* ---------------------------------------------------------------- windows in memory */

enum group { STARTING, RUNNING, HISTORY, GROUPS };

static enum group group_of(const struct window_result *w)
{
	if (w->finished)
		return HISTORY;
	return w->state == WINDOW_ATTACHING ? STARTING : RUNNING;
}

static void write_windows_in_memory(FILE *out, const size_t *counts, const size_t *bytes,
				    bool openmetrics)
{
	const struct gauge gauges[] = {
	    {"jxperf_windows_starting", "Windows that were asked for and have not started.",
	     (double)counts[STARTING]},
	    {"jxperf_windows_running", "Windows that have started and not ended.",
	     (double)counts[RUNNING]},
	    {"jxperf_windows_running_bytes",
	     "Memory of the profiles of windows that have not ended.",
	     (double)(bytes[STARTING] + bytes[RUNNING])},
	    {"jxperf_history_windows", "Windows that have ended and are in memory.",
	     (double)counts[HISTORY]},
	    {"jxperf_history_bytes", "Memory of these.", (double)bytes[HISTORY]},
	};

	write_gauges(out, openmetrics, ROWS(gauges));
}

static void write_jar_versions(FILE *out, const struct jar_versions *jars, bool openmetrics)
{
	exposition_head(out, openmetrics, EXPOSITION_COUNTER, "jxperf_jar_versions",
			"JVMs that were looked at for the version in their jar's manifest, by what "
			"was found.");
	for (unsigned i = 0; i < JAR_RESULTS; i++)
		fprintf(out, "jxperf_jar_versions_total{result=\"%s\"} %" PRIu64 "\n",
			jar_versions_result_name((enum jar_result)i),
			jar_versions_count(jars, (enum jar_result)i));
}

void engine_metrics_write(FILE *out, const struct engine *e, bool openmetrics)
{
	size_t counts[GROUPS] = {0}, bytes[GROUPS] = {0};

	for (size_t i = 0; i < engine_window_count(e); i++) {
		const struct window_result *w = engine_window(e, i);
		enum group group = group_of(w);

		counts[group]++;
		bytes[group] += window_result_memory_bytes(w);
	}
	write_windows_in_memory(out, counts, bytes, openmetrics);
	exposition_gauge(out, openmetrics, "jxperf_paused",
			 "1: somebody has forbidden windows on this host.",
			 engine_pause(e) && pause_forbids(engine_pause(e), NULL));
	write_jar_versions(out, engine_jar_versions(e), openmetrics);
}

/* ---------------------------------------------------------------- windows that are kept */

/* All of them also where nothing is kept, so that a query for one finds it. */
void store_metrics_write(FILE *out, const struct keeper_stats *stats, bool openmetrics)
{
	const struct keeper_stats none = {0}, *s = stats ? stats : &none;
	const struct gauge gauges[] = {
	    {"jxperf_store_available",
	     "1: windows are kept in the state directory. 0: in memory only, and the log says why.",
	     stats != NULL},
	    {"jxperf_store_failing",
	     "1: what was to be written last could not be; it waits in memory and is tried again.",
	     s->failing},
	    {"jxperf_store_disk_low",
	     "1: nothing is written, because less of the file system is free than the key "
	     "`free-disk` "
	     "leaves to others; windows wait in memory.",
	     s->disk_low},
	    {"jxperf_store_windows", "Windows in the state directory.", (double)s->windows},
	    {"jxperf_store_bytes", "Size of the database, without its log.", (double)s->bytes},
	    {"jxperf_store_log_bytes", "Size of the database's log (windows.db-wal).",
	     (double)s->log_bytes},
	    {"jxperf_store_set_aside_files",
	     "Databases that were set aside, since they were damaged or of an earlier version; "
	     "they "
	     "go after the time that windows are kept.",
	     (double)s->set_aside.count},
	    {"jxperf_store_set_aside_bytes", "Size of these.", (double)s->set_aside.bytes},
	    {"jxperf_store_windows_waiting", "Windows that have ended and are not written yet.",
	     (double)s->waiting},
	    {"jxperf_store_windows_of_future",
	     "Windows that begin later than now, by a clock that was set since: no merge has them.",
	     (double)s->future},
	    {"jxperf_store_clock_doubted",
	     "1: the clock was set, and no window is deleted for its age until it has gone on "
	     "evenly for a day.",
	     s->clock_doubted},
	    {"jxperf_store_last_write_seconds", "How long the last batch took to be on the disk.",
	     s->last_write_s},
	};
	const struct told_counter counters[] = {
	    {"jxperf_store_windows_written",
	     "Windows that were written, those that could not run included.", s->written},
	    {"jxperf_store_windows_lost", "Windows that there was no more room for in memory.",
	     s->lost},
	    {"jxperf_store_windows_salvaged",
	     "Windows that an earlier daemon left unfinished when it was killed.", s->salvaged},
	    {"jxperf_store_windows_retired", "Windows deleted by the limits of the store.",
	     s->retired},
	    {"jxperf_store_errors", "Batches that could not be written.", s->errors},
	    {"jxperf_store_damages",
	     "Times that the database was found damaged, and set aside for a new one.", s->damages},
	};

	write_gauges(out, openmetrics, ROWS(gauges));
	write_counters(out, openmetrics, ROWS(counters));
}

/* ---------------------------------------------------------------- schedules */

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
	for (unsigned i = MISS_NONE + 1; i < MISS_MAX; i++)
		fprintf(out,
			"jxperf_schedule_missed_total{schedule=\"%s\",reason=\"%s\"} %" PRIu64 "\n",
			s->config->name, miss_name((enum miss)i), s->missed[i]);
}

static void write_in_a_row(FILE *out, const struct planner_schedule *s)
{
	fprintf(out, "jxperf_schedule_failures_in_a_row{schedule=\"%s\"} %" PRIu32 "\n",
		s->config->name, s->in_a_row);
}

static void write_overhead(FILE *out, const struct planner_schedule *s)
{
	fprintf(out, "jxperf_schedule_overhead_seconds_total{schedule=\"%s\"} %.9g\n",
		s->config->name, (double)s->overhead_ns / (double)NS_PER_S);
}

static void write_last_success(FILE *out, const struct planner_schedule *s)
{
	fprintf(out, "jxperf_schedule_last_success_timestamp_seconds{schedule=\"%s\"} %.3f\n",
		s->config->name, (double)s->last_ran_unix_ns / (double)NS_PER_S);
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
     "1: the schedule has stopped itself for a time because its windows cost too much.",
     write_stopped},
    {"jxperf_schedule_failures_in_a_row", EXPOSITION_GAUGE,
     "JVMs in a row whose windows cost more than their budget: at the key `failures` the schedule "
     "stops itself for a time.",
     write_in_a_row},
    {"jxperf_schedule_overhead_seconds", EXPOSITION_COUNTER,
     "CPU time that the schedule's windows took of JVMs, in seconds.", write_overhead},
    {"jxperf_schedule_last_success_timestamp_seconds", EXPOSITION_GAUGE,
     "When a window of the schedule last ended within its budget, in seconds since 1970; 0: none "
     "has since the daemon started.",
     write_last_success},
};

static void write_jvms(FILE *out, const struct planner *p, bool openmetrics)
{
	struct planner_count counts[PLANNER_COUNTS_MAX];
	size_t count = planner_count_jvms(p, counts);

	exposition_head(
	    out, openmetrics, EXPOSITION_GAUGE, "jxperf_jvms",
	    "JVMs that the last look found, by how they stand with the schedules: "
	    "covered, unmatched, skipped after a window, refused beforehand, or held: none "
	    "begins now.");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "jxperf_jvms{state=\"%s\",reason=\"%s\"} %u\n",
			jvm_state_name(counts[i].state), miss_name(counts[i].why), counts[i].jvms);
}

static void write_agents(FILE *out, const struct planner *p, bool openmetrics)
{
	struct planner_agents agents[PLANNER_AGENTS_MAX];
	size_t count = planner_count_agents(p, agents);

	exposition_head(out, openmetrics, EXPOSITION_GAUGE, "jxperf_agents",
			"JVMs of the last look that have an agent loaded, by its version.");
	for (size_t i = 0; i < count; i++)
		fprintf(out, "jxperf_agents{version=\"%s\"} %u\n", agents[i].version,
			agents[i].jvms);
}

/* Of schedules that have a target, where there is one. */
static void write_targets(FILE *out, const struct planner *p, bool openmetrics)
{
	bool begun = false;

	for (size_t i = 0; i < planner_schedule_count(p); i++) {
		const struct config_schedule *s = planner_schedule(p, i)->config;

		if (s->pairs_per_day == 0)
			continue;
		if (!begun)
			exposition_head(out, openmetrics, EXPOSITION_GAUGE,
					"jxperf_schedule_probability",
					"Of schedules with pairs-per-day: the probability that a "
					"JVM has its window in an epoch, on average over those "
					"that match; 0: not known yet.");
		begun = true;
		fprintf(out, "jxperf_schedule_probability{schedule=\"%s\"} %.6g\n", s->name,
			planner_probability(p, i));
	}
	if (begun)
		exposition_gauge(out, openmetrics, "jxperf_schedule_evidence_missing",
				 "1: what windows brought cannot be read of the store, so "
				 "probabilities for pairs-per-day stay as they are.",
				 planner_lacks_evidence(p));
}

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
	write_targets(out, p, openmetrics);
	write_jvms(out, p, openmetrics);
	write_agents(out, p, openmetrics);
	exposition_counter(out, openmetrics, "jxperf_schedule_jvms_over_limit",
			   "JVMs that schedules did not look at because there were too many; "
			   "counted in each round.",
			   planner_jvms_over_limit(p));
}

void discovery_metrics_write(FILE *out, const struct newcomers *n, bool openmetrics)
{
	const struct told_counter counters[] = {
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
	write_counters(out, openmetrics, ROWS(counters));
}
