/*
 * Applications as a table or JSON.
 */
#ifndef JXPERF_CLIENT_OUTPUT_APPS_H
#define JXPERF_CLIENT_OUTPUT_APPS_H

#include <stddef.h>
#include <stdint.h>

#include "client/output/json.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

struct listed_app {
	const char *name;
	const Jxp__AppInfo *info; /* of its windows; NULL: it has none */
	unsigned jvms;            /* that run now */
};

/* with_windows: so many applications have windows, also above those that are here. */
json_t *apps_json(const struct listed_app *apps, size_t count, uint64_t with_windows);

/* 0 or -ENOMEM with a line. */
int apps_print(const struct listed_app *apps, size_t count, struct err *err);

#endif
