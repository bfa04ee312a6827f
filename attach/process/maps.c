#include "attach/process/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DELETED     " (deleted)"
#define PATH_COLUMN 5 /* address, perms, offset, dev, inode, then the path */

struct maps_slice {
	const char *start;
	size_t size;
};

static bool starts_with(struct maps_slice s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.size >= n && memcmp(s.start, prefix, n) == 0;
}

static bool equals(struct maps_slice s, const char *text)
{
	return s.size == strlen(text) && starts_with(s, text);
}

/* The path of one line, without " (deleted)"; empty for anonymous mappings. */
static struct maps_slice line_path(struct maps_slice line, bool *is_deleted)
{
	struct maps_slice path = {line.start, 0};
	size_t i = 0, deleted = strlen(DELETED);

	for (int column = 0; column < PATH_COLUMN; column++) {
		while (i < line.size && line.start[i] != ' ')
			i++;
		while (i < line.size && line.start[i] == ' ')
			i++;
	}
	if (i >= line.size || line.start[i] != '/')
		return path;
	path.start = line.start + i;
	path.size = line.size - i;
	*is_deleted =
	    path.size > deleted && memcmp(path.start + path.size - deleted, DELETED, deleted) == 0;
	if (*is_deleted)
		path.size -= deleted;
	return path;
}

/* Splits off the last component; what is left in *path ends before its slash. */
static struct maps_slice pop_name(struct maps_slice *path)
{
	const char *slash = memrchr(path->start, '/', path->size);
	struct maps_slice name = {slash + 1, path->size - (size_t)(slash + 1 - path->start)};

	path->size = (size_t)(slash - path->start);
	return name;
}

static bool all_digits(struct maps_slice s)
{
	for (size_t i = 0; i < s.size; i++)
		if (s.start[i] < '0' || s.start[i] > '9')
			return false;
	return s.size > 0;
}

/* .../hsperfdata_<user>/<pid>: created by perfMemory_posix.cpp. */
static bool is_hsperfdata(struct maps_slice directory, struct maps_slice name)
{
	return all_digits(name) && memchr(directory.start, '/', directory.size) &&
	       starts_with(pop_name(&directory), "hsperfdata_");
}

/* The first mapping counts: it is the file's first segment, and others share the name. */
static void keep(char *to, struct maps_slice path)
{
	if (to[0] || path.size >= MAPS_PATH_BYTES || memchr(path.start, '\0', path.size))
		return;
	memcpy(to, path.start, path.size);
	to[path.size] = '\0';
}

/* Is the line's mapping executable? What is only read, such as a file that a server sends, says
 * nothing about what the process runs, and its name may be anybody's choice. */
static bool executable(struct maps_slice line)
{
	const char *perms = memchr(line.start, ' ', line.size);

	return perms && perms + 3 < line.start + line.size && perms[3] == 'x';
}

/* Where the line's mapping is, if it is of the beginning of its file; else 0. */
static uint64_t start_of_file(struct maps_slice line)
{
	char text[64]; /* the first three columns of any line that the kernel writes */
	size_t size = line.size < sizeof(text) ? line.size : sizeof(text) - 1;
	uint64_t start, offset;

	memcpy(text, line.start, size);
	text[size] = '\0';
	return sscanf(text, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) == 2 && offset == 0
		   ? start
		   : 0;
}

/* musl is one file, loader and library: called ld-musl-ARCH.so.1 on Alpine, libc.so elsewhere.
 * glibc's libc.so is a text for linkers. */
static bool is_musl(struct maps_slice name)
{
	return starts_with(name, "ld-musl-") || equals(name, "libc.so");
}

/* An emulator (qemu-user) maps what it emulates as it lies there, and nothing of it is executable.
 */
static bool is_arm64(struct maps_slice name)
{
	return starts_with(name, "ld-linux-aarch64.so") || starts_with(name, "ld-musl-aarch64.so");
}

static void scan_line(struct maps *out, struct maps_slice line, const char *agent)
{
	bool deleted = false;
	struct maps_slice path = line_path(line, &deleted);
	struct maps_slice directory = path;
	struct maps_slice name;

	if (path.size == 0)
		return;
	name = pop_name(&directory);
	if (equals(name, "libjvm.so")) {
		out->libjvm = true;
		keep(out->libjvm_path, path);
	} else if (is_arm64(name)) {
		out->arm64 = true;
	} else if (is_musl(name) && executable(line)) {
		out->musl = true;
	} else if (starts_with(name, "libj9vm")) {
		out->openj9 = true;
	} else if (equals(name, agent) && executable(line)) {
		out->agent_deleted = out->agent_path[0] ? out->agent_deleted : deleted;
		keep(out->agent_path, path);
	} else if (equals(name, agent)) {
		/* Its headers are not executable, and come first. */
		if (!out->agent_path[0] && start_of_file(line))
			out->agent_start = start_of_file(line);
	} else if (!deleted && is_hsperfdata(directory, name)) {
		/* What has the name of a deleted one is another file. */
		keep(out->hsperfdata_path, path);
	}
}

void maps_scan(struct maps *out, const char *text, size_t size, const char *agent)
{
	struct maps_slice line = {text, 0};

	memset(out, 0, sizeof(*out));
	while (size > 0) {
		const char *end = memchr(line.start, '\n', size);

		line.size = end ? (size_t)(end - line.start) : size;
		scan_line(out, line, agent);
		size -= line.size + (end ? 1 : 0);
		line.start += line.size + (end ? 1 : 0);
	}
}
