/*
 * The destinations that the key `export` names: what its values mean, checked and completed with
 * defaults.
 */
#ifndef JXPERF_FLEET_CONFIG_EXPORTS_H
#define JXPERF_FLEET_CONFIG_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_reading;
struct schema_export;

enum config_export_kind {
	CONFIG_EXPORT_CLICKHOUSE,
	CONFIG_EXPORT_OTLP,
	CONFIG_EXPORT_PYROSCOPE,
	CONFIG_EXPORT_DIRECTORY,
	CONFIG_EXPORT_KINDS,
};

/* The key that says it. */
const char *config_export_kind_name(enum config_export_kind kind);

#define CONFIG_EXPORTS_MAX 16
#define CONFIG_LABELS_MAX  16
/* Of a label, "NAME=TEXT". */
#define CONFIG_LABEL_BYTES_MAX 300

/* Where windows are sent. Texts are NULL where the file has none. */
struct config_export {
	char *name;
	enum config_export_kind kind;
	char *address; /* http: or https:, without a '/' at its end; or a directory */
	char *user;
	char *password_file;
	char *headers_file;
	char *ca_file;
	char *certificate_file;
	char *key_file;
	char *database; /* never NULL */
	unsigned otlp_minor;
	bool compress; /* requests */
	uint64_t timeout_ns;
	uint64_t patience_ns; /* with a batch that fails, before a window of it is blamed */
	uint32_t batch_windows;
	uint64_t batch_bytes;
	uint64_t batch_age_ns;
	uint64_t request_bytes; /* a request has at most */
	uint64_t keep_bytes;    /* files in a directory */
	uint32_t keep_files;
	char **labels; /* "NAME=TEXT" */
	unsigned label_count;
};

/* One destination, which is at that path of its file, behind count that are known already; its
 * texts stay the file's, an address loses the '/' at its end. 0, or -EINVAL with a line. */
int exports_take(struct config_reading *r, const char *path, const struct config_export *known,
		 size_t count, const struct schema_export *from, struct config_export *to);

#endif
