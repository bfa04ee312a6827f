#include "fleet/config/config.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "common/mix.h"
#include "common/siphash.h"
#include "common/units.h"
#include "fleet/config/reading.h"
#include "fleet/config/schema.h"
#include "fleet/config/template.h"
#include "proto/helper.h"

#define HOST_BUDGET_DEFAULT      0.02
#define WINDOWS_AT_ONCE_DEFAULT  4
#define WINDOWS_AT_ONCE_MAX      64
#define WINDOWS_PER_USER_DEFAULT 8
#define STORE_KEEP_DEFAULT_NS    (30 * 86400 * UINT64_C(1000000000))
#define STORE_BYTES_DEFAULT      (UINT64_C(1) << 30)
#define STORE_BYTES_MIN          (UINT64_C(1) << 20)
#define STORE_PER_APP_DEFAULT    20000
#define WINDOW_DEFAULT_NS        (30 * UINT64_C(1000000000))
#define EVERY_MIN_NS             (10 * UINT64_C(1000000000))
#define PAIRS_PER_DAY_MAX        1000000000
#define TUNED_KEEP_MIN_NS        (3 * 86400 * UINT64_C(1000000000))
/* Epochs are counted since 1970, so their times stay within 64 bits. */
#define EVERY_MAX_NS       (3650 * 86400 * UINT64_C(1000000000))
#define BUDGET_DEFAULT     0.01
#define JITTER_DEFAULT     0.1
#define WARM_UP_DEFAULT_NS (60 * UINT64_C(1000000000))
#define FAILURES_DEFAULT   5
#define FAILURES_MAX       1000
#define FREE_DISK_DEFAULT  0.01
#define PAUSE_FILE_DEFAULT "/etc/jxperf/pause"

/* A host in such trouble has no use for another program's doings. One whose processors are busy has
 * none: it is one to look at. */
static const struct config_guards guards_default = {.cpu_pressure = INFINITY,
						    .memory_pressure = 0.1,
						    .io_pressure = 0.5,
						    .load = 4,
						    .collector = 0.5};

const char *const config_keys[CONFIG_KEYS + 1] = {
    "apps",        "schedules", "store",  "host-budget", "windows-at-once", "windows-per-user",
    "salt",        "host-id",   "guards", "pause-file",  "export",          "host-group",
    "jar-versions"};

/* ---------------------------------------------------------------- what libcyaml says */

/* Puts part, and a dot where one is needed, before the path so far. */
static void prepend(struct config_reading *r, const char *part)
{
	char path[PLACE_PATH_BYTES];
	const char *dot = r->path[0] && r->path[0] != '[' ? "." : "";

	memcpy(r->path, reading_path(path, "%s%s%s", part, dot, r->path), sizeof(path));
}

/* "in mapping field 'schedules' (line: 2, column: 3)", "in sequence entry '1' (...)", or "in
 * mapping (...)", which names nothing. Its lines are those of what came before, so places are
 * looked up by name. */
static void take_trace(struct config_reading *r, const char *line)
{
	char part[PLACE_PATH_BYTES];
	unsigned entry;

	if (sscanf(line, " in mapping field '%127[^']'", part) == 1) {
		prepend(r, part);
	} else if (sscanf(line, " in sequence entry '%u'", &entry) == 1 && entry > 0) {
		(void)reading_path(part, "[%u]", entry - 1);
		prepend(r, part);
	}
}

static void on_complaint(cyaml_log_t level, void *arg, const char *format, va_list args)
{
	static const char prefix[] = "Load: ";
	struct config_reading *r = arg;
	char line[ERR_MESSAGE_MAX];
	const char *text = line;

	(void)level;
	(void)vsnprintf(line, sizeof(line), format, args); /* May be cut. */
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(text, prefix, sizeof(prefix) - 1) == 0)
		text += sizeof(prefix) - 1;
	if (strcmp(text, "Backtrace:") == 0)
		r->traced = true;
	else if (r->traced)
		take_trace(r, text);
	else if (!r->complaint[0])
		(void)snprintf(r->complaint, sizeof(r->complaint), "%s", text); /* Same size. */
}

/* Without the last part: the thing that it is in. */
static void cut_last(char *path)
{
	char *dot = strrchr(path, '.');

	*(dot ? dot : path) = '\0';
}

/* In our words, with the key that it is about. */
static int refuse(struct config_reading *r, cyaml_err_t error)
{
	char key[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES];

	if (error == CYAML_ERR_OOM)
		return err_set(r->err, ENOMEM, "out of memory");
	if (sscanf(r->complaint, "Unexpected key: %127s", key) == 1) {
		(void)reading_path(path, "%s%s%s", r->path, r->path[0] ? "." : "", key);
		return reading_wrong(r, path, "", "there is no such key: see jxperfd.yaml(5)");
	}
	if (sscanf(r->complaint, "Missing required mapping field: %127s", key) == 1) {
		cut_last(r->path); /* The last field that it has. */
		return reading_wrong(r, r->path, "", "'%s' is missing", key);
	}
	return reading_wrong(r, r->path, "", "%s",
			     r->complaint[0] ? r->complaint : cyaml_strerror(error));
}

/* ---------------------------------------------------------------- values */

static int take_fraction(struct config_reading *r, const char *path, const char *key,
			 const char *text, double *fraction)
{
	struct err why;

	/* The configuration may say that all take part as 1 or 1.0, where it means nothing else. */
	if (text && (strcmp(text, "1") == 0 || strcmp(text, "1.0") == 0))
		*fraction = 1;
	else if (text && units_fraction(text, fraction, &why) < 0)
		return reading_wrong(r, path, key, "%s", why.message);
	return 0;
}

/* Or "off", which stands for that value. */
static int take_fraction_or_off(struct config_reading *r, const char *path, const char *key,
				const char *text, double off, double *fraction)
{
	if (!text || strcmp(text, "off") != 0)
		return take_fraction(r, path, key, text, fraction);
	*fraction = off;
	return 0;
}

static int take_load(struct config_reading *r, const char *text, double *load)
{
	struct err why;

	if (text && strcmp(text, "off") == 0)
		*load = INFINITY;
	else if (text && units_number(text, load, &why) < 0)
		return reading_wrong(r, "guards.load", "", "%s", why.message);
	return 0;
}

static int take_guards(struct config_reading *r, const struct schema_guards *from,
		       struct config_guards *to)
{
	int e;

	if (!from)
		return 0;
	if ((e = take_fraction_or_off(r, "guards", "cpu-pressure", from->cpu_pressure, INFINITY,
				      &to->cpu_pressure)) < 0 ||
	    (e = take_fraction_or_off(r, "guards", "memory-pressure", from->memory_pressure,
				      INFINITY, &to->memory_pressure)) < 0 ||
	    (e = take_fraction_or_off(r, "guards", "io-pressure", from->io_pressure, INFINITY,
				      &to->io_pressure)) < 0 ||
	    (e = take_fraction_or_off(r, "guards", "collector", from->collector, INFINITY,
				      &to->collector)) < 0)
		return e;
	return take_load(r, from->load, &to->load);
}

/* "03:30". */
static int take_time_of_day(struct config_reading *r, const char *path, const char *key,
			    const char *text, int *minute)
{
	char rest;
	unsigned hours, minutes;

	*minute = CONFIG_ALWAYS;
	if (!text)
		return 0;
	if (strlen(text) != 5 || sscanf(text, "%2u:%2u%c", &hours, &minutes, &rest) != 2 ||
	    hours > 23 || minutes > 59)
		return reading_wrong(r, path, key,
				     "'%s' is not a time of day: use one like \"03:30\", in quotes",
				     text);
	*minute = (int)(hours * 60 + minutes);
	return 0;
}

static int take_kinds(struct config_reading *r, const char *path,
		      const struct schema_schedule *from, struct config_schedule *to)
{
	for (unsigned i = 0; i < from->kinds_count; i++) {
		Jxp__Kind kind = kind_of_option(from->kinds[i], strlen(from->kinds[i]));
		char at[PLACE_PATH_BYTES], options[KIND_OPTIONS_BYTES];

		if (kind == JXP__KIND__KIND_NONE) {
			(void)reading_path(at, "%s.kinds[%u]", path, i);
			return reading_wrong(r, at, "", "unknown kind '%s': use %s", from->kinds[i],
					     kind_options(options, " or "));
		}
		for (unsigned j = 0; j < i; j++)
			if (strcmp(from->kinds[i], from->kinds[j]) == 0) {
				(void)reading_path(at, "%s.kinds[%u]", path, i);
				return reading_wrong(r, at, "", "'%s' is there twice",
						     from->kinds[i]);
			}
		to->kinds[to->kind_count++] = kind;
	}
	return 0;
}

/* Is the variable one that may be looked at? */
static bool is_allowed(const struct config *c, const char *name, size_t length)
{
	for (unsigned i = 0; i < c->texts.environment_count; i++)
		if (strlen(c->texts.environment[i]) == length &&
		    strncmp(c->texts.environment[i], name, length) == 0)
			return true;
	return false;
}

static int check_match(struct config_reading *r, const struct config *c, const char *path,
		       const struct config_match *m)
{
	for (unsigned i = 0; i < m->environment_count; i++) {
		char at[PLACE_PATH_BYTES];

		(void)reading_path(at, "%s.match.environment[%u]", path, i);
		if (!strchr(m->environment[i], '='))
			return reading_wrong(r, at, "", "'%s' is not NAME=PATTERN",
					     m->environment[i]);
		if (!is_allowed(c, m->environment[i], strcspn(m->environment[i], "=")))
			return reading_wrong(r, at, "",
					     "'%s' is not in the list 'environment' at the top",
					     m->environment[i]);
	}
	return 0;
}

#define PLAIN "a name has letters, digits, '.', '_' and '-' only"

/* path: of the rule, whose key has the template. */
static int check_name(struct config_reading *r, const struct config *c, const char *path,
		      const char *key, const char *name)
{
	struct template_part part;
	struct err why;
	size_t length = 0;

	do {
		if (template_next(&name, &part, &why) < 0)
			return reading_wrong(r, path, key, "%s", why.message);
		if (part.kind == TEMPLATE_TEXT && !label_is_valid(part.text, part.length))
			return reading_wrong(r, path, key, PLAIN);
		length += part.kind == TEMPLATE_TEXT ? part.length : 0;
		if (part.kind == TEMPLATE_ENV && !is_allowed(c, part.text, part.length))
			return reading_wrong(r, path, key,
					     "'%.*s' is not in the list 'environment' at the top",
					     (int)part.length, part.text);
		if (part.kind == TEMPLATE_LABEL && !c->texts.pod_labels)
			return reading_wrong(r, path, key,
					     "'pod-labels' at the top has to say where labels are");
	} while (part.kind != TEMPLATE_END);
	return length > CONFIG_NAME_MAX
		   ? reading_wrong(r, path, key, "a name has at most %d bytes", CONFIG_NAME_MAX)
		   : 0;
}

/* Makes room for so many rows in all, which *rows points to. */
static int grow(struct config_reading *r, void *rows, size_t count, size_t size)
{
	void *before, *grown;

	memcpy(&before, rows, sizeof(before));
	grown = count > 0 ? reallocarray(before, count, size) : before;
	if (count > 0 && !grown)
		return err_set(r->err, ENOMEM, "out of memory");
	memcpy(rows, &grown, sizeof(grown));
	return 0;
}

static int take_apps(struct config_reading *r, const struct schema_file *file, struct config *c)
{
	int e = grow(r, &c->apps, c->app_count + file->apps_count, sizeof(*c->apps));

	for (unsigned i = 0; i < file->apps_count && e == 0; i++) {
		const struct config_app *rule = &file->apps[i];
		char path[PLACE_PATH_BYTES];

		(void)reading_path(path, "apps[%u]", i);
		if (rule->match.app)
			return reading_wrong(r, path, "match.app",
					     "these rules give that name: match something else");
		e = check_match(r, c, path, &rule->match);
		if (e == 0)
			e = check_name(r, c, path, "app", rule->app);
		if (e == 0 && rule->version)
			e = check_name(r, c, path, "version", rule->version);
		c->apps[c->app_count++] = *rule;
	}
	return e;
}

static bool has_pairs(const struct config_schedule *s)
{
	bool found = s->kind_count == 0; /* All that work. */

	for (size_t i = 0; i < s->kind_count; i++)
		found = found || pair_kind_find(s->kinds[i]);
	return found;
}

/* A target instead of a probability, or beside the length of an epoch. */
static int take_target(struct config_reading *r, const char *path,
		       const struct schema_schedule *from, struct config_schedule *to)
{
	int e = reading_count(r, path, "pairs-per-day", from->pairs_per_day, PAIRS_PER_DAY_MAX,
			      &to->pairs_per_day);

	if (e < 0)
		return e;
	if (to->pairs_per_day == 0)
		return from->every
			   ? 0
			   : reading_wrong(r, path, "", "'every' or 'pairs-per-day' is missing");
	if (from->jvm_fraction)
		return reading_wrong(r, path, "pairs-per-day",
				     "'jvm-fraction' is set anew each day for it: leave that out");
	if (!has_pairs(to))
		return reading_wrong(r, path, "pairs-per-day",
				     "none of 'kinds' has pairs: add dead-store, silent-store or "
				     "silent-load, or use 'every'");
	if (to->every_ns > CONFIG_TUNED_EVERY_MAX_NS)
		return reading_wrong(r, path, "every", "use 1h or less with 'pairs-per-day'");
	return 0;
}

static int check_schedule(struct config_reading *r, const struct config *c, const char *path,
			  const struct config_schedule *s)
{
	if (!label_is_valid(s->name, strlen(s->name)))
		return reading_wrong(r, path, "name", PLAIN);
	if (s->every_ns < EVERY_MIN_NS)
		return reading_wrong(r, path, "every", "use 10s or more");
	if (s->every_ns > EVERY_MAX_NS)
		return reading_wrong(r, path, "every", "use 3650d or less");
	if (s->window_ns > s->every_ns)
		return reading_wrong(r, path, "window", "a window is longer than 'every'");
	if ((s->from_minute == CONFIG_ALWAYS) != (s->until_minute == CONFIG_ALWAYS))
		return reading_wrong(r, path, "", "'from' and 'until' go together");
	if (s->from_minute != CONFIG_ALWAYS && s->from_minute == s->until_minute)
		return reading_wrong(r, path, "until", "the same as 'from': no time is left");
	for (size_t i = 0; i < c->schedule_count; i++)
		if (strcmp(c->schedules[i].name, s->name) == 0)
			return reading_wrong(r, path, "name", "'%s' is there twice", s->name);
	return check_match(r, c, path, &s->match);
}

static int take_schedule(struct config_reading *r, const struct config *c, const char *path,
			 const struct schema_schedule *from, struct config_schedule *to)
{
	int e;

	*to = (struct config_schedule){.name = from->name,
				       .match = from->match,
				       .every_ns = CONFIG_TUNED_EVERY_NS,
				       .window_ns = WINDOW_DEFAULT_NS,
				       .budget = BUDGET_DEFAULT,
				       .jitter = JITTER_DEFAULT,
				       .warm_up_ns = WARM_UP_DEFAULT_NS,
				       .host_fraction = 1,
				       .jvm_fraction = 1,
				       .failures = FAILURES_DEFAULT};
	if ((e = reading_duration(r, path, "every", from->every, &to->every_ns)) < 0 ||
	    (e = reading_duration(r, path, "window", from->window, &to->window_ns)) < 0 ||
	    (e = reading_duration(r, path, "warm-up", from->warm_up, &to->warm_up_ns)) < 0 ||
	    (e = take_fraction(r, path, "budget", from->budget, &to->budget)) < 0 ||
	    (e = take_fraction(r, path, "jitter", from->jitter, &to->jitter)) < 0 ||
	    (e = take_fraction(r, path, "host-fraction", from->host_fraction, &to->host_fraction)) <
		0 ||
	    (e = take_fraction(r, path, "jvm-fraction", from->jvm_fraction, &to->jvm_fraction)) <
		0 ||
	    (e = take_time_of_day(r, path, "from", from->from, &to->from_minute)) < 0 ||
	    (e = take_time_of_day(r, path, "until", from->until, &to->until_minute)) < 0 ||
	    (e = reading_count(r, path, "failures", from->failures, FAILURES_MAX, &to->failures)) <
		0 ||
	    (e = take_kinds(r, path, from, to)) < 0 || (e = take_target(r, path, from, to)) < 0)
		return e;
	return check_schedule(r, c, path, to);
}

static int take_schedules(struct config_reading *r, const struct schema_file *file,
			  struct config *c)
{
	int e = grow(r, &c->schedules, c->schedule_count + file->schedules_count,
		     sizeof(*c->schedules));

	for (unsigned i = 0; i < file->schedules_count && e == 0; i++) {
		char path[PLACE_PATH_BYTES];

		(void)reading_path(path, "schedules[%u]", i);
		e = take_schedule(r, c, path, &file->schedules[i],
				  &c->schedules[c->schedule_count]);
		c->schedule_count += e == 0;
	}
	return e;
}

static int take_exports(struct config_reading *r, const struct schema_file *file, struct config *c)
{
	size_t all = c->export_count + file->exports_count;
	int e;

	if (all > CONFIG_EXPORTS_MAX)
		return reading_wrong(r, "export", "", "there are more than %d", CONFIG_EXPORTS_MAX);
	e = grow(r, &c->exports, all, sizeof(*c->exports));
	for (unsigned i = 0; i < file->exports_count && e == 0; i++) {
		char path[PLACE_PATH_BYTES];

		(void)reading_path(path, "export[%u]", i);
		e = exports_take(r, path, c->exports, c->export_count, &file->exports[i],
				 &c->exports[c->export_count]);
		c->export_count += e == 0;
	}
	return e;
}

/* What windows of the days before brought is read of the store. */
static int check_kept(struct config_reading *r, const struct config *c)
{
	for (size_t i = 0; i < c->schedule_count; i++)
		if (c->schedules[i].pairs_per_day && c->store.keep_ns < TUNED_KEEP_MIN_NS)
			return reading_wrong(
			    r, "store.keep", "",
			    "use 3d or more: schedule '%s' has 'pairs-per-day', which "
			    "goes by the windows of the days before",
			    c->schedules[i].name);
	return 0;
}

static int take_store(struct config_reading *r, const struct schema_store *from,
		      struct config_store *to)
{
	int e;

	if (!from)
		return 0;
	if ((e = reading_size(r, "store", "size", from->size, STORE_BYTES_MIN, &to->bytes)) < 0 ||
	    (e = take_fraction_or_off(r, "store", "free-disk", from->free_disk, 0,
				      &to->free_disk)) < 0 ||
	    (e = reading_duration(r, "store", "keep", from->keep, &to->keep_ns)) < 0)
		return e;
	return reading_count(r, "store", "windows-per-app", from->windows_per_app, UINT32_MAX - 1,
			     &to->windows_per_app);
}

/* The list is passed on in an argument, its names between commas; the first ones are of files
 * before. */
static int check_environment(struct config_reading *r, const struct config_texts *c,
			     unsigned before)
{
	size_t bytes = 1;

	for (unsigned i = 0; i < c->environment_count; i++) {
		const char *name = c->environment[i];
		char at[PLACE_PATH_BYTES];

		(void)reading_path(at, "environment[%u]", i < before ? 0 : i - before);
		if (!name[0] || strpbrk(name, ",="))
			return reading_wrong(r, at, "", "'%s' is not the name of a variable", name);
		bytes += (i > 0) + strlen(name);
		if (bytes > CONFIG_ENVIRONMENT_BYTES)
			return reading_wrong(r, at, "",
					     "the names up to here are longer than %d bytes in all",
					     CONFIG_ENVIRONMENT_BYTES - 1);
	}
	return 0;
}

/* A JVM that has the library loaded is known by the file's name. */
static int check_agent_path(struct config_reading *r, const char *path)
{
	static const char name[] = "/" AGENT_LIBRARY;
	size_t length = path ? strlen(path) : 0;

	if (path && (path[0] != '/' || length < sizeof(name) ||
		     strcmp(path + length - (sizeof(name) - 1), name) != 0))
		return reading_wrong(r, "agent-path", "",
				     "'%s' is not an absolute path that ends in '%s'", path, name);
	return 0;
}

/* Texts that the file has not are those of files before. */
static int take_texts(struct config_reading *r, const struct config_texts *from,
		      struct config_texts *to)
{
	static const size_t members[] = {
	    offsetof(struct config_texts, socket),     offsetof(struct config_texts, http),
	    offsetof(struct config_texts, state_dir),  offsetof(struct config_texts, bundle),
	    offsetof(struct config_texts, agent_path), offsetof(struct config_texts, user),
	    offsetof(struct config_texts, verbose),    offsetof(struct config_texts, admin_group),
	    offsetof(struct config_texts, salt),       offsetof(struct config_texts, host_id),
	    offsetof(struct config_texts, host_group), offsetof(struct config_texts, pod_labels),
	    offsetof(struct config_texts, pause_file), offsetof(struct config_texts, jar_versions)};
	unsigned before = to->environment_count;
	int e =
	    grow(r, &to->environment, before + from->environment_count, sizeof(*to->environment));

	if (e < 0)
		return e;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		void *text;

		memcpy(&text, (const char *)from + members[i], sizeof(text));
		if (text)
			memcpy((char *)to + members[i], &text, sizeof(text));
	}
	for (unsigned i = 0; i < from->environment_count; i++)
		to->environment[to->environment_count++] = from->environment[i];
	return check_environment(r, to, before);
}

/* Does a path begin with a key at the top? */
static bool is_of_key(const char *path, const char *key)
{
	size_t length = strlen(key);

	return strncmp(path, key, length) == 0 && strchr(".[", path[length]);
}

/* Sums, so that the order of keys is nothing; the items of a list have their number in the path.
 * Files come one behind the other, and their order says something. */
static void take_hashes(const struct config_reading *r, struct config *c)
{
	static const uint64_t key[2]; /* As of values (fleet/config/places.h). */
	uint64_t all = 0, of_keys[CONFIG_KEYS] = {0};

	for (size_t i = 0; i < r->places.count; i++) {
		const struct config_place *p = &r->places.places[i];
		uint64_t said = mix(siphash(key, p->path, strlen(p->path)) + mix(p->value));

		c->schedules_said |= strcmp(p->path, "schedules") == 0;
		all += said;
		for (size_t k = 0; k < CONFIG_KEYS; k++)
			if (is_of_key(p->path, config_keys[k]))
				of_keys[k] += said;
	}
	c->hash = mix(c->hash + all);
	for (size_t k = 0; k < CONFIG_KEYS; k++)
		if (of_keys[k])
			c->key_hashes[k] = mix(c->key_hashes[k] + of_keys[k]);
}

static int take_file(struct config_reading *r, const struct schema_file *file, struct config *c)
{
	int e;

	if (file->texts.pause_file && file->texts.pause_file[0] != '/')
		return reading_wrong(r, "pause-file", "", "'%s' is not an absolute path",
				     file->texts.pause_file);
	if (file->texts.host_group &&
	    !label_is_valid(file->texts.host_group, strlen(file->texts.host_group)))
		return reading_wrong(r, "host-group", "", PLAIN);
	if ((e = take_texts(r, &file->texts, &c->texts)) < 0 ||
	    (e = take_fraction(r, "", "host-budget", file->host_budget, &c->host_budget)) < 0 ||
	    (e = reading_count(r, "", "windows-at-once", file->windows_at_once, WINDOWS_AT_ONCE_MAX,
			       &c->windows_at_once)) < 0 ||
	    (e = reading_count(r, "", "windows-per-user", file->windows_per_user,
			       WINDOWS_AT_ONCE_MAX, &c->windows_per_user)) < 0 ||
	    (e = check_agent_path(r, c->texts.agent_path)) < 0 ||
	    (e = take_store(r, file->store, &c->store)) < 0 ||
	    (e = take_guards(r, file->guards, &c->guards)) < 0 || (e = take_apps(r, file, c)) < 0 ||
	    (e = take_exports(r, file, c)) < 0 || (e = take_schedules(r, file, c)) < 0)
		return e;
	return check_kept(r, c);
}

/* ---------------------------------------------------------------- the file */

static cyaml_config_t reading_config(struct config_reading *r)
{
	return (cyaml_config_t){.log_level = CYAML_LOG_WARNING,
				.log_fn = on_complaint,
				.log_ctx = r,
				.mem_fn = cyaml_mem,
				.flags = CYAML_CFG_NO_ALIAS};
}

void config_defaults(struct config *c)
{
	*c = (struct config){.texts = {.pause_file = (char *)PAUSE_FILE_DEFAULT},
			     .guards = guards_default,
			     .host_budget = HOST_BUDGET_DEFAULT,
			     .windows_at_once = WINDOWS_AT_ONCE_DEFAULT,
			     .windows_per_user = WINDOWS_PER_USER_DEFAULT,
			     .store = {.keep_ns = STORE_KEEP_DEFAULT_NS,
				       .bytes = STORE_BYTES_DEFAULT,
				       .free_disk = FREE_DISK_DEFAULT,
				       .windows_per_app = STORE_PER_APP_DEFAULT}};
}

static int parse(struct config_reading *r, const char *text, size_t size, struct config *c)
{
	cyaml_config_t config = reading_config(r);
	struct schema_file *file = NULL;
	struct err why;
	cyaml_err_t error;
	int e = places_find(&r->places, text, size, &why);

	if (e < 0)
		return e == -ENOMEM ? err_set(r->err, ENOMEM, "out of memory")
				    : err_set(r->err, EINVAL, "%s:%s", r->name, why.message);
	if (r->places.count == 0)
		return 0; /* Nothing but comments: the defaults. */
	error = cyaml_load_data((const uint8_t *)text, size, &config, &schema_file,
				(cyaml_data_t **)&file, NULL);
	if (error != CYAML_OK)
		return refuse(r, error);
	c->files[c->file_count++] = file;
	take_hashes(r, c);
	return take_file(r, file, c);
}

int config_add(struct config *c, const char *name, const char *text, size_t size, struct err *err)
{
	struct config_reading reading = {.name = name, .err = err};
	int r = c->file_count < CONFIG_FILES_MAX
		    ? parse(&reading, text, size, c)
		    : err_set(err, E2BIG, "'%s' is one file too many: %d are read", name,
			      CONFIG_FILES_MAX);

	places_release(&reading.places);
	return r;
}

void config_release(struct config *c)
{
	struct config_reading unused = {0};
	cyaml_config_t config = reading_config(&unused);

	free(c->schedules);
	free(c->exports);
	free(c->apps);
	free(c->texts.environment);
	while (c->file_count > 0) /* Fails for bad arguments. */
		(void)cyaml_free(&config, &schema_file, c->files[--c->file_count], 0);
	*c = (struct config){0};
}
