#include "fleet/config/exports.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "common/units.h"
#include "fleet/config/schema.h"

#define S_NS UINT64_C(1000000000)
#define MIB  (UINT64_C(1) << 20)

#define TIMEOUT_DEFAULT_NS    (60 * S_NS)
#define TIMEOUT_MIN_NS        S_NS
#define TIMEOUT_MAX_NS        (600 * S_NS)
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

/* The list entry and a key of it, "" for the entry itself. */
struct place_of {
	unsigned index;
	struct exports_complaint *complaint;
};

__attribute__((format(printf, 3, 4))) static int wrong(const struct place_of *at, const char *key,
						       const char *format, ...)
{
	struct exports_complaint *c = at->complaint;
	va_list args;

	(void)snprintf(c->path, sizeof(c->path), "export[%u]%s%s", at->index, key[0] ? "." : "",
		       key); /* Fits. */
	va_start(args, format);
	(void)vsnprintf(c->why.message, sizeof(c->why.message), format, args); /* May be cut. */
	va_end(args);
	return -EINVAL;
}

static int take_duration(const struct place_of *at, const char *key, const char *text,
			 uint64_t least_ns, uint64_t most_ns, uint64_t *ns)
{
	struct err why;

	if (text && units_duration(text, ns, &why) < 0)
		return wrong(at, key, "%s", why.message);
	if (*ns < least_ns || *ns > most_ns)
		return wrong(at, key, "use %llu s to %llu s", (unsigned long long)(least_ns / S_NS),
			     (unsigned long long)(most_ns / S_NS));
	return 0;
}

static int take_size(const struct place_of *at, const char *key, const char *text, uint64_t least,
		     uint64_t *bytes)
{
	struct err why;

	if (text && units_size(text, bytes, &why) < 0)
		return wrong(at, key, "%s", why.message);
	if (text && *bytes < least)
		return wrong(at, key, "'%s' is too little: use at least %lluKiB", text,
			     (unsigned long long)(least >> 10));
	return 0;
}

static int take_count(const struct place_of *at, const char *key, const char *text, uint32_t most,
		      uint32_t *count)
{
	char *end;
	unsigned long value;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || value < 1 || value > most)
		return wrong(at, key, "'%s' is not a number from 1 to %u", text, most);
	*count = (uint32_t)value;
	return 0;
}

static int take_kind(const struct place_of *at, const struct schema_export *from,
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
	return found == 1 ? 0
			  : wrong(at, "",
				  "use exactly one of 'clickhouse', 'otlp', 'pyroscope' and "
				  "'directory'");
}

static int check_url(const struct place_of *at, const char *key, char *url)
{
	size_t length = strlen(url), scheme = 0;

	if (strncmp(url, "http://", 7) == 0)
		scheme = 7;
	else if (strncmp(url, "https://", 8) == 0)
		scheme = 8;
	if (scheme == 0 || length == scheme || strchr("/:?#", url[scheme]))
		return wrong(at, key, "'%s' is not an address like https://host:8123", url);
	for (const char *c = url; *c; c++)
		if (*c <= ' ' || *c > '~' || *c == '?' || *c == '#')
			return wrong(at, key, "an address has no blanks, '?' or '#'");
	if (memchr(url + scheme, '@', strcspn(url + scheme, "/")))
		return wrong(at, key,
			     "an address has no user: use the keys 'user' and 'password-file'");
	while (length > scheme && url[length - 1] == '/')
		url[--length] = '\0';
	return 0;
}

static int check_path(const struct place_of *at, const char *key, const char *path)
{
	return !path || path[0] == '/' ? 0 : wrong(at, key, "'%s' is not an absolute path", path);
}

static int check_address(const struct place_of *at, const struct config_export *to)
{
	const char *key = kinds[to->kind].name;

	return to->kind == CONFIG_EXPORT_DIRECTORY ? check_path(at, key, to->address)
						   : check_url(at, key, to->address);
}

/* Keys that mean nothing to the kind are somebody's mistake. */
static int check_keys(const struct place_of *at, const struct schema_export *from,
		      enum config_export_kind kind)
{
	const unsigned servers = 1u << CONFIG_EXPORT_CLICKHOUSE | 1u << CONFIG_EXPORT_OTLP |
				 1u << CONFIG_EXPORT_PYROSCOPE;
	const unsigned directory = 1u << CONFIG_EXPORT_DIRECTORY;
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
	    {"request-size", from->request_size, servers},
	    {"keep-size", from->keep_size, directory},
	    {"keep-files", from->keep_files, directory},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].value && !(keys[i].kinds & 1u << kind))
			return wrong(at, keys[i].key, "means nothing for '%s'", kinds[kind].name);
	return 0;
}

static int check_files(const struct place_of *at, const struct schema_export *from)
{
	int e;

	if ((e = check_path(at, "password-file", from->password_file)) < 0 ||
	    (e = check_path(at, "headers-file", from->headers_file)) < 0 ||
	    (e = check_path(at, "ca-file", from->ca_file)) < 0 ||
	    (e = check_path(at, "certificate-file", from->certificate_file)) < 0 ||
	    (e = check_path(at, "key-file", from->key_file)) < 0)
		return e;
	if (from->password_file && !from->user)
		return wrong(at, "password-file", "there is no 'user' whose password it is");
	if (from->key_file && !from->certificate_file)
		return wrong(at, "key-file", "there is no 'certificate-file' whose key it is");
	return 0;
}

/* "1.10" */
static int take_version(const struct place_of *at, const char *text, unsigned *minor)
{
	unsigned number;
	int end = 0;

	if (!text)
		return 0;
	if (sscanf(text, "1.%2u%n", &number, &end) != 1 || text[end] || number > OTLP_MINOR_MAX)
		return wrong(at, "otlp-version", "'%s' is not a version like \"1.10\", in quotes",
			     text);
	*minor = number;
	return 0;
}

static int check_database(const struct place_of *at, const char *name)
{
	if (!name[0] ||
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
			      "0123456789")] ||
	    strlen(name) > CONFIG_NAME_MAX)
		return wrong(at, "database", "a database has letters, digits and '_' only");
	return 0;
}

static int take_batch(const struct place_of *at, const struct schema_batch *from,
		      struct config_export *to)
{
	int e;

	if (!from)
		return 0;
	if ((e = take_count(at, "batch.windows", from->windows, BATCH_WINDOWS_MAX,
			    &to->batch_windows)) < 0 ||
	    (e = take_size(at, "batch.size", from->size, BATCH_BYTES_MIN, &to->batch_bytes)) < 0)
		return e;
	return take_duration(at, "batch.age", from->age, 0, BATCH_AGE_MAX_NS, &to->batch_age_ns);
}

static int check_name(const struct place_of *at, const struct config_export *known, size_t count,
		      const char *name)
{
	if (!label_is_valid(name, strlen(name)))
		return wrong(at, "name", "a name has letters, digits, '.', '_' and '-' only");
	for (size_t i = 0; i < count; i++)
		if (strcmp(known[i].name, name) == 0)
			return wrong(at, "name", "'%s' is there twice", name);
	return 0;
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
}

int exports_take(const struct config_export *known, size_t count, const struct schema_export *from,
		 unsigned index, struct config_export *to, struct exports_complaint *complaint)
{
	const struct place_of here = {index, complaint}, *at = &here;
	int e;

	*to = (struct config_export){.timeout_ns = TIMEOUT_DEFAULT_NS,
				     .batch_windows = BATCH_WINDOWS_DEFAULT,
				     .batch_bytes = BATCH_BYTES_DEFAULT,
				     .batch_age_ns = BATCH_AGE_DEFAULT_NS,
				     .otlp_minor = OTLP_MINOR_DEFAULT,
				     .keep_bytes = KEEP_BYTES_DEFAULT,
				     .keep_files = KEEP_FILES_DEFAULT};
	if ((e = check_name(at, known, count, from->name)) < 0 ||
	    (e = take_kind(at, from, to)) < 0 || (e = check_address(at, to)) < 0 ||
	    (e = check_keys(at, from, to->kind)) < 0 || (e = check_files(at, from)) < 0)
		return e;
	take_texts(from, to);
	if ((e = check_database(at, to->database)) < 0 ||
	    (e = take_version(at, from->otlp_version, &to->otlp_minor)) < 0 ||
	    (e = take_duration(at, "timeout", from->timeout, TIMEOUT_MIN_NS, TIMEOUT_MAX_NS,
			       &to->timeout_ns)) < 0 ||
	    (e = take_size(at, "request-size", from->request_size, 64 << 10, &to->request_bytes)) <
		0 ||
	    (e = take_size(at, "keep-size", from->keep_size, MIB, &to->keep_bytes)) < 0 ||
	    (e = take_count(at, "keep-files", from->keep_files, KEEP_FILES_MAX, &to->keep_files)) <
		0)
		return e;
	return take_batch(at, from->batch, to);
}
