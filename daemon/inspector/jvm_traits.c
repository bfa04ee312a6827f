#include "daemon/inspector/jvm_traits.h"

#include <stdio.h>
#include <string.h>

#include "attach/process/jvm_step.h"
#include "attach/process/target_fs.h"
#include "common/cleanup.h"
#include "common/proc.h"
#include "common/utf8.h"

#define PATH_BYTES   64
#define CGROUP_BYTES 8192 /* a line for each hierarchy */

static ssize_t read_file(pid_t pid, const char *file, char *text, size_t size)
{
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file); /* Fits. */
	return proc_read(path, text, size);
}

static void read_command(struct jvm_traits *t, pid_t pid, char *step)
{
	char text[JVM_COMMAND_BYTES];
	ssize_t n;

	jvm_step(step, "its command line");
	n = read_file(pid, "cmdline", text, sizeof(text));
	for (ssize_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	if (n > 0)
		(void)utf8_sanitize(t->command, sizeof(t->command), text); /* May be cut. */
}

static void read_groups(struct jvm_traits *t, pid_t pid)
{
	char text[CGROUP_BYTES];

	if (read_file(pid, "cgroup", text, sizeof(text)) <= 0)
		return;
	jvm_text_cgroup(t->cgroup, text);
	container_record_find(&t->container, text);
	jvm_text_pod(t->pod, t->cgroup);
}

static void take_variable(struct jvm_traits *t, const char *name, const char *value)
{
	char *to = t->variables[t->environment_count];
	char whole[JVM_VARIABLE_BYTES];

	if (snprintf(whole, sizeof(whole), "%s=%s", name, value) >= (int)sizeof(whole))
		return;
	(void)utf8_sanitize(to, JVM_VARIABLE_BYTES, whole); /* May be cut. */
	t->environment[t->environment_count++] = to;
}

static void read_environment(struct jvm_traits *t, pid_t pid, const char *names, char *step)
{
	static char text[JVM_ENVIRON_READ];
	ssize_t n;

	jvm_step(step, "its environment");
	n = read_file(pid, "environ", text, sizeof(text));
	/* Where reading ended in the middle of one, its beginning is not its value. */
	if (n == (ssize_t)sizeof(text) - 1)
		while (n > 0 && text[n - 1] != '\0')
			n--;
	while (n > 0 && *names && t->environment_count < JVM_VARIABLES_MAX) {
		size_t length = strcspn(names, (const char[]){JVM_TRAITS_SEPARATOR, '\0'});
		char name[JVM_VARIABLE_BYTES];
		const char *value = NULL;

		if (length > 0 && length < sizeof(name)) {
			memcpy(name, names, length);
			name[length] = '\0';
			value = jvm_text_environ(text, (size_t)n, name);
		}
		if (value)
			take_variable(t, name, value);
		names += length;
		names += *names != '\0';
	}
}

static void read_labels(struct jvm_traits *t, const struct jvm_info *info, const char *path,
			char *step)
{
	static char text[JVM_LABELS_READ];
	_cleanup_(target_fs_close_dir) struct target_dir root = TARGET_DIR_NONE;
	const char *rest = text;

	jvm_step(step, "the labels of its pod, '%s'", path);
	if (target_fs_open_dir(&root, info->pid, "root", info->euid, info->egid) < 0 ||
	    target_fs_read(&root, path, text, sizeof(text)) <= 0)
		return;
	while (t->label_count < JVM_LABELS_MAX &&
	       (rest = jvm_text_next_label(t->label_texts[t->label_count], rest))) {
		t->labels[t->label_count] = t->label_texts[t->label_count];
		t->label_count++;
	}
}

void jvm_traits_read(struct jvm_traits *out, const struct jvm_info *info,
		     const struct startup *startup, char *step)
{
	pid_t pid = info->pid;

	memset(out, 0, sizeof(*out));
	(void)proc_cpu_time(pid, &out->cpu_ns); /* 0 of one that has ended. */
	read_command(out, pid, step);
	read_groups(out, pid);
	if (startup->environment[0])
		read_environment(out, pid, startup->environment, step);
	if (startup->pod_labels[0])
		read_labels(out, info, startup->pod_labels, step);
}
