#include "common/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"

#define LINE_BYTES (PATH_MAX + 64)

/* The text without blanks around it; cuts at the end in place. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static int set_switch(const struct argument_option *option, void *settings, const char *value,
		      struct err *err)
{
	bool yes = strcmp(value, "yes") == 0;

	if (!yes && strcmp(value, "no") != 0)
		return err_set(err, EINVAL, "'%s' is 'yes' or 'no', not '%s'", option->name, value);
	*(bool *)((char *)settings + option->field) = yes;
	return 0;
}

static int set(const struct argument_option *option, void *settings, const char *value,
	       struct err *err)
{
	struct err reason;

	if (option->type == ARGUMENT_SWITCH)
		return set_switch(option, settings, value, err);
	if (value[0] == '\0')
		return err_set(err, EINVAL, "'%s' needs a value", option->name);
	if (arguments_set(option, settings, value, &reason) < 0)
		return err_set(err, EINVAL, "%s: %s", option->name, reason.message);
	return 0;
}

/* The error names the keys that there are: "a, b or c". */
static int unknown_key(const struct argument_option *options, const char *key, struct err *err)
{
	char keys[ERR_MESSAGE_MAX / 2] = "";
	size_t left = 0;

	for (const struct argument_option *o = options; o->name; o++)
		left += o->in_file;
	for (const struct argument_option *o = options; o->name; o++) {
		size_t used = strlen(keys);

		if (!o->in_file)
			continue;
		left--;
		/* Cut if there should be very many. */
		(void)snprintf(keys + used, sizeof(keys) - used, "%s%s", o->name,
			       left > 1    ? ", "
			       : left == 1 ? " or "
					   : "");
	}
	return err_set(err, EINVAL, "unknown key '%s': use %s", key, keys);
}

static int parse_line(const struct argument_option *options, void *settings, char *line,
		      struct err *err)
{
	char *text = trim(line);
	char *equals = strchr(text, '=');
	const char *key;

	if (text[0] == '\0' || text[0] == '#')
		return 0;
	if (!equals)
		return err_set(err, EINVAL, "'%s' is not 'key = value'", text);
	*equals = '\0';
	key = trim(text);
	for (const struct argument_option *o = options; o->name; o++)
		if (o->in_file && strcmp(o->name, key) == 0)
			return set(o, settings, trim(equals + 1), err);
	return unknown_key(options, key, err);
}

int config_file_read(const char *path, const struct argument_option *options, void *settings,
		     struct err *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char line[LINE_BYTES];
	struct err reason;
	unsigned number = 0;
	int r;

	if (!file)
		return err_set_errno(err, errno, "cannot open '%s'", path);
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (!strchr(line, '\n') && !feof(file))
			return err_set(err, EINVAL, "%s:%u: the line is too long", path, number);
		r = parse_line(options, settings, line, &reason);
		if (r < 0)
			return err_set(err, -r, "%s:%u: %s", path, number, reason.message);
	}
	return ferror(file) ? err_set_errno(err, EIO, "cannot read '%s'", path) : 0;
}
