#include "attach/process/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/proc.h"

#define MOUNTS_BYTES (1u << 20) /* cgroups are mounted early, and so come first */
#define GROUPS_BYTES (64u << 10)
#define LEVELS_MAX   128

struct cgroup_walk {
	const char *root;
	const char *mounts; /* /proc/self/mountinfo */
	const char *controller;
	cgroup_visit_fn visit;
	void *arg;
};

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
static bool parse_mount(const struct cgroup_walk *w, const char *line, bool v2, struct mount *m)
{
	const char *tail = strstr(line, " - ");
	char type[16], options[1024];

	_Static_assert(PATH_MAX == 4096, "the widths below");
	if (!tail || sscanf(tail, " - %15s %*s %1023s", type, options) != 2 ||
	    sscanf(line, "%*s %*s %*s %4095s %4095s", m->root, m->point) != 2)
		return false;
	return v2 ? strcmp(type, "cgroup2") == 0
		  : strcmp(type, "cgroup") == 0 && has_word(options, w->controller);
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

static bool find_mount(const struct cgroup_walk *w, bool v2, const char *group, struct mount *m)
{
	for (const char *line = w->mounts; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (parse_mount(w, line, v2, m) && below(m, group))
			return true;
	}
	return false;
}

/* All levels of one hierarchy, from the group up. */
static void climb(const struct cgroup_walk *w, bool v2, char *group)
{
	_cleanup_free_ struct mount *m = malloc(sizeof(*m));
	char directory[PATH_MAX];
	size_t top;

	if (!m || !find_mount(w, v2, group, m))
		return;
	top = strlen(group) - strlen(below(m, group));
	for (int i = 0; i < LEVELS_MAX; i++) {
		char *slash;

		if (snprintf(directory, sizeof(directory), "%s%s%s", w->root, m->point,
			     group + top) < (int)sizeof(directory))
			w->visit(w->arg, v2, directory, group);
		slash = strrchr(group + top, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* "0::/path" is version 2's, "7:cpu,memory:/path" version 1's. */
static void look_at_line(const struct cgroup_walk *w, char *line)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return;
	*group++ = '\0';
	controllers++;
	if (!controllers[0])
		climb(w, true, group);
	else if (has_word(controllers, w->controller))
		climb(w, false, group);
}

int cgroup_climb(const char *root, pid_t pid, const char *controller, cgroup_visit_fn visit,
		 void *arg)
{
	_cleanup_free_ char *mounts = malloc(MOUNTS_BYTES), *groups = malloc(GROUPS_BYTES);
	struct cgroup_walk w = {root, mounts, controller, visit, arg};
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
		look_at_line(&w, line);
	return 0;
}
