#include "attach/process/jvm.h"

#include "attach/process/hsperfdata.h"
#include "attach/process/jvm_flags.h"
#include "attach/process/jvm_step.h"
#include "attach/process/jvm_view.h"
#include "attach/process/target_fs.h"
#include "common/capabilities.h"
#include "common/cleanup.h"
#include "common/proc.h"
#include "common/utf8.h"
#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SMALL_FILE_BYTES    4096
#define PASSWD_BYTES        4096
#define PATH_BYTES          64
#define PERFDATA_PREFIX     "/tmp/hsperfdata_"
#define LIBJVM_BELOW_HOME   3 /* lib/server/libjvm.so */
#define LIBJVM_BEFORE_JDK_9 "/lib/amd64/server/libjvm.so"

static const struct {
	const char *name;
	int errno_value;
} obstacles[] = {
    [JVM_ATTACHABLE] = {"attachable", 0},
    [JVM_NOT_A_JVM] = {"not a JVM", ENOEXEC},
    [JVM_NO_PERMISSION] = {"no permission", EACCES},
    [JVM_32_BIT] = {"32-bit", ENOTSUP},
    [JVM_NOT_HOTSPOT] = {"not HotSpot", ENOTSUP},
    [JVM_OTHER_LIBC] = {"another libc", ENOTSUP},
    [JVM_TOO_OLD] = {"JDK too old", ENOTSUP},
    [JVM_UNREAD_RELEASE] = {"JDK not supported", ENOTSUP},
    [JVM_ATTACH_DISABLED] = {"attach disabled", EPERM},
    [JVM_DYNAMIC_LOADING_DISABLED] = {"dynamic agents disabled", EPERM},
    [JVM_STOPPED] = {"stopped", EAGAIN},
    [JVM_SIGQUIT_NOT_CAUGHT] = {"SIGQUIT not caught", EAGAIN},
    [JVM_AGENT_NOT_SPOKEN_WITH] = {"another agent", EPROTONOSUPPORT},
    [JVM_OTHER_PROCESSOR] = {"another processor", ENOTSUP},
};

int jvm_obstacle_errno(enum jvm_obstacle obstacle)
{
	return obstacles[obstacle].errno_value;
}

const char *jvm_obstacle_name(enum jvm_obstacle obstacle)
{
	return obstacles[obstacle].name;
}

/* Records the first obstacle found. */
__attribute__((format(printf, 3, 4))) static void
set_obstacle(struct jvm_info *info, enum jvm_obstacle which, const char *fmt, ...)
{
	char text[ERR_MESSAGE_MAX];
	va_list ap;

	if (info->obstacle != JVM_ATTACHABLE)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	info->obstacle = which;
	(void)utf8_sanitize(info->reason, sizeof(info->reason), text);
}

/* ---------------------------------------------------------------- what it is */

static void describe_user(struct jvm_info *info)
{
	struct passwd entry, *found = NULL;
	char text[PASSWD_BYTES];

	if (getpwuid_r(info->euid, &entry, text, sizeof(text), &found) == 0 && found)
		(void)utf8_sanitize(info->user, sizeof(info->user), entry.pw_name);
	else
		(void)snprintf(info->user, sizeof(info->user), "%u", info->euid);
}

static void describe_container(struct jvm_info *info)
{
	char path[PATH_BYTES], text[SMALL_FILE_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", info->pid);
	if (proc_read(path, text, sizeof(text)) > 0)
		jvm_text_container(info->container, text);
}

static bool same_mount_namespace(pid_t pid)
{
	struct stat ours, theirs;
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* *owned: by its user. */
static bool attach_socket_exists(const struct jvm_info *info, const struct jvm_view *v, bool *owned)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_BYTES];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/tmp/.java_pid%d", info->namespace_pid);
	jvm_step(v->step, "its file '%s'", path);
	fd = target_fs_open(&v->root, path, O_PATH | O_NOFOLLOW);
	*owned = false;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	*owned = st.st_uid == info->euid;
	return true;
}

static bool owned_by(uid_t uid, const struct jvm_view *v, const char *path, mode_t type)
{
	_cleanup_close_ int fd = target_fs_open(&v->root, path, O_PATH | O_NOFOLLOW);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == uid;
}

/* Is what it has mapped /tmp/hsperfdata_USER/PID, with its own pid, file and directory its user's?
 */
static bool owns_perfdata(const struct jvm_info *info, const struct jvm_view *v)
{
	char path[MAPS_PATH_BYTES], pid[16];
	char *slash;

	strcpy(path, v->maps.hsperfdata_path); /* Same size. */
	slash = strrchr(path, '/');
	(void)snprintf(pid, sizeof(pid), "%d", info->namespace_pid);
	if (!slash || strcmp(slash + 1, pid) != 0 ||
	    strncmp(path, PERFDATA_PREFIX, strlen(PERFDATA_PREFIX)) != 0)
		return false;
	jvm_step(v->step, "its file '%s'", path);
	if (!owned_by(info->euid, v, path, S_IFREG))
		return false;
	*slash = '\0';
	return !strchr(path + strlen(PERFDATA_PREFIX), '/') &&
	       owned_by(info->euid, v, path, S_IFDIR);
}

/* A process can name any file on its command line, and what is in it is shown as the application's
 * name. */
static ssize_t read_option_file(void *arg, const char *path, char *text, size_t size)
{
	const struct jvm_view *v = arg;

	jvm_step(v->step, "the file '%s', which its options name", path);
	return target_fs_read(*path == '/' ? &v->root : &v->cwd, path, text, size);
}

/* The JVM's own record of its options, used when it was not cut. It also covers JVMs that another
 * program than the launcher created. An option that contains white space comes out as several. */
static bool flags_from_perfdata(struct jvm_flags *flags, const struct jvm_view *v)
{
	char options[HSPERFDATA_STRING_CUT + 1], file[HSPERFDATA_STRING_CUT + 1] = "";

	if (!jvm_view_counter(v, "java.rt.vmArgs", options, sizeof(options)))
		return false;
	(void)jvm_view_counter(v, "java.rt.vmFlags", file, sizeof(file)); /* "" when absent. */
	if (strlen(options) >= HSPERFDATA_STRING_CUT || strlen(file) >= HSPERFDATA_STRING_CUT)
		return false;
	jvm_flags_add_file(flags, file);
	jvm_flags_add_text(flags, options, NULL);
	return true;
}

/* The options in effect, and the main class as the command line gives it ("" when it does not). */
static void read_options(struct jvm_flags *flags, struct jvm_view *v, char *main, size_t size)
{
	struct jvm_flags_reader reader = {read_option_file, v};
	struct jvm_flags given;

	jvm_flags_init(&given);
	jvm_flags_add_text(&given, jvm_view_environ(v, "JAVA_TOOL_OPTIONS"), &reader);
	main[0] = '\0';
	if (buffer_length(&v->cmdline) > 0)
		jvm_flags_add_cmdline(&given, (const char *)buffer_head(&v->cmdline),
				      buffer_length(&v->cmdline),
				      jvm_view_environ(v, "JDK_JAVA_OPTIONS"), &reader, main, size);
	jvm_flags_add_text(&given, jvm_view_environ(v, "_JAVA_OPTIONS"), &reader);
	jvm_flags_init(flags);
	if (!flags_from_perfdata(flags, v))
		*flags = given;
}

static void describe_name(struct jvm_info *info, const struct jvm_view *v, const char *main)
{
	char command[HSPERFDATA_STRING_CUT + 1] = "";
	const char *name = main;

	/* Only the launcher's own command line has the launcher's syntax. */
	if (!main[0] || strcmp(jvm_view_program(v), "java") != 0) {
		(void)jvm_view_counter(v, "sun.rt.javaCommand", command, sizeof(command));
		command[strcspn(command, " ")] = '\0';
		name = command[0] ? command : jvm_view_program(v);
	}
	(void)utf8_sanitize(info->name, sizeof(info->name), jvm_text_application(name));
}

/* Where an agent has added its own to the class path, only the command line tells of -jar. */
static void describe_jar(struct jvm_info *info, const struct jvm_view *v, const char *main)
{
	char classes[HSPERFDATA_STRING_CUT + 1] = "";
	const char *jar = strcmp(jvm_view_program(v), "java") == 0 ? main : "";

	if (!jvm_text_is_jar(jar) &&
	    jvm_view_counter(v, "java.property.java.class.path", classes, sizeof(classes)) &&
	    strlen(classes) < HSPERFDATA_STRING_CUT && !strchr(classes, ':'))
		jar = classes;
	if (jvm_text_is_jar(jar))
		(void)snprintf(info->jar, sizeof(info->jar), "%s", jar); /* Fits. */
}

static void describe_jdk(struct jvm_info *info, const struct jvm_view *v)
{
	char value[SMALL_FILE_BYTES], path[MAPS_PATH_BYTES + sizeof("/release")];

	if (jvm_view_counter(v, "java.property.java.version", value, sizeof(value)) ||
	    jvm_view_counter(v, "java.property.java.vm.specification.version", value,
			     sizeof(value))) {
		(void)utf8_sanitize(info->jdk, sizeof(info->jdk), value);
		return;
	}
	if (strstr(v->maps.libjvm_path, LIBJVM_BEFORE_JDK_9)) {
		strcpy(info->jdk, "8 or older");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s", v->maps.libjvm_path);
	for (int i = 0; i < LIBJVM_BELOW_HOME; i++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return;
		*slash = '\0';
	}
	strcat(path, "/release");
	jvm_step(v->step, "its file '%s'", path);
	if (target_fs_read(&v->root, path, value, sizeof(value)) > 0)
		jvm_text_release_file(info->jdk, sizeof(info->jdk), value);
}

static void describe_gc(struct jvm_info *info, const struct jvm_view *v,
			const struct jvm_flags *flags)
{
	static const char *const counters[] = {
	    "sun.gc.policy.name",
	    "sun.gc.collector.0.name",
	    "sun.gc.collector.1.name",
	    "sun.gc.collector.2.name",
	};
	const char *gc = jvm_flags_gc(flags);
	char value[64];

	for (size_t i = 0; !gc[0] && i < sizeof(counters) / sizeof(counters[0]); i++)
		if (jvm_view_counter(v, counters[i], value, sizeof(value)))
			gc = jvm_text_collector(value);
	(void)utf8_sanitize(info->gc, sizeof(info->gc), gc);
}

/* ---------------------------------------------------------------- why not */

/* Tells what it takes to become its user and group, and is not there. */
static uint64_t missing_to_become(const struct jvm_info *info)
{
	uint64_t missing = 0;

	if (geteuid() != info->euid)
		missing = CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);
	else if (geteuid() != 0 && getegid() != info->egid) /* A JVM answers root of any group. */
		missing = CAPABILITY(CAP_SETGID);
	return missing & ~capabilities_permitted();
}

/* to: "look into", or "attach to". The kernel asks for the same user and group and no fewer
 * capabilities (ptrace(2), "Ptrace access mode checking"), the JVM for the same user and group
 * (matches_effective_uid_and_gid_or_root in os_posix.cpp). */
static void lack_permission(struct jvm_info *info, const char *to, uint64_t missing, uint64_t more)
{
	char names[CAPABILITIES_TEXT_BYTES], has[CAPABILITIES_TEXT_BYTES];
	char why[ERR_MESSAGE_MAX / 2];
	const char *as = " or as that user";

	if (geteuid() != info->euid) {
		(void)snprintf(why, sizeof(why), " of user '%s'", info->user);
	} else if (getegid() != info->egid) {
		(void)snprintf(why, sizeof(why), " of group %u", info->egid);
		as = " or with that group";
	} else {
		(void)snprintf(why, sizeof(why), "%s%.160s",
			       more ? ", which has more capabilities: " : ", which forbids that",
			       more ? capabilities_text(more, has) : "");
		as = "";
	}
	set_obstacle(info, JVM_NO_PERMISSION,
		     "no permission to %s process %d%s: run jxperfd as root%s, or give it %s", to,
		     info->pid, why, as, capabilities_text(missing, names));
}

/* /proc shows nothing of what it has mapped. */
static void judge_sight(struct jvm_info *info, const struct jvm_view *v)
{
	if (geteuid() == 0)
		set_obstacle(
		    info, JVM_NO_PERMISSION,
		    "no permission to look into process %d of user '%s': run jxperfd as root "
		    "outside of any container, with CAP_SYS_PTRACE",
		    info->pid, info->user);
	else
		lack_permission(info, "look into",
				missing_to_become(info) | CAPABILITY(CAP_SYS_PTRACE),
				v->status.permitted & ~capabilities_permitted());
}

static void judge_rights(struct jvm_info *info)
{
	uint64_t missing = missing_to_become(info);

	if (missing)
		lack_permission(info, "attach to", missing, 0);
}

static void judge_program(struct jvm_info *info, const struct jvm_view *v)
{
	pid_t pid = info->pid;
	char name[PROC_NAME_BYTES];

	(void)proc_name(pid, name); /* "" says enough. */
	jvm_step(v->step, "its program");
	if (v->maps_error == -EACCES || v->maps_error == -EPERM)
		judge_sight(info, v);
	else if (!v->maps.libjvm)
		set_obstacle(info, JVM_NOT_A_JVM,
			     "process %d ('%s') is not a JVM: it has no libjvm.so mapped; see "
			     "'jxperfctl list'",
			     pid, name);
	else if (jvm_view_is_32_bit(pid))
		set_obstacle(info, JVM_32_BIT,
			     "process %d is a 32-bit JVM: only 64-bit ones can be profiled", pid);
	else if (v->maps.arm64)
		set_obstacle(
		    info, JVM_OTHER_PROCESSOR,
		    "process %d is a JVM for arm64 in an emulator: only x86-64 ones can be "
		    "profiled, so run it in an image for amd64",
		    pid);
	else if (v->maps.openj9)
		set_obstacle(info, JVM_NOT_HOTSPOT,
			     "process %d runs OpenJ9: only HotSpot JVMs can be profiled", pid);
	else if (v->maps.musl)
		set_obstacle(
		    info, JVM_OTHER_LIBC,
		    "process %d uses musl as its C library, as on Alpine, and the agent needs "
		    "glibc: run the JVM in an image with glibc to profile it",
		    pid);
}

static void judge_jvm(struct jvm_info *info, const struct jvm_flags *flags,
		      const struct proc_status *status)
{
	int release = jvm_text_release(info->jdk);
	pid_t pid = info->pid;

	if (release && release < JVM_OLDEST_RELEASE)
		set_obstacle(info, JVM_TOO_OLD,
			     "process %d runs JDK %s: the agent needs JDK %d or newer", pid,
			     info->jdk, JVM_OLDEST_RELEASE);
	if (release >= JVM_UNREAD_FIRST && release <= JVM_UNREAD_LAST)
		set_obstacle(info, JVM_UNREAD_RELEASE,
			     "process %d runs JDK %s, whose debug information the agent cannot "
			     "read: JDK %d or older, or %d or newer, is needed",
			     pid, info->jdk, JVM_UNREAD_FIRST - 1, JVM_UNREAD_LAST + 1);
	if (jvm_flags_attach_disabled(flags))
		set_obstacle(info, JVM_ATTACH_DISABLED,
			     "process %d was started with -XX:+DisableAttachMechanism: restart it "
			     "without to profile it",
			     pid);
	if (jvm_flags_dynamic_loading_disabled(flags))
		set_obstacle(
		    info, JVM_DYNAMIC_LOADING_DISABLED,
		    "process %d was started with -XX:-EnableDynamicAgentLoading: restart it "
		    "without to profile it",
		    pid);
	judge_rights(info);
	if (status->state == 'T')
		set_obstacle(
		    info, JVM_STOPPED,
		    "process %d is stopped and could not answer: continue it with 'kill -CONT "
		    "%d'",
		    pid, pid);
	if (!info->socket_exists && !proc_catches_signal(status, SIGQUIT))
		set_obstacle(
		    info, JVM_SIGQUIT_NOT_CAUGHT,
		    "process %d has no attach socket '/tmp/.java_pid%d' and does not catch "
		    "SIGQUIT, "
		    "which would make it open one: it is still starting (try again), or runs with "
		    "-Xrs and its socket was deleted (restart it)",
		    pid, info->namespace_pid);
}

/* ---------------------------------------------------------------- its agent */

/* Where we may not read its memory (ptrace(2) forbids it to the same user on some systems), the
 * file tells as long as it is the one that was loaded. */
static void read_agent(struct jvm_info *info, const struct jvm_view *v)
{
	char head[AGENT_HEAD_BYTES + 1];
	ssize_t n;

	if (!v->maps.agent_path[0])
		return;
	(void)snprintf(info->agent_path, sizeof(info->agent_path), "%s", v->maps.agent_path);
	jvm_step(v->step, "its file '%s'", v->maps.agent_path);
	if (!v->maps.agent_start ||
	    !agent_identity_read(&info->agent, info->pid, v->maps.agent_start)) {
		n = v->maps.agent_deleted
			? -ENOENT
			: target_fs_read(&v->root, v->maps.agent_path, head, sizeof(head));
		if (n < 0)
			return;
		agent_identity_parse(&info->agent, (const uint8_t *)head, (size_t)n);
	}
	strcpy(info->agent_version,
	       info->agent.note.version[0] ? info->agent.note.version : AGENT_VERSION_UNTOLD);
}

static void judge_agent(struct jvm_info *info)
{
	const struct agent_note *note = &info->agent.note;

	if (note->version[0] && !protocol_is_spoken(note->protocol))
		set_obstacle(info, JVM_AGENT_NOT_SPOKEN_WITH,
			     "process %d has the agent of jxperf %s loaded, which speaks protocol "
			     "%u, and this is jxperf %s, which speaks %u to %u: restart the JVM, "
			     "or use that version",
			     info->pid, note->version, note->protocol, JXPERF_VERSION,
			     PROTOCOL_OLDEST, PROTOCOL_VERSION);
}

/* ---------------------------------------------------------------- */

static void fill(struct jvm_info *info, struct jvm_view *v)
{
	struct jvm_flags flags;
	char main[PATH_MAX];
	char name[PROC_NAME_BYTES];
	bool socket_owned;

	jvm_step(v->step, "the name of user %u", info->euid);
	describe_user(info);
	judge_program(info, v);
	(void)proc_name(info->pid, name); /* As above. */
	(void)utf8_sanitize(info->name, sizeof(info->name),
			    jvm_view_program(v)[0] ? jvm_view_program(v) : name);
	if (info->obstacle == JVM_NOT_A_JVM)
		return;
	describe_container(info);
	info->same_mount_namespace = same_mount_namespace(info->pid);
	jvm_view_read_jvm(v);
	read_options(&flags, v, main, sizeof(main));
	describe_name(info, v, main);
	describe_jar(info, v, main);
	if (info->obstacle == JVM_NO_PERMISSION)
		return;
	describe_jdk(info, v);
	describe_gc(info, v, &flags);
	info->interpreted_only = jvm_flags_interpreted_only(&flags);
	info->socket_exists = attach_socket_exists(info, v, &socket_owned);
	info->vouched = socket_owned || owns_perfdata(info, v);
	read_agent(info, v);
	judge_jvm(info, &flags, &v->status);
	judge_agent(info);
}

int jvm_outline(pid_t pid, struct jvm_info *out)
{
	struct proc_status status;
	char name[PROC_NAME_BYTES];

	if (proc_read_status(pid, 0, &status) < 0)
		return -ESRCH;
	memset(out, 0, sizeof(*out));
	out->pid = pid;
	out->euid = status.effective_uid;
	out->egid = status.effective_gid;
	describe_user(out);
	(void)proc_name(pid, name); /* "" says enough. */
	(void)utf8_sanitize(out->name, sizeof(out->name), name);
	return 0;
}

int jvm_inspect(pid_t pid, uid_t owner, struct jvm_info *out, struct err *err)
{
	return jvm_inspect_steps(pid, owner, NULL, out, err);
}

/* Looks at a process that may be looked at. */
static int inspect(struct jvm_info *info, struct jvm_view *v, struct err *err)
{
	const struct proc_status *status = &v->status;

	if (status->namespace_tid != status->namespace_tgid)
		return err_set(err, ESRCH, "%d is a thread, not a process; see 'jxperfctl list'",
			       v->pid);
	if (status->state == 'Z' || status->state == 'X')
		return err_set(err, ESRCH, "process %d has ended", v->pid);
	info->pid = v->pid;
	info->start_ticks = v->start_ticks;
	info->namespace_pid = status->namespace_tgid;
	info->euid = status->effective_uid;
	info->egid = status->effective_gid;
	info->one_uid = status->one_uid;
	fill(info, v);
	return jvm_view_holds(v)
		   ? 0
		   : err_set(err, ESRCH, "process %d has ended, or changed its user", v->pid);
}

int jvm_inspect_steps(pid_t pid, uid_t owner, char *step, struct jvm_info *out, struct err *err)
{
	_cleanup_free_ struct jvm_info *info = NULL;
	struct jvm_view view;
	int r;

	if (pid <= 0)
		return err_set(err, EINVAL, "'%d' is not a process id", pid);
	info = calloc(1, sizeof(*info));
	if (!info)
		return err_set(err, ENOMEM, "out of memory");
	r = jvm_view_open(&view, pid, owner, step);
	if (r == -ENOENT)
		r = proc_absent(pid, err);
	else if (r < 0)
		r = err_set_errno(err, -r, "cannot read '/proc/%d/status'", pid);
	else
		r = inspect(info, &view, err);
	jvm_view_release(&view);
	if (r == 0)
		*out = *info;
	return r;
}

bool jvm_is_unchanged(const struct jvm_info *info)
{
	const struct proc_status status = {
	    .effective_uid = info->euid, .effective_gid = info->egid, .one_uid = info->one_uid};

	return proc_is_unchanged(info->pid, info->start_ticks, &status);
}

bool jvm_is_listed(const struct jvm_info *info)
{
	char name[PROC_NAME_BYTES];

	if (info->obstacle != JVM_NO_PERMISSION)
		return info->obstacle != JVM_NOT_A_JVM;
	(void)proc_name(info->pid, name); /* As above. */
	return strcmp(name, "java") == 0;
}
