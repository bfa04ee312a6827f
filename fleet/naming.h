/*
 * Tells what a configuration calls a JVM: the `app` label of metrics and reports, and the version
 * of the application, as its rules make them (fleet/config/template.h).
 *
 * What a JVM, its pod or its image says becomes fit for a label here: what names do not consist of
 * is '_', and all is cut to fit, which cuts no character in two since none has two bytes.
 */
#ifndef JXPERF_FLEET_NAMING_H
#define JXPERF_FLEET_NAMING_H

#include <stdbool.h>

#include "fleet/config/config.h"
#include "fleet/selector.h"

#define NAMING_BYTES (CONFIG_NAME_MAX + 1)

/* Writes the name that the first rule gives which matches, and whose placeholders are all known of
 * the JVM; and in version, where it is not NULL, the version that this rule gives, "" where it
 * gives none or names something that is not known of the JVM. False, with both unchanged, without a
 * rule that names it. */
bool naming_app(const struct config *c, const struct jvm_facts *jvm, char app[NAMING_BYTES],
		char version[NAMING_BYTES]);

#endif
