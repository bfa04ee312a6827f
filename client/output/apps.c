#include "client/output/apps.h"

#include <errno.h>
#include <inttypes.h>

#include "client/output/kinds.h"
#include "client/output/table.h"
#include "common/cleanup.h"
#include "common/clock.h"

static const Jxp__AppInfo *info_of(const struct listed_app *app)
{
	static const Jxp__AppInfo none = JXP__APP_INFO__INIT;

	return app->info ? app->info : &none;
}

json_t *apps_json(const struct listed_app *apps, size_t count, uint64_t with_windows)
{
	json_t *array = json_array(), *all = json_object();

	for (size_t i = 0; i < count; i++) {
		const Jxp__AppInfo *info = info_of(&apps[i]);
		json_t *object = json_object();

		json_put(&object, "app", json_readable(apps[i].name));
		json_put(&object, "jvms", json_integer((json_int_t)apps[i].jvms));
		json_put(&object, "windows", json_integer((json_int_t)info->windows));
		json_put(&object, "last_unix_s",
			 info->windows > 0
			     ? json_real((double)info->last_unix_ns / (double)NS_PER_S)
			     : json_null());
		json_put(&object, "kinds", kinds_json(info->kinds, info->n_kinds));
		json_push(&array, object);
	}
	json_put(&all, "apps", array);
	json_put(&all, "with_windows", json_integer((json_int_t)with_windows));
	return all;
}

int apps_print(const struct listed_app *apps, size_t count, struct err *err)
{
	static const char *const headings[] = {"APP",        "JVMS",  "WINDOWS",
					       "LAST BEGAN", "KINDS", NULL};
	_cleanup_(table_release) struct table t;

	table_init(&t, headings);
	for (size_t i = 0; i < count; i++) {
		const Jxp__AppInfo *info = info_of(&apps[i]);
		char kinds[KIND_OPTIONS_BYTES];

		table_cell(&t, "%s", apps[i].name);
		table_cell(&t, "%u", apps[i].jvms);
		table_cell(&t, "%" PRIu64, info->windows);
		if (info->windows > 0)
			table_time(&t, info->last_unix_ns);
		else
			table_cell(&t, "-");
		table_cell(&t, "%s", kinds_text(kinds, info->kinds, info->n_kinds));
	}
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}
