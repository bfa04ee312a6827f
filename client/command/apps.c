/* jxperfctl apps: applications, by the names that windows have or would have: those with windows,
 * and those with JVMs now. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/command/which_jvm.h"
#include "client/daemon/exchange.h"
#include "client/output/apps.h"
#include "common/cleanup.h"

static int compare_apps(const void *a, const void *b)
{
	return strcmp(((const struct listed_app *)a)->name, ((const struct listed_app *)b)->name);
}

static struct listed_app *app_of(struct listed_app *apps, size_t *count, const char *name)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(apps[i].name, name) == 0)
			return &apps[i];
	apps[*count].name = name;
	return &apps[(*count)++];
}

static int print(const struct client *c, const Jxp__WindowList *windows, const Jxp__JvmList *jvms,
		 struct err *err)
{
	_cleanup_free_ struct listed_app *apps =
	    calloc(windows->n_apps + jvms->n_jvms + 1, sizeof(*apps));
	size_t count = 0;
	int r;

	if (!apps)
		return err_set(err, ENOMEM, "out of memory for the list of applications");
	for (size_t i = 0; i < windows->n_apps; i++)
		app_of(apps, &count, windows->apps[i]->app)->info = windows->apps[i];
	for (size_t i = 0; i < jvms->n_jvms; i++)
		if (jvms->jvms[i]->app[0])
			app_of(apps, &count, jvms->jvms[i]->app)->jvms++;
	qsort(apps, count, sizeof(*apps), compare_apps);
	r = c->json ? json_print(apps_json(apps, count, windows->all), err)
		    : apps_print(apps, count, err);
	if (r == 0 && windows->all > windows->n_apps)
		(void)fprintf(stderr,
			      "jxperfctl: %" PRIu64 " applications have windows, of which the "
			      "first %zu by name are shown\n",
			      windows->all, windows->n_apps);
	return r;
}

static int list_apps(struct client *c, struct command_call *call, struct err *err)
{
	_cleanup_reply_ Jxp__ControlReply *windows = NULL;
	_cleanup_reply_ Jxp__ControlReply *jvms = NULL;
	Jxp__WindowsRequest request = JXP__WINDOWS_REQUEST__INIT;
	int r;

	(void)call; /* There are no operands. */
	request.apps = true;
	if ((r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_WINDOWS, &request, &windows, err)) <
		0 ||
	    (r = which_jvm_list(c, &jvms, err)) < 0)
		return r;
	return print(c, windows->windows, jvms->jvms, err);
}

const struct command cmd_apps = {"apps", "", "applications: their JVMs, windows and kinds", "",
				 .run = list_apps};
