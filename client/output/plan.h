/*
 * Plans of a fleet (fleet/plan.h), for people and as JSON.
 */
#ifndef JXPERF_CLIENT_OUTPUT_PLAN_H
#define JXPERF_CLIENT_OUTPUT_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct config;
struct config_schedule;
struct fleet_hosts;

struct plan_question {
	const struct config *config;
	const struct config_schedule *schedule; /* of config; NULL: all of them */
	const struct fleet_hosts *hosts;
	uint64_t from_unix_ns;
	uint32_t epochs;           /* of each schedule */
	uint32_t pairs_per_window; /* that each brings, it is taken; above 0 */
	bool verbose;              /* each window, too */
};

/* Prints to stdout, whose errors are the caller's. 0 or -ENOMEM. */
int plan_print(const struct plan_question *q, struct err *err);

/* NULL without memory, for json_print. */
json_t *plan_json(const struct plan_question *q, struct err *err);

#endif
