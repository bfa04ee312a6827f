#include "attach/process/cgroup_memory.h"

#include "common/cleanup.h"
#include "common/proc.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOUNTS_BYTES (1u << 20) /* cgroups are mounted early, and so come first */
#define GROUPS_BYTES (64u << 10)
#define STAT_BYTES   8192
#define NUMBER_BYTES 32
#define LEVELS_MAX   128
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

/* What the kernel would drop for others: see the header. */
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

/* ---------------------------------------------------------------- hierarchies */

struct mount {
	char root[PATH_MAX];  /* which group is mounted, */
	char point[PATH_MAX]; /* and where */
};

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}

/* Is it a line of /proc/self/mountinfo for the hierarchy? ("ID PARENT DEVICE ROOT POINT OPTIONS
 * OPTIONAL... - TYPE SOURCE SUPEROPTIONS") */
static bool parse_mount(const char *line, const struct version *v, struct mount *m)
{
	const char *tail = strstr(line, " - ");
	char type[16], options[1024];

	_Static_assert(PATH_MAX == 4096, "the widths below");
	if (!tail || sscanf(tail, " - %15s %*s %1023s", type, options) != 2 ||
	    sscanf(line, "%*s %*s %*s %4095s %4095s", m->root, m->point) != 2)
		return false;
	return v == &version_2 ? strcmp(type, "cgroup2") == 0
			       : strcmp(type, "cgroup") == 0 && has_word(options, "memory");
}

/* The path of the group below what is mounted; NULL when the mount does not show it. A group that
 * is not below the reader's cgroup namespace begins with "/..". */
static const char *below(const struct mount *m, const char *group)
{
	size_t length = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);

	if (strncmp(group, "/..", 3) == 0 || strncmp(group, m->root, length) != 0)
		return NULL;
	group += length;
	return group[0] == '/' || group[0] == '\0' ? group : NULL;
}

static bool find_mount(const char *mounts, const struct version *v, const char *group,
		       struct mount *m)
{
	for (const char *line = mounts; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (parse_mount(line, v, m) && below(m, group))
			return true;
	}
	return false;
}

/* All levels of one hierarchy, from the group up. */
static void climb(const char *root, const char *mounts, const struct version *v, char *group,
		  struct cgroup_memory *out)
{
	_cleanup_free_ struct mount *m = malloc(sizeof(*m));
	char directory[PATH_MAX];
	size_t top;

	if (!m || !find_mount(mounts, v, group, m))
		return;
	top = strlen(group) - strlen(below(m, group));
	for (int i = 0; i < LEVELS_MAX; i++) {
		char *slash;

		if (snprintf(directory, sizeof(directory), "%s%s%s", root, m->point, group + top) <
		    (int)sizeof(directory))
			look_at_group(directory, group, v, out);
		slash = strrchr(group + top, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* "0::/path" is version 2's, "7:cpu,memory:/path" version 1's. */
static void look_at_line(const char *root, const char *mounts, char *line,
			 struct cgroup_memory *out)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return;
	*group++ = '\0';
	controllers++;
	if (!controllers[0])
		climb(root, mounts, &version_2, group, out);
	else if (has_word(controllers, "memory"))
		climb(root, mounts, &version_1, group, out);
}

int cgroup_memory_left(const char *root, pid_t pid, struct cgroup_memory *out)
{
	_cleanup_free_ char *mounts = malloc(MOUNTS_BYTES), *groups = malloc(GROUPS_BYTES);
	struct cgroup_memory least = {0};
	char path[PATH_MAX];
	char *rest, *line;
	ssize_t n;

	if (!mounts || !groups)
		return -ENOMEM;
	(void)snprintf(path, sizeof(path), "%s/proc/%d/cgroup", root, pid);
	n = proc_read(path, groups, GROUPS_BYTES);
	if (n < 0)
		return (int)n;
	(void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	n = proc_read(path, mounts, MOUNTS_BYTES);
	if (n < 0)
		return (int)n;
	for (rest = groups; (line = strsep(&rest, "\n"));)
		look_at_line(root, mounts, line, &least);
	if (!least.file)
		return -ENOENT;
	*out = least;
	return 0;
}
