/*
 * Describes to libcyaml what the configuration file may hold, and holds what that makes of it:
 * strings as they are written. Internal to fleet/config.
 */
#ifndef JXPERF_FLEET_CONFIG_SCHEMA_H
#define JXPERF_FLEET_CONFIG_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stdbool.h>

#include "fleet/config/rules.h"

#define SCHEMA_APPS_MAX        256
#define SCHEMA_SCHEDULES_MAX   64
#define SCHEMA_ENVIRONMENT_MAX 32

struct schema_schedule {
	char *name;
	struct config_match match;
	char *every;
	char *pairs_per_day;
	char *window;
	char **kinds;
	unsigned kinds_count;
	char *budget;
	char *jitter;
	char *warm_up;
	char *host_fraction;
	char *jvm_fraction;
	char *from;
	char *until;
	char *failures;
};

struct schema_store {
	char *keep;
	char *size;
	char *windows_per_app;
	char *free_disk;
};

struct schema_guards {
	char *cpu_pressure;
	char *memory_pressure;
	char *io_pressure;
	char *load;
	char *collector;
};

struct schema_file {
	struct config_texts texts;
	char *host_budget;
	char *windows_at_once;
	char *windows_per_user;
	struct schema_store *store;
	struct schema_guards *guards;
	struct config_app *apps;
	unsigned apps_count;
	struct schema_schedule *schedules;
	unsigned schedules_count;
};

/* The schema of a pointer to struct schema_file. */
extern const cyaml_schema_value_t schema_file;

#endif
