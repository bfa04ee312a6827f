#include "daemon/app_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

void app_name_from_command(char *label, size_t size, const char *command)
{
	const char *name = command + strspn(command, " ");
	const char *jar = strstr(name, JAR_SUFFIX);
	size_t length = strcspn(name, " ");
	size_t used = 0;

	/* A jar's path may hold blanks; it ends at the first ".jar" that ends a word. */
	while (jar && jar[sizeof(JAR_SUFFIX) - 1] != '\0' && jar[sizeof(JAR_SUFFIX) - 1] != ' ')
		jar = strstr(jar + 1, JAR_SUFFIX);
	if (jar && (size_t)(jar - name) >= length && name[0] != '/')
		jar = NULL; /* It is an argument of a main class. */
	if (jar) {
		length = (size_t)(jar - name);
		name = behind(name, &length, '/');
		length = without_version(name, length);
	} else {
		name = behind(name, &length, '/');
		name = behind(name, &length, '.');
	}
	for (size_t i = 0; i < length && used + 1 < size && used + 1 < APP_NAME_BYTES; i++) {
		bool plain = isascii((unsigned char)name[i]) &&
			     (isalnum((unsigned char)name[i]) || strchr("._-", name[i]));

		label[used++] = plain ? name[i] : '_';
	}
	label[used] = '\0';
	if (used == 0)
		(void)snprintf(label, size, "unknown");
}
