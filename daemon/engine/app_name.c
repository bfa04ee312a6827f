#include "daemon/engine/app_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/label.h"

#define JAR_SUFFIX ".jar"

/* "-1", "_2": where a jar's version begins ("app-server-1.4.2", "tool_2.13"). */
static size_t without_version(const char *name, size_t length)
{
	for (size_t i = 1; i + 1 < length; i++)
		if ((name[i] == '-' || name[i] == '_') && isdigit((unsigned char)name[i + 1]))
			return i;
	return length;
}

/* The part of name behind the last separator. */
static const char *behind(const char *name, size_t *length, char separator)
{
	const char *last = memrchr(name, separator, *length);

	if (!last || last + 1 == name + *length)
		return name;
	*length -= (size_t)(last + 1 - name);
	return last + 1;
}

void app_name_of(char *label, size_t size, const char *program)
{
	const char *name = program;
	size_t length = strlen(name);
	size_t suffix = strlen(JAR_SUFFIX);
	size_t used = 0;

	name = behind(name, &length, '/');
	if (length >= suffix && strcmp(name + length - suffix, JAR_SUFFIX) == 0)
		length = without_version(name, length - suffix);
	else
		name = behind(name, &length, '.');
	for (size_t i = 0; i < length && used + 1 < size && used + 1 < APP_NAME_BYTES; i++)
		label[used++] = label_may_have(name[i]) ? name[i] : '_';
	label[used] = '\0';
	if (used == 0)
		(void)snprintf(label, size, APP_NAME_UNKNOWN);
}
