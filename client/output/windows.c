#include "client/output/windows.h"

#include <errno.h>
#include <inttypes.h>

#include "client/output/json.h"
#include "client/output/table.h"
#include "common/cleanup.h"
#include "common/clock.h"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

json_t *windows_json(Jxp__WindowInfo *const *windows, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		const Jxp__WindowInfo *w = windows[i];
		json_t *object = json_object();

		json_put(&object, "id", json_readable(w->id));
		json_put(&object, "pid", json_integer(w->pid));
		json_put(&object, "app", json_readable(w->app));
		json_put(&object, "state", json_readable(w->state));
		json_put(&object, "reason", json_readable(w->reason));
		json_put(&object, "sampler", json_readable(w->sampler));
		json_put(&object, "started_unix_s", json_real(seconds(w->started_unix_ns)));
		json_put(&object, "elapsed_s", json_real(seconds(w->elapsed_ns)));
		json_put(&object, "duration_s", json_real(seconds(w->duration_ns)));
		json_put(&object, "samples", json_integer((json_int_t)w->samples));
		json_put(&object, "pairs", json_integer((json_int_t)w->traps));
		json_put(&object, "future", json_boolean(w->future));
		json_push(&array, object);
	}
	return array;
}

int windows_print(Jxp__WindowInfo *const *windows, size_t count, struct err *err)
{
	static const char *const headings[] = {"WINDOW",  "PID",     "STATE", "BEGAN", "SECONDS",
					       "SAMPLER", "SAMPLES", "PAIRS", "APP",   NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, headings);
	for (size_t i = 0; i < count; i++) {
		const Jxp__WindowInfo *w = windows[i];

		table_cell(&t, "%s", w->id);
		table_cell(&t, "%u", w->pid);
		table_cell(&t, "%s", w->state);
		table_time(&t, w->started_unix_ns);
		table_cell(&t, "%.1f/%.1f", seconds(w->elapsed_ns), seconds(w->duration_ns));
		table_cell(&t, "%s", w->sampler);
		table_cell(&t, "%" PRIu64, w->samples);
		table_cell(&t, "%" PRIu64, w->traps);
		table_cell(&t, "%s", w->app);
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}
