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
/* As many as there are (CONFIG_EXPORTS_MAX). */
#define SCHEMA_EXPORTS_MAX 16
/* Likewise (CONFIG_LABELS_MAX). */
#define SCHEMA_LABELS_MAX 16

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

struct schema_batch {
	char *windows;
	char *size;
	char *age;
};

struct schema_export {
	char *name;
	char *clickhouse; /* one of these four says what it is, and where */
	char *otlp;
	char *pyroscope;
	char *directory;
	char *database;
	char *otlp_version;
	char *user;
	char *password_file;
	char *headers_file;
	char *ca_file;
	char *certificate_file;
	char *key_file;
	char *timeout;
	char *patience;
	char *request_size;
	bool *compress;
	char **labels;
	unsigned labels_count;
	char *keep_size;
	char *keep_files;
	struct schema_batch *batch;
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
	struct schema_export *exports;
	unsigned exports_count;
};

/* The schema of a pointer to struct schema_file. */
extern const cyaml_schema_value_t schema_file;

#endif
