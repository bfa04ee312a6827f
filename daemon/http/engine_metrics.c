#include "daemon/http/engine_metrics.h"

#include "daemon/engine/engine.h"
#include "daemon/http/exposition.h"
#include "daemon/window/tables.h"

enum group { STARTING, RUNNING, HISTORY, GROUPS };

static enum group group_of(const struct window_result *w)
{
	if (w->finished)
		return HISTORY;
	return w->state == WINDOW_ATTACHING ? STARTING : RUNNING;
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
	exposition_gauge(out, openmetrics, "jxperf_windows_starting",
			 "Windows that were asked for and have not started.",
			 (double)counts[STARTING]);
	exposition_gauge(out, openmetrics, "jxperf_windows_running",
			 "Windows that have started and not ended.", (double)counts[RUNNING]);
	exposition_gauge(out, openmetrics, "jxperf_windows_running_bytes",
			 "Memory of the profiles of windows that have not ended.",
			 (double)(bytes[STARTING] + bytes[RUNNING]));
	exposition_gauge(out, openmetrics, "jxperf_history_windows",
			 "Windows that have ended and are in memory.", (double)counts[HISTORY]);
	exposition_gauge(out, openmetrics, "jxperf_history_bytes", "Memory of these.",
			 (double)bytes[HISTORY]);
}
