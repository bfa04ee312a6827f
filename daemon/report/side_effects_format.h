/*
 * What a window did to its JVM (daemon/profile/side_effects.h), in both forms of the report.
 */
#ifndef JXPERF_DAEMON_REPORT_SIDE_EFFECTS_FORMAT_H
#define JXPERF_DAEMON_REPORT_SIDE_EFFECTS_FORMAT_H

#include <jansson.h>
#include <stdio.h>

#include "daemon/window/result.h"

/* The member "side_effects" of "quality", as a new reference; NULL without memory. */
json_t *report_side_effects_json(const struct window_result *w);

/* Lines for what rose beyond noise, and for what nothing is known of. */
void report_side_effects_text(FILE *out, const struct window_result *w);

#endif
