/*
 * Which JVMs a configuration means.
 *
 * Patterns are those of fnmatch(3) without flags: '*' matches anything, slashes included. What is
 * not known of a JVM matches no pattern, not even '*'.
 */
#ifndef JXPERF_FLEET_SELECTOR_H
#define JXPERF_FLEET_SELECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/config/config.h"

/* These are known of a JVM from outside. NULL or "": not known, or none. Borrowed. */
struct jvm_facts {
	const char *app; /* once it has a name */
	const char *user;
	const char *main_class; /* with its package, or a jar, or a module's main class */
	const char *command;
	const char *cgroup;
	const char *container;
	const char *pod;
	const char *const *environment; /* "NAME=VALUE" of variables that may be looked at */
	size_t environment_count;
	/* For names only: */
	const char *image;         /* of its container, with registry and tag */
	const char *const *labels; /* "NAME=VALUE" of its pod */
	size_t label_count;
};

/* Do all patterns of m match? */
bool selector_matches(const struct config_match *m, const struct jvm_facts *jvm);

#endif
