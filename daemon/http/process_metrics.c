#include "daemon/http/process_metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/proc.h"
#include "daemon/http/exposition.h"

double process_metrics_start(void)
{
	struct proc_identity self;
	double now_s = (double)clock_ns(CLOCK_REALTIME) / (double)NS_PER_S;
	double up_s = (double)clock_ns(CLOCK_BOOTTIME) / (double)NS_PER_S;

	if (proc_identify(getpid(), &self) < 0)
		return 0;
	return now_s - (up_s - (double)self.start_ticks / (double)sysconf(_SC_CLK_TCK));
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void write_cpu(FILE *out, bool openmetrics)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return;
	exposition_head(out, openmetrics, EXPOSITION_COUNTER, "process_cpu_seconds",
			"CPU time of the daemon, its privileged half not included.");
	fprintf(out, "process_cpu_seconds_total %.6f\n",
		seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
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
