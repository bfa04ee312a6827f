/*
 * What the live page may ask for: each path is one command of this program, and each parameter one
 * of its arguments, of a form that is checked. Nothing else can be run.
 */
#ifndef JXPERF_CLIENT_UI_ROUTES_H
#define JXPERF_CLIENT_UI_ROUTES_H

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_ARGUMENTS_MAX 24
#define ROUTE_VALUE_MAX     512u /* bytes of a parameter */

/* The value of a parameter of the request, or NULL. */
typedef const char *route_value_fn(void *request, const char *name);

struct route {
	const char *path;
	bool changes; /* asked for with POST, since it starts or ends something */
	bool page;    /* what the command prints is one; else JSON */
};

/* NULL where there is none. */
const struct route *route_find(const char *path);

/* The arguments of the command, which point into the parameters' values and static text: argv has
 * room for ROUTE_ARGUMENTS_MAX, and ends with NULL. NULL, or the name of the parameter that is
 * missing or has not its form. */
const char *route_arguments(const struct route *route, const char *socket, route_value_fn *value,
			    void *request, char *argv[ROUTE_ARGUMENTS_MAX]);

#endif
