#include "fleet/hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

#define BLANKS       " \t\r"
#define COUNT_DIGITS 8 /* of FLEET_JVMS_MAX */

/* Where something is wrong. */
struct text_position {
	const char *file;
	size_t line;
};

static int wrong(const struct text_position *at, const char *what, struct err *err)
{
	return err_set(err, EINVAL, "%s:%zu: %s: a line is HOST APP COUNT", at->file, at->line,
		       what);
}

/* 1 to FLEET_JVMS_MAX, digits only. */
static bool parse_count(const char *text, uint32_t *count)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long value;

	if (digits == 0 || digits > COUNT_DIGITS || text[digits])
		return false;
	value = strtoul(text, NULL, 10);
	if (value < 1 || value > FLEET_JVMS_MAX)
		return false;
	*count = (uint32_t)value;
	return true;
}

/* 1 with a group, 0 for a line without one, or -EINVAL. Cuts line into its words. */
static int parse_line(char *line, const struct text_position *at, struct fleet_group *group,
		      struct err *err)
{
	char *rest = NULL;
	const char *host = strtok_r(line, BLANKS, &rest), *app, *count;

	if (!host || host[0] == '#')
		return 0;
	app = strtok_r(NULL, BLANKS, &rest);
	count = strtok_r(NULL, BLANKS, &rest);
	if (!count)
		return wrong(at, "an application or its number of JVMs is missing", err);
	if (strtok_r(NULL, BLANKS, &rest))
		return wrong(at, "there are more than three words", err);
	if (strlen(host) > FLEET_NAME_BYTES_MAX || strlen(app) > FLEET_NAME_BYTES_MAX)
		return wrong(at, "a name is longer than 255 bytes", err);
	if (!parse_count(count, &group->count))
		return wrong(at, "the number of JVMs is not one from 1 to 10000000", err);
	group->host = host;
	group->app = app;
	return 1;
}

static int parse_lines(struct fleet_hosts *h, const char *name, struct err *err)
{
	struct text_position at = {.file = name};
	char *next = h->text, *line;

	while ((line = strsep(&next, "\n"))) {
		struct fleet_group *group = &h->groups[h->count];
		int r;

		at.line++;
		r = parse_line(line, &at, group, err);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		h->count++;
		h->jvm_count += group->count;
		if (h->jvm_count > FLEET_JVMS_MAX)
			return wrong(&at, "that makes more than 10000000 JVMs", err);
	}
	if (h->count == 0)
		return err_set(err, EINVAL, "'%s' names no host: a line is HOST APP COUNT", name);
	return 0;
}

/* ---------------------------------------------------------------- order */

static int compare(const void *a, const void *b)
{
	const struct fleet_group *one = a, *other = b;
	int hosts = strcmp(one->host, other->host);

	return hosts ? hosts : strcmp(one->app, other->app);
}

static int compare_apps(const void *a, const void *b)
{
	const struct fleet_group *const *one = a, *const *other = b;

	return strcmp((*one)->app, (*other)->app);
}

/* Sorted, with one group for each host and application. */
static void merge(struct fleet_hosts *h)
{
	size_t kept = 0;

	qsort(h->groups, h->count, sizeof(h->groups[0]), compare);
	for (size_t i = 1; i < h->count; i++)
		if (compare(&h->groups[kept], &h->groups[i]) == 0)
			h->groups[kept].count += h->groups[i].count;
		else
			h->groups[++kept] = h->groups[i];
	h->count = kept + 1;
	h->host_count = 1;
	for (size_t i = 1; i < h->count; i++)
		h->host_count += strcmp(h->groups[i - 1].host, h->groups[i].host) != 0;
}

static int number_apps(struct fleet_hosts *h, struct err *err)
{
	_cleanup_free_ struct fleet_group **by_app = calloc(h->count, sizeof(struct fleet_group *));

	if (!by_app)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < h->count; i++)
		by_app[i] = &h->groups[i];
	qsort(by_app, h->count, sizeof(by_app[0]), compare_apps);
	for (size_t i = 0; i < h->count; i++) {
		if (i == 0 || strcmp(by_app[i - 1]->app, by_app[i]->app) != 0)
			h->app_count++;
		by_app[i]->app_number = h->app_count - 1;
	}
	return 0;
}

/* ---------------------------------------------------------------- calls */

static size_t count_lines(const char *text)
{
	size_t lines = 1;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

int fleet_hosts_parse(struct fleet_hosts *out, const char *name, const char *text, size_t size,
		      struct err *err)
{
	_cleanup_(fleet_hosts_release) struct fleet_hosts h = {0};
	int r;

	if (size > FLEET_BYTES_MAX)
		return err_set(err, EFBIG, "'%s' is longer than %u bytes", name, FLEET_BYTES_MAX);
	if (memchr(text, 0, size))
		return err_set(err, EINVAL, "'%s' is not a text: a line is HOST APP COUNT", name);
	h.text = strndup(text, size);
	h.groups = h.text ? calloc(count_lines(h.text), sizeof(h.groups[0])) : NULL;
	if (!h.groups)
		return err_set(err, ENOMEM, "out of memory");
	r = parse_lines(&h, name, err);
	if (r < 0)
		return r;
	merge(&h);
	r = number_apps(&h, err);
	if (r < 0)
		return r;
	*out = h;
	h = (struct fleet_hosts){0};
	return 0;
}

int fleet_hosts_load(struct fleet_hosts *h, const char *path, struct err *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *text = malloc(FLEET_BYTES_MAX + 1);
	size_t size;

	if (!file)
		return err_set_errno(err, errno, "cannot open '%s'", path);
	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	size = fread(text, 1, FLEET_BYTES_MAX + 1, file);
	if (ferror(file))
		return err_set_errno(err, errno, "cannot read '%s'", path);
	return fleet_hosts_parse(h, path, text, size, err);
}

void fleet_hosts_release(struct fleet_hosts *h)
{
	free(h->groups);
	free(h->text);
	*h = (struct fleet_hosts){0};
}
