#include "attach/process/cgroup_memory.h"

#include "attach/process/cgroup.h"
#include "common/proc.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define STAT_BYTES   8192
#define NUMBER_BYTES 32
#define V1_UNLIMITED (UINT64_C(1) << 62) /* it shows "none" as a number of pages near LONG_MAX */

/* A limit, and what is held against it. */
struct bound {
	const char *limit;
	const char *use;
};

struct version {
	struct bound bounds[2];
	/* In memory.stat: */
	const char *inactive, *active, *dirty, *writeback;
};

static const struct version version_2 = {
    .bounds = {{"memory.max", "memory.current"}},
    .inactive = "inactive_file",
    .active = "active_file",
    .dirty = "file_dirty",
    .writeback = "file_writeback",
};

static const struct version version_1 = {
    .bounds = {{"memory.limit_in_bytes", "memory.usage_in_bytes"},
	       {"memory.memsw.limit_in_bytes", "memory.memsw.usage_in_bytes"}},
    .inactive = "total_inactive_file",
    .active = "total_active_file",
    .dirty = "total_dirty",
    .writeback = "total_writeback",
};

/* ---------------------------------------------------------------- one group */

/* UINT64_MAX for "max". False when there is no such file: the root's, or a controller that is off.
 */
static bool read_number(const char *directory, const char *file, uint64_t *number)
{
	char path[PATH_MAX], text[NUMBER_BYTES];

	if (snprintf(path, sizeof(path), "%s/%s", directory, file) >= (int)sizeof(path) ||
	    proc_read(path, text, sizeof(text)) <= 0)
		return false;
	if (strcmp(text, "max\n") == 0) {
		*number = UINT64_MAX;
		return true;
	}
	return sscanf(text, "%" SCNu64, number) == 1;
}

/* The number behind "name " at the start of a line, 0 without one. */
static uint64_t stat_field(const char *text, const char *name)
{
	size_t length = strlen(name);
	uint64_t value;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ' ')
			return sscanf(line + length, "%" SCNu64, &value) == 1 ? value : 0;
	}
	return 0;
}

/* Tells what the kernel would drop for others: see the header. */
static uint64_t reclaimable(const char *directory, const struct version *v)
{
	char path[PATH_MAX], text[STAT_BYTES];
	uint64_t inactive, unwritten;

	if (snprintf(path, sizeof(path), "%s/memory.stat", directory) >= (int)sizeof(path) ||
	    proc_read(path, text, sizeof(text)) <= 0)
		return 0;
	inactive = stat_field(text, v->inactive);
	unwritten = stat_field(text, v->dirty) + stat_field(text, v->writeback);
	return (inactive > unwritten ? inactive - unwritten : 0) + stat_field(text, v->active) / 2;
}

/* The group's path, or so much of its end as there is room for. */
static void copy_group(char group[CGROUP_GROUP_BYTES], const char *path)
{
	size_t length = strlen(path), room = CGROUP_GROUP_BYTES - sizeof("...");

	if (length < CGROUP_GROUP_BYTES)
		strcpy(group, path[0] ? path : "/");
	else
		(void)snprintf(group, CGROUP_GROUP_BYTES, "...%s", path + length - room);
}

/* One level: out takes what leaves less than what it has. */
static void look_at_group(const char *directory, const char *group, const struct version *v,
			  struct cgroup_memory *out)
{
	for (size_t i = 0; i < sizeof(v->bounds) / sizeof(v->bounds[0]); i++) {
		const struct bound *b = &v->bounds[i];
		uint64_t limit, use, cache, left;

		if (!b->limit || !read_number(directory, b->limit, &limit) ||
		    limit >= V1_UNLIMITED || !read_number(directory, b->use, &use))
			continue;
		cache = reclaimable(directory, v);
		use = use > cache ? use - cache : 0;
		left = limit > use ? limit - use : 0;
		if (out->file && left >= out->left_bytes)
			continue;
		out->left_bytes = left;
		out->limit_bytes = limit;
		out->file = b->limit;
		copy_group(out->group, group);
	}
}

static void visit(void *arg, bool v2, const char *directory, const char *group)
{
	look_at_group(directory, group, v2 ? &version_2 : &version_1, arg);
}

int cgroup_memory_left(const char *root, pid_t pid, struct cgroup_memory *out)
{
	struct cgroup_memory least = {0};
	int r = cgroup_climb(root, pid, "memory", visit, &least);

	if (r < 0)
		return r;
	if (!least.file)
		return -ENOENT;
	*out = least;
	return 0;
}
