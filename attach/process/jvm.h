/*
 * Tells what a JVM process looks like from outside, and whether it can be attached to.
 *
 * Only reads: nothing is sent to the process, in particular no signal, since SIGQUIT makes a JVM
 * whose attach mechanism is off print a thread dump and ends a process that does not catch it.
 * Everything is read from /proc and, through /proc/PID/root and with its user's rights, from the
 * target's files; none of it is trusted. Keeps no state; any thread may call. Takes about a
 * millisecond a JVM, or for ever where a file system does not answer.
 */
#ifndef JXPERF_ATTACH_PROCESS_JVM_H
#define JXPERF_ATTACH_PROCESS_JVM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/process/agent_note.h"
#include "attach/process/jvm_text.h"
#include "common/err.h"

/* Oldest JDK whose code heaps and tables the agent reads. */
#define JVM_OLDEST_RELEASE 11

/* Their debug information lies in a way of its own, which the agent does not read. */
#define JVM_UNREAD_FIRST 23
#define JVM_UNREAD_LAST  24

/* Why a process cannot be attached to. */
enum jvm_obstacle {
	JVM_ATTACHABLE,
	JVM_NOT_A_JVM,     /* no libjvm.so mapped */
	JVM_NO_PERMISSION, /* another user's, and we are not root */
	JVM_32_BIT,
	JVM_NOT_HOTSPOT,              /* OpenJ9 */
	JVM_OTHER_LIBC,               /* musl, as on Alpine */
	JVM_TOO_OLD,                  /* before JVM_OLDEST_RELEASE */
	JVM_UNREAD_RELEASE,           /* JVM_UNREAD_FIRST to JVM_UNREAD_LAST */
	JVM_ATTACH_DISABLED,          /* -XX:+DisableAttachMechanism */
	JVM_DYNAMIC_LOADING_DISABLED, /* -XX:-EnableDynamicAgentLoading */
	JVM_STOPPED,                  /* SIGSTOP or a debugger: it could not answer */
	JVM_SIGQUIT_NOT_CAUGHT,       /* still starting, or -Xrs, and no attach socket */
	JVM_OTHER_PROCESSOR,          /* an emulator runs it */
	JVM_AGENT_NOT_SPOKEN_WITH,    /* it has an agent of a protocol that we do not speak */
};

struct jvm_info {
	pid_t pid;
	pid_t namespace_pid;  /* innermost: what the JVM calls itself */
	uint64_t start_ticks; /* with pid, an identity that reuse cannot forge */
	uid_t euid;
	gid_t egid;
	bool one_uid;                        /* as in struct proc_status */
	char user[64];                       /* name, or number when it has none here */
	char container[JVM_CONTAINER_BYTES]; /* "" outside of one */
	char name[256];                      /* main class, jar or module */
	/* The application's jar as the JVM names it, from its working directory: that of -jar, or
	 * the class path where that is one jar. "" for others: of a longer class path nothing says
	 * which is the application, and the launcher lists a directory's jars in any order. */
	char jar[PATH_MAX];
	char jdk[64];          /* "17.0.15", "" when unknown */
	char gc[16];           /* as in AgentHello.gc, "" when unknown */
	bool interpreted_only; /* -Xint */
	bool same_mount_namespace;
	bool socket_exists; /* the JVM has created its attach socket: no signal is needed */
	/* Files of its own show that it is the JVM that it says it is: it has mapped its
	 * performance data, or there is its attach socket, in its own /tmp, with its pid, owned by
	 * its user. Any program can map a file called libjvm.so and choose its command line. */
	bool vouched;
	char agent_path[PATH_MAX]; /* where our agent was loaded from, "" when it never was */
	/* Which agent that is, by its own word; "" or AGENT_VERSION_UNTOLD are such, too. Not asked
	 * where something else forbids to attach. */
	char agent_version[AGENT_VERSION_BYTES];
	struct agent_identity agent;
	enum jvm_obstacle obstacle;
	char reason[ERR_MESSAGE_MAX]; /* the obstacle in words, and what to do; "" without one */
};

/* 0 when pid is a live process, whatever out->obstacle says; -ESRCH when it is not, or not owner's
 * (of nobody else; PROC_ANY_UID: whoever's), or another's once all was read; -EACCES when /proc
 * shows nothing of it; other -errno. out is unchanged on failure. */
int jvm_inspect(pid_t pid, uid_t owner, struct jvm_info *out, struct err *err);

/* The same for who may have to give up: a target can keep us waiting for ever, by a file system
 * that does not answer (its own, FUSE, or a network's) on which files lie that it names or has
 * mapped, or by holding the lock of its address space; sometimes so that not even SIGKILL ends the
 * wait. Before each thing that may hang, its name goes to step (attach/process/jvm_step.h, may be
 * NULL). Control characters of the target may be in it. */
int jvm_inspect_steps(pid_t pid, uid_t owner, char *step, struct jvm_info *out, struct err *err);

/* Is it still that process, of that user and group? To be asked behind whatever else is read of it.
 */
bool jvm_is_unchanged(const struct jvm_info *info);

/* The errno value that stands for an obstacle (0 for JVM_ATTACHABLE), one word that names it
 * ("stopped") for lists. Static text. */
int jvm_obstacle_errno(enum jvm_obstacle obstacle);
const char *jvm_obstacle_name(enum jvm_obstacle obstacle);

/* Tells what can be told of any process without waiting for it: pid, ids, user, and as its name
 * that of its first thread. 0, or -ESRCH; out is unchanged on failure. */
int jvm_outline(pid_t pid, struct jvm_info *out);

/* Is it to be listed among JVMs? Other users' processes that cannot be looked into are when their
 * program is called java. */
bool jvm_is_listed(const struct jvm_info *info);

#endif
