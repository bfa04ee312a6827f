#include "daemon/http/store_metrics.h"

#include "daemon/http/exposition.h"
#include "daemon/store/keeper.h"

/* All of them also where nothing is kept, so that a query for one finds it. */
void store_metrics_write(FILE *out, const struct keeper_stats *stats, bool openmetrics)
{
	const struct keeper_stats none = {0}, *s = stats ? stats : &none;
	const struct {
		const char *name, *help;
		double value;
	} gauges[] = {
	    {"jxperf_store_available",
	     "1: windows are kept in the state directory. 0: in memory only, and the log says why.",
	     stats != NULL},
	    {"jxperf_store_failing",
	     "1: what was to be written last could not be; it waits in memory and is tried again.",
	     s->failing},
	    {"jxperf_store_windows", "Windows in the state directory.", (double)s->windows},
	    {"jxperf_store_bytes", "Size of the database.", (double)s->bytes},
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
	const struct {
		const char *name, *help;
		uint64_t value;
	} counters[] = {
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

	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++)
		exposition_gauge(out, openmetrics, gauges[i].name, gauges[i].help, gauges[i].value);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		exposition_counter(out, openmetrics, counters[i].name, counters[i].help,
				   counters[i].value);
}
