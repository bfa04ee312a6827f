#include "fleet/config/exports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/label.h"
#include "fleet/config/reading.h"
#include "fleet/config/schema.h"

#define S_NS UINT64_C(1000000000)
#define MIB  (UINT64_C(1) << 20)

#define TIMEOUT_DEFAULT_NS (60 * S_NS)
#define TIMEOUT_MIN_NS     S_NS
#define TIMEOUT_MAX_NS     (600 * S_NS)
/* Longer than a server needs to start again, and than most merges and migrations take. */
#define PATIENCE_DEFAULT_NS   (900 * S_NS)
#define PATIENCE_MIN_NS       S_NS
#define PATIENCE_MAX_NS       (86400 * S_NS)
#define BATCH_WINDOWS_DEFAULT 100
#define BATCH_WINDOWS_MAX     1000
#define BATCH_BYTES_DEFAULT   (16 * MIB)
#define BATCH_BYTES_MIN       MIB
#define BATCH_AGE_DEFAULT_NS  (10 * S_NS)
#define BATCH_AGE_MAX_NS      (3600 * S_NS)
#define OTLP_MINOR_DEFAULT    11
#define OTLP_MINOR_MAX        99
#define KEEP_BYTES_DEFAULT    (1024 * MIB)
#define KEEP_FILES_DEFAULT    10000
#define KEEP_FILES_MAX        1000000

/* What servers take of one request by default. */
static const struct {
	const char *name;
	uint64_t request_bytes;
} kinds[CONFIG_EXPORT_KINDS] = {
    [CONFIG_EXPORT_CLICKHOUSE] = {"clickhouse", 16 * MIB},
    [CONFIG_EXPORT_OTLP] = {"otlp", 4 * MIB},
    [CONFIG_EXPORT_PYROSCOPE] = {"pyroscope", 4 * MIB}, /* Of a profile. */
    [CONFIG_EXPORT_DIRECTORY] = {"directory", 0},
};

const char *config_export_kind_name(enum config_export_kind kind)
{
	return kinds[kind].name;
}

static int take_duration(struct config_reading *r, const char *path, const char *key,
			 const char *text, uint64_t least_ns, uint64_t most_ns, uint64_t *ns)
{
	int e = reading_duration(r, path, key, text, ns);

	if (e == 0 && (*ns < least_ns || *ns > most_ns))
		return reading_wrong(r, path, key, "use %llu s to %llu s",
				     (unsigned long long)(least_ns / S_NS),
				     (unsigned long long)(most_ns / S_NS));
	return e;
}

static int take_kind(struct config_reading *r, const char *path, const struct schema_export *from,
		     struct config_export *to)
{
	char *const addresses[CONFIG_EXPORT_KINDS] = {[CONFIG_EXPORT_CLICKHOUSE] = from->clickhouse,
						      [CONFIG_EXPORT_OTLP] = from->otlp,
						      [CONFIG_EXPORT_PYROSCOPE] = from->pyroscope,
						      [CONFIG_EXPORT_DIRECTORY] = from->directory};
	unsigned found = 0;

	for (unsigned i = 0; i < CONFIG_EXPORT_KINDS; i++) {
		if (!addresses[i])
			continue;
		to->kind = (enum config_export_kind)i;
		to->address = addresses[i];
		found++;
	}
	return found == 1
		   ? 0
		   : reading_wrong(r, path, "",
				   "use exactly one of 'clickhouse', 'otlp', 'pyroscope' and "
				   "'directory'");
}

static int check_url(struct config_reading *r, const char *path, const char *key, char *url)
{
	size_t length = strlen(url), scheme = 0;

	if (strncmp(url, "http://", 7) == 0)
		scheme = 7;
	else if (strncmp(url, "https://", 8) == 0)
		scheme = 8;
	if (scheme == 0 || length == scheme || strchr("/:?#", url[scheme]))
		return reading_wrong(r, path, key, "'%s' is not an address like https://host:8123",
				     url);
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '?' || *c == '#')
			return reading_wrong(r, path, key, "an address has no blanks, '?' or '#'");
	if (memchr(url + scheme, '@', strcspn(url + scheme, "/")))
		return reading_wrong(
		    r, path, key,
		    "an address has no user: use the keys 'user' and 'password-file'");
	while (length > scheme && url[length - 1] == '/')
		url[--length] = '\0';
	return 0;
}

/* Is the server on this host, where nothing is gained by fewer bytes? */
static bool is_loopback(const char *url)
{
	static const char *const names[] = {"localhost", "[::1]"};
	const char *host = strstr(url, "://") + 3; /* check_url saw to it. */
	size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncasecmp(host, names[i], length) == 0)
			return true;
	return strncmp(host, "127.", 4) == 0;
}

static int check_path(struct config_reading *r, const char *path, const char *key, const char *file)
{
	return !file || file[0] == '/'
		   ? 0
		   : reading_wrong(r, path, key, "'%s' is not an absolute path", file);
}

static int check_address(struct config_reading *r, const char *path, const struct config_export *to)
{
	const char *key = kinds[to->kind].name;

	return to->kind == CONFIG_EXPORT_DIRECTORY ? check_path(r, path, key, to->address)
						   : check_url(r, path, key, to->address);
}

/* Keys that mean nothing to the kind are somebody's mistake. */
static int check_keys(struct config_reading *r, const char *path, const struct schema_export *from,
		      enum config_export_kind kind)
{
	const unsigned servers = 1u << CONFIG_EXPORT_CLICKHOUSE | 1u << CONFIG_EXPORT_OTLP |
				 1u << CONFIG_EXPORT_PYROSCOPE;
	const unsigned directory = 1u << CONFIG_EXPORT_DIRECTORY;
	const unsigned profiles = 1u << CONFIG_EXPORT_OTLP | 1u << CONFIG_EXPORT_PYROSCOPE;
	/* Profiles for Pyroscope are compressed each. */
	const unsigned plain = 1u << CONFIG_EXPORT_CLICKHOUSE | 1u << CONFIG_EXPORT_OTLP;
	const struct {
		const char *key;
		const char *value;
		unsigned kinds; /* that it is for */
	} keys[] = {
	    {"database", from->database, 1u << CONFIG_EXPORT_CLICKHOUSE},
	    {"otlp-version", from->otlp_version, 1u << CONFIG_EXPORT_OTLP},
	    {"user", from->user, servers},
	    {"password-file", from->password_file, servers},
	    {"headers-file", from->headers_file, servers},
	    {"ca-file", from->ca_file, servers},
	    {"certificate-file", from->certificate_file, servers},
	    {"key-file", from->key_file, servers},
	    {"timeout", from->timeout, servers},
	    {"patience", from->patience, servers},
	    {"compress", from->compress ? "" : NULL, plain},
	    {"labels", from->labels ? "" : NULL, profiles},
	    {"request-size", from->request_size, servers},
	    {"keep-size", from->keep_size, directory},
	    {"keep-files", from->keep_files, directory},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].value && !(keys[i].kinds & 1u << kind))
			return reading_wrong(r, path, keys[i].key, "means nothing for '%s'",
					     kinds[kind].name);
	return 0;
}

static int check_files(struct config_reading *r, const char *path, const struct schema_export *from)
{
	int e;

	if ((e = check_path(r, path, "password-file", from->password_file)) < 0 ||
	    (e = check_path(r, path, "headers-file", from->headers_file)) < 0 ||
	    (e = check_path(r, path, "ca-file", from->ca_file)) < 0 ||
	    (e = check_path(r, path, "certificate-file", from->certificate_file)) < 0 ||
	    (e = check_path(r, path, "key-file", from->key_file)) < 0)
		return e;
	if (from->password_file && !from->user)
		return reading_wrong(r, path, "password-file",
				     "there is no 'user' whose password it is");
	if (from->key_file && !from->certificate_file)
		return reading_wrong(r, path, "key-file",
				     "there is no 'certificate-file' whose key it is");
	return 0;
}

/* "1.10" */
static int take_version(struct config_reading *r, const char *path, const char *text,
			unsigned *minor)
{
	unsigned number;
	int end = 0;

	if (!text)
		return 0;
	if (sscanf(text, "1.%2u%n", &number, &end) != 1 || text[end] || number > OTLP_MINOR_MAX)
		return reading_wrong(r, path, "otlp-version",
				     "'%s' is not a version like \"1.10\", in quotes", text);
	*minor = number;
	return 0;
}

static int check_database(struct config_reading *r, const char *path, const char *name)
{
	if (!label_is_identifier(name) || strlen(name) > CONFIG_NAME_MAX)
		return reading_wrong(
		    r, path, "database",
		    "a database has letters, digits and '_' only, and no digit first");
	return 0;
}

static int take_batch(struct config_reading *r, const char *path, const struct schema_batch *from,
		      struct config_export *to)
{
	int e;

	if (!from)
		return 0;
	if ((e = reading_count(r, path, "batch.windows", from->windows, BATCH_WINDOWS_MAX,
			       &to->batch_windows)) < 0 ||
	    (e = reading_size(r, path, "batch.size", from->size, BATCH_BYTES_MIN,
			      &to->batch_bytes)) < 0)
		return e;
	return take_duration(r, path, "batch.age", from->age, 0, BATCH_AGE_MAX_NS,
			     &to->batch_age_ns);
}

static int check_name(struct config_reading *r, const char *path, const struct config_export *known,
		      size_t count, const char *name)
{
	if (!label_is_valid(name, strlen(name)))
		return reading_wrong(r, path, "name",
				     "a name has letters, digits, '.', '_' and '-' only");
	for (size_t i = 0; i < count; i++)
		if (strcmp(known[i].name, name) == 0)
			return reading_wrong(r, path, "name", "'%s' is there twice", name);
	return 0;
}

/* What windows are told by anyway. */
static bool is_reserved(enum config_export_kind kind, const char *name, size_t length)
{
	static const char *const of_resources[] = {"jxperf.",      "process.",  "telemetry.",
						   "service.name", "host.name", NULL};
	static const char *const of_series[] = {
	    "__", "service_name", "host", "host_group", "kind", "schedule", "region", "code", NULL};
	const char *const *names = kind == CONFIG_EXPORT_OTLP ? of_resources : of_series;

	for (size_t i = 0; names[i]; i++) {
		size_t bytes = strlen(names[i]);
		bool begins = names[i][bytes - 1] == '.' || strcmp(names[i], "__") == 0;

		if (length >= bytes && strncmp(name, names[i], bytes) == 0 &&
		    (begins || length == bytes))
			return true;
	}
	return false;
}

/* Servers of series take names without '.' and '-' only. */
static bool is_label_name(enum config_export_kind kind, const char *name, size_t length)
{
	bool series = kind == CONFIG_EXPORT_PYROSCOPE;

	return length > 0 && !(name[0] >= '0' && name[0] <= '9') && label_is_valid(name, length) &&
	       !(series && memchr(name, '.', length)) && !(series && memchr(name, '-', length));
}

/* The i-th, which is at that path; those before it are known. */
static int check_label(struct config_reading *r, const char *path, const struct config_export *to,
		       unsigned i)
{
	const char *label = to->labels[i], *text = strchr(label, '=');
	int length = (int)strcspn(label, "=");

	if (!text || !text[1] || strlen(label) > CONFIG_LABEL_BYTES_MAX)
		return reading_wrong(r, path, "", "'%.40s' is not NAME=TEXT of at most %d bytes",
				     label, CONFIG_LABEL_BYTES_MAX);
	if (!is_label_name(to->kind, label, (size_t)length))
		return reading_wrong(
		    r, path, "",
		    to->kind == CONFIG_EXPORT_PYROSCOPE
			? "'%.*s' is no name of a label: use letters, digits and '_'"
			: "'%.*s' is no name of a label: use letters, digits, '.', '_' and '-'",
		    length, label);
	if (is_reserved(to->kind, label, (size_t)length))
		return reading_wrong(r, path, "", "'%.*s' is a name that windows have anyway",
				     length, label);
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			return reading_wrong(r, path, "", "a label has no control characters");
	for (unsigned other = 0; other < i; other++)
		if (strncmp(to->labels[other], label, (size_t)length + 1) == 0)
			return reading_wrong(r, path, "", "'%.*s' is there twice", length, label);
	return 0;
}

static int take_labels(struct config_reading *r, const char *path, const struct schema_export *from,
		       struct config_export *to)
{
	char at[PLACE_PATH_BYTES];
	int e = 0;

	to->labels = from->labels;
	to->label_count = from->labels_count;
	for (unsigned i = 0; i < to->label_count && e == 0; i++)
		e = check_label(r, reading_path(at, "%s.labels[%u]", path, i), to, i);
	return e;
}

static void take_texts(const struct schema_export *from, struct config_export *to)
{
	to->name = from->name;
	to->user = from->user;
	to->password_file = from->password_file;
	to->headers_file = from->headers_file;
	to->ca_file = from->ca_file;
	to->certificate_file = from->certificate_file;
	to->key_file = from->key_file;
	to->database = from->database ? from->database : (char *)"jxperf";
	to->request_bytes = kinds[to->kind].request_bytes;
	if (from->compress)
		to->compress = *from->compress;
	else
		to->compress =
		    (to->kind == CONFIG_EXPORT_CLICKHOUSE || to->kind == CONFIG_EXPORT_OTLP) &&
		    !is_loopback(to->address);
}

int exports_take(struct config_reading *r, const char *path, const struct config_export *known,
		 size_t count, const struct schema_export *from, struct config_export *to)
{
	int e;

	*to = (struct config_export){.timeout_ns = TIMEOUT_DEFAULT_NS,
				     .patience_ns = PATIENCE_DEFAULT_NS,
				     .batch_windows = BATCH_WINDOWS_DEFAULT,
				     .batch_bytes = BATCH_BYTES_DEFAULT,
				     .batch_age_ns = BATCH_AGE_DEFAULT_NS,
				     .otlp_minor = OTLP_MINOR_DEFAULT,
				     .keep_bytes = KEEP_BYTES_DEFAULT,
				     .keep_files = KEEP_FILES_DEFAULT};
	if ((e = check_name(r, path, known, count, from->name)) < 0 ||
	    (e = take_kind(r, path, from, to)) < 0 || (e = check_address(r, path, to)) < 0 ||
	    (e = check_keys(r, path, from, to->kind)) < 0 || (e = check_files(r, path, from)) < 0)
		return e;
	take_texts(from, to);
	if ((e = check_database(r, path, to->database)) < 0 ||
	    (e = take_version(r, path, from->otlp_version, &to->otlp_minor)) < 0 ||
	    (e = take_duration(r, path, "timeout", from->timeout, TIMEOUT_MIN_NS, TIMEOUT_MAX_NS,
			       &to->timeout_ns)) < 0 ||
	    (e = take_duration(r, path, "patience", from->patience, PATIENCE_MIN_NS,
			       PATIENCE_MAX_NS, &to->patience_ns)) < 0 ||
	    (e = reading_size(r, path, "request-size", from->request_size, 64 << 10,
			      &to->request_bytes)) < 0 ||
	    (e = reading_size(r, path, "keep-size", from->keep_size, MIB, &to->keep_bytes)) < 0 ||
	    (e = reading_count(r, path, "keep-files", from->keep_files, KEEP_FILES_MAX,
			       &to->keep_files)) < 0)
		return e;
	e = take_batch(r, path, from->batch, to);
	return e < 0 ? e : take_labels(r, path, from, to);
}
