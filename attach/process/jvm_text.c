#include "attach/process/jvm_text.h"

#include "common/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_ID_DIGITS 64

void jvm_text_container(char *container, const char *cgroup)
{
	container[0] = '\0';
	while (*cgroup) {
		size_t digits = strspn(cgroup, "0123456789abcdef");

		if (digits == CONTAINER_ID_DIGITS) {
			memcpy(container, cgroup, JVM_CONTAINER_BYTES - 1);
			container[JVM_CONTAINER_BYTES - 1] = '\0';
			return;
		}
		cgroup += digits ? digits : 1;
	}
}

const char *jvm_text_environ(const char *environ, size_t environ_bytes, const char *name)
{
	const char *end = environ + environ_bytes;
	size_t n = strlen(name);

	for (const char *p = environ; p < end; p += strlen(p) + 1)
		if (strncmp(p, name, n) == 0 && p[n] == '=')
			return p + n + 1;
	return NULL;
}

int jvm_text_release(const char *version)
{
	if (strncmp(version, "1.", 2) == 0)
		version += 2;
	if (!isdigit((unsigned char)*version))
		return 0;
	return (int)strtol(version, NULL, 10);
}

void jvm_text_release_file(char *version, size_t size, const char *text)
{
	static const char key[] = "JAVA_VERSION=\"";
	char value[64];
	const char *start = strstr(text, key);
	size_t n;

	version[0] = '\0';
	if (!start)
		return;
	start += sizeof(key) - 1;
	n = strcspn(start, "\"\n");
	if (n >= sizeof(value))
		n = sizeof(value) - 1;
	memcpy(value, start, n);
	value[n] = '\0';
	(void)utf8_sanitize(version, size, value);
}

const char *jvm_text_collector(const char *name)
{
	static const struct {
		const char *prefix;
		const char *collector;
	} table[] = {
	    {"Copy:MSC", "Serial"}, {"ParScav:MSC", "Parallel"},
	    {"GarbageFirst", "G1"}, {"ParNew:CMS", "CMS"},
	    {"Serial ", "Serial"},  {"Parallel ", "Parallel"},
	    {"G1 ", "G1"},          {"Z ", "ZGC"},
	    {"ZGC ", "ZGC"},        {"Shenandoah", "Shenandoah"},
	    {"Epsilon", "Epsilon"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strncmp(name, table[i].prefix, strlen(table[i].prefix)) == 0)
			return table[i].collector;
	return "";
}

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && strcmp(text + n - m, suffix) == 0;
}

const char *jvm_text_application(const char *main)
{
	const char *slash = strrchr(main, '/');

	/* A slash also separates module and class. */
	return slash && (has_suffix(main, ".jar") || has_suffix(main, ".java") || *main == '/')
		   ? slash + 1
		   : main;
}
