#include "client/output/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/output/json.h"
#include "client/output/kinds.h"
#include "client/output/table.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "proto/kinds.h"

/* Of a user's name. */
#define ASKER_BYTES 64

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* The name of who asked, or his number. */
static void name_asker(char name[ASKER_BYTES], const Jxp__WindowInfo *w)
{
	struct passwd *user = w->asker > 0 ? getpwuid((uid_t)(w->asker - 1)) : NULL;

	if (w->asker == 0)
		(void)snprintf(name, ASKER_BYTES, "-");
	else if (user)
		(void)snprintf(name, ASKER_BYTES, "%s", user->pw_name); /* May be cut. */
	else
		(void)snprintf(name, ASKER_BYTES, "%" PRIu64, w->asker - 1);
}

/* Nobody asked for a window of a schedule. */
static json_t *asker_json(const Jxp__WindowInfo *w)
{
	char name[ASKER_BYTES];
	json_t *object;

	if (w->asker == 0 || w->schedule[0])
		return json_null();
	name_asker(name, w);
	object = json_object();
	json_put(&object, "uid", json_integer((json_int_t)(w->asker - 1)));
	json_put(&object, "user", json_readable(name));
	return object;
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
		json_put(&object, "kinds", kinds_json(w->kinds, w->n_kinds));
		json_put(&object, "schedule",
			 w->schedule[0] ? json_readable(w->schedule) : json_null());
		json_put(&object, "asked_by", asker_json(w));
		json_put(&object, "version", json_readable(w->version));
		json_push(&array, object);
	}
	return array;
}

int windows_print(Jxp__WindowInfo *const *windows, size_t count, struct err *err)
{
	static const char *const headings[] = {"WINDOW",  "PID",     "STATE",   "BEGAN",
					       "SECONDS", "SAMPLER", "SAMPLES", "PAIRS",
					       "APP",     "BY",      "KINDS",   NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, headings);
	for (size_t i = 0; i < count; i++) {
		const Jxp__WindowInfo *w = windows[i];
		char asker[ASKER_BYTES], kinds[KIND_OPTIONS_BYTES];

		name_asker(asker, w);
		table_cell(&t, "%s", w->id);
		table_cell(&t, "%u", w->pid);
		table_cell(&t, "%s", w->state);
		table_time(&t, w->started_unix_ns);
		table_cell(&t, "%.1f/%.1f", seconds(w->elapsed_ns), seconds(w->duration_ns));
		table_cell(&t, "%s", w->sampler);
		table_cell(&t, "%" PRIu64, w->samples);
		table_cell(&t, "%" PRIu64, w->traps);
		table_cell(&t, "%s", w->app);
		table_cell(&t, "%s%s", w->schedule[0] ? "schedule " : "",
			   w->schedule[0] ? w->schedule : asker);
		table_cell(&t, "%s", kinds_text(kinds, w->kinds, w->n_kinds));
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}
