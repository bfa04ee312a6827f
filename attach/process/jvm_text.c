#include "attach/process/jvm_text.h"

#include "common/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_ID_DIGITS 64

/* The name of a group, or what is between ':' (which runtimes have in names, too): "ID",
 * "RUNTIME-ID" or either with ".scope". Returns where the id begins, or NULL. */
static const char *container_of_name(const char *name, size_t length)
{
	static const char *const runtimes[] = {"docker-", "cri-containerd-", "crio-", "libpod-",
					       "nerdctl-"};
	static const char scope[] = ".scope";
	size_t before = 0, after;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]) && before == 0; i++)
		if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
			before = strlen(runtimes[i]);
	if (strspn(name + before, "0123456789abcdef") != CONTAINER_ID_DIGITS)
		return NULL;
	after = length - before - CONTAINER_ID_DIGITS;
	if (after > 0 && (after != sizeof(scope) - 1 ||
			  memcmp(name + before + CONTAINER_ID_DIGITS, scope, after) != 0))
		return NULL;
	return name + before;
}

void jvm_text_container_id(char id[JVM_CONTAINER_ID_BYTES], const char *cgroup)
{
	static const char ends[] = "/:\n";

	id[0] = '\0';
	for (; *cgroup; cgroup += strspn(cgroup, ends)) {
		size_t length = strcspn(cgroup, ends);
		const char *found = container_of_name(cgroup, length);

		if (found) {
			memcpy(id, found, CONTAINER_ID_DIGITS);
			id[CONTAINER_ID_DIGITS] = '\0';
			return;
		}
		cgroup += length;
	}
}

bool jvm_text_is_in_user_slice(const char *cgroup)
{
	return strstr(cgroup, ":/user.slice/") != NULL;
}

void jvm_text_container(char *container, const char *cgroup)
{
	char id[JVM_CONTAINER_ID_BYTES];

	jvm_text_container_id(id, cgroup);
	(void)snprintf(container, JVM_CONTAINER_BYTES, "%.*s", JVM_CONTAINER_BYTES - 1, id);
}

/* The path in a line "ID:CONTROLLERS:PATH"; its length in *length. NULL when it is not one. */
static const char *cgroup_of_line(const char *line, size_t *length)
{
	size_t end = strcspn(line, "\n");
	const char *colon = memchr(line, ':', end);

	colon = colon ? memchr(colon + 1, ':', end - (size_t)(colon + 1 - line)) : NULL;
	if (!colon)
		return NULL;
	*length = end - (size_t)(colon + 1 - line);
	return colon + 1;
}

void jvm_text_cgroup(char path[JVM_CGROUP_BYTES], const char *cgroup)
{
	path[0] = '\0';
	for (const char *line = cgroup; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		bool unified = strncmp(line, "0::", 3) == 0;
		char found[JVM_CGROUP_BYTES];
		const char *from;
		size_t length;

		from = cgroup_of_line(line, &length);
		if (!from || length <= 1 || length >= sizeof(found) || (path[0] && !unified))
			continue;
		memcpy(found, from, length);
		found[length] = '\0';
		(void)utf8_sanitize(path, JVM_CGROUP_BYTES, found); /* May be cut. */
	}
}

/* Lengths of a uid's parts. */
static const size_t uid_parts[] = {8, 4, 4, 4, 12};
#define UID_DIGITS 32

/* A pod's uid at the start of text. */
static bool take_uid(char pod[JVM_POD_BYTES], const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");
	size_t used = 0;

	if (digits == UID_DIGITS) {
		memcpy(pod, text, UID_DIGITS);
		pod[UID_DIGITS] = '\0';
		return true;
	}
	for (size_t i = 0; i < sizeof(uid_parts) / sizeof(uid_parts[0]); i++) {
		if (i > 0 && text[used] != '-' && text[used] != '_')
			return false;
		used += i > 0;
		if (strspn(text + used, "0123456789abcdef") != uid_parts[i])
			return false;
		used += uid_parts[i];
	}
	memcpy(pod, text, used);
	pod[used] = '\0';
	for (char *p = pod; *p; p++)
		if (*p == '_')
			*p = '-';
	return true;
}

void jvm_text_pod(char pod[JVM_POD_BYTES], const char *path)
{
	static const char prefix[] = "pod";

	for (const char *p = strstr(path, prefix); p; p = strstr(p, prefix)) {
		p += sizeof(prefix) - 1;
		if (take_uid(pod, p))
			return;
	}
	pod[0] = '\0';
}

const char *jvm_text_next_label(char label[JVM_LABEL_BYTES], const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	static const char in_name[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t name = strspn(text, in_name), value;
		const char *end;

		if (name == 0 || strncmp(text + name, "=\"", 2) != 0)
			continue;
		value = strspn(text + name + 2, plain);
		end = text + name + 2 + value;
		if (end[0] != '"' || (end[1] && end[1] != '\n') ||
		    name + value + 2 > JVM_LABEL_BYTES)
			continue;
		(void)snprintf(label, JVM_LABEL_BYTES, "%.*s=%.*s", (int)name, text, (int)value,
			       text + name + 2); /* Fits. */
		return end + 1;
	}
	return NULL;
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
	const char *start = text;
	size_t n;

	version[0] = '\0';
	while (start && strncmp(start, key, sizeof(key) - 1) != 0) {
		start = strchr(start, '\n');
		if (start)
			start++;
	}
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

bool jvm_text_is_jar(const char *path)
{
	return has_suffix(path, ".jar");
}

const char *jvm_text_application(const char *main)
{
	const char *slash = strrchr(main, '/');

	/* A slash also separates module and class. */
	return slash && (jvm_text_is_jar(main) || has_suffix(main, ".java") || *main == '/')
		   ? slash + 1
		   : main;
}
