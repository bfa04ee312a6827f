#include "fleet/config/schema.h"

#include "proto/kinds.h"

/* Longest text of a value: a path, a pattern. */
#define TEXT_MAX        1023
#define EXPORT_USER_MAX 255

#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, structure, member) \
	CYAML_FIELD_STRING_PTR(key, OPTIONAL, structure, member, 1, TEXT_MAX)
#define NEEDED_TEXT(key, structure, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 1, TEXT_MAX)
#define NAME(key, structure, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 1, CONFIG_NAME_MAX)

static const cyaml_schema_value_t text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, TEXT_MAX)};

static const cyaml_schema_field_t match_fields[] = {
    TEXT("app", struct config_match, app),
    TEXT("user", struct config_match, user),
    TEXT("main-class", struct config_match, main_class),
    TEXT("command", struct config_match, command),
    TEXT("cgroup", struct config_match, cgroup),
    TEXT("container", struct config_match, container),
    TEXT("pod", struct config_match, pod),
    CYAML_FIELD_SEQUENCE_COUNT("environment", OPTIONAL, struct config_match, environment,
			       environment_count, &text, 1, SCHEMA_ENVIRONMENT_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t app_fields[] = {
    CYAML_FIELD_MAPPING("match", CYAML_FLAG_DEFAULT, struct config_app, match, match_fields),
    NEEDED_TEXT("app", struct config_app, app), /* has placeholders */
    TEXT("version", struct config_app, version),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t schedule_fields[] = {
    NAME("name", struct schema_schedule, name),
    CYAML_FIELD_MAPPING("match", CYAML_FLAG_DEFAULT, struct schema_schedule, match, match_fields),
    TEXT("every", struct schema_schedule, every),
    TEXT("pairs-per-day", struct schema_schedule, pairs_per_day),
    TEXT("window", struct schema_schedule, window),
    CYAML_FIELD_SEQUENCE_COUNT("kinds", OPTIONAL, struct schema_schedule, kinds, kinds_count, &text,
			       1, PAIR_KINDS + SUBJECT_KINDS),
    TEXT("budget", struct schema_schedule, budget),
    TEXT("jitter", struct schema_schedule, jitter),
    TEXT("warm-up", struct schema_schedule, warm_up),
    TEXT("host-fraction", struct schema_schedule, host_fraction),
    TEXT("jvm-fraction", struct schema_schedule, jvm_fraction),
    TEXT("from", struct schema_schedule, from),
    TEXT("until", struct schema_schedule, until),
    TEXT("failures", struct schema_schedule, failures),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t store_fields[] = {
    TEXT("keep", struct schema_store, keep),
    TEXT("size", struct schema_store, size),
    TEXT("windows-per-app", struct schema_store, windows_per_app),
    TEXT("free-disk", struct schema_store, free_disk),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t guards_fields[] = {
    TEXT("cpu-pressure", struct schema_guards, cpu_pressure),
    TEXT("memory-pressure", struct schema_guards, memory_pressure),
    TEXT("io-pressure", struct schema_guards, io_pressure),
    TEXT("load", struct schema_guards, load),
    TEXT("collector", struct schema_guards, collector),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t batch_fields[] = {
    TEXT("windows", struct schema_batch, windows),
    TEXT("size", struct schema_batch, size),
    TEXT("age", struct schema_batch, age),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t export_fields[] = {
    NAME("name", struct schema_export, name),
    TEXT("clickhouse", struct schema_export, clickhouse),
    TEXT("otlp", struct schema_export, otlp),
    TEXT("pyroscope", struct schema_export, pyroscope),
    TEXT("directory", struct schema_export, directory),
    TEXT("database", struct schema_export, database),
    TEXT("otlp-version", struct schema_export, otlp_version),
    CYAML_FIELD_STRING_PTR("user", OPTIONAL, struct schema_export, user, 1, EXPORT_USER_MAX),
    TEXT("password-file", struct schema_export, password_file),
    TEXT("headers-file", struct schema_export, headers_file),
    TEXT("ca-file", struct schema_export, ca_file),
    TEXT("certificate-file", struct schema_export, certificate_file),
    TEXT("key-file", struct schema_export, key_file),
    TEXT("timeout", struct schema_export, timeout),
    TEXT("request-size", struct schema_export, request_size),
    TEXT("keep-size", struct schema_export, keep_size),
    TEXT("keep-files", struct schema_export, keep_files),
    CYAML_FIELD_MAPPING_PTR("batch", OPTIONAL, struct schema_export, batch, batch_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t app = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_app, app_fields)};

static const cyaml_schema_value_t schedule = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct schema_schedule, schedule_fields)};

static const cyaml_schema_value_t export = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct schema_export, export_fields)};

static const cyaml_schema_field_t file_fields[] = {
    TEXT("socket", struct schema_file, texts.socket),
    TEXT("http", struct schema_file, texts.http),
    TEXT("state-dir", struct schema_file, texts.state_dir),
    TEXT("bundle", struct schema_file, texts.bundle),
    TEXT("agent-path", struct schema_file, texts.agent_path),
    TEXT("user", struct schema_file, texts.user),
    CYAML_FIELD_BOOL_PTR("verbose", OPTIONAL, struct schema_file, texts.verbose),
    CYAML_FIELD_BOOL_PTR("jar-versions", OPTIONAL, struct schema_file, texts.jar_versions),
    TEXT("admin-group", struct schema_file, texts.admin_group),
    TEXT("salt", struct schema_file, texts.salt),
    TEXT("host-id", struct schema_file, texts.host_id),
    CYAML_FIELD_STRING_PTR("host-group", OPTIONAL, struct schema_file, texts.host_group, 1,
			   CONFIG_NAME_MAX),
    TEXT("host-budget", struct schema_file, host_budget),
    TEXT("windows-at-once", struct schema_file, windows_at_once),
    TEXT("windows-per-user", struct schema_file, windows_per_user),
    TEXT("pause-file", struct schema_file, texts.pause_file),
    TEXT("pod-labels", struct schema_file, texts.pod_labels),
    CYAML_FIELD_SEQUENCE_COUNT("environment", OPTIONAL, struct schema_file, texts.environment,
			       texts.environment_count, &text, 1, SCHEMA_ENVIRONMENT_MAX),
    CYAML_FIELD_MAPPING_PTR("store", OPTIONAL, struct schema_file, store, store_fields),
    CYAML_FIELD_MAPPING_PTR("guards", OPTIONAL, struct schema_file, guards, guards_fields),
    CYAML_FIELD_SEQUENCE_COUNT("apps", OPTIONAL, struct schema_file, apps, apps_count, &app, 0,
			       SCHEMA_APPS_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("schedules", OPTIONAL, struct schema_file, schedules,
			       schedules_count, &schedule, 0, SCHEMA_SCHEDULES_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("export", OPTIONAL, struct schema_file, exports, exports_count,
			       &export, 0, SCHEMA_EXPORTS_MAX),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t schema_file = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct schema_file, file_fields)};
