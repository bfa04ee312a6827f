/*
 * Facts about processes, read from /proc. All input is treated as untrusted text; nothing here
 * keeps state, any thread may call.
 */
#ifndef JXPERF_COMMON_PROC_H
#define JXPERF_COMMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* In place of a user whose processes are meant: anybody's. No process has it (the kernel's
 * INVALID_UID). */
#define PROC_ANY_UID ((uid_t)-1)

/* /proc/PID/status says this (fs/proc/array.c). uids and gids are in the reader's user namespace.
 */
struct proc_status {
	uid_t effective_uid;
	/* Real and saved uid are the same, so it cannot become another user, as a process can that
	 * root has started and that is somebody else for a while. */
	bool one_uid;
	gid_t effective_gid;
	pid_t namespace_tgid;     /* innermost NStgid: the pid the process has for itself */
	pid_t namespace_tid;      /* innermost NSpid: likewise of the thread */
	bool in_our_namespace;    /* of pids: the two are the numbers that we know it by */
	uint64_t caught_signals;  /* SigCgt, bit N-1 for signal N */
	uint64_t pending_signals; /* SigPnd and ShdPnd: of the thread, and of any in its process */
	uint64_t permitted;       /* CapPrm, bit N for capability N */
	char state; /* 'R' running or ready to, 'S' sleeping, ... (proc_pid_status(5)) */
};

/* Reads a small /proc file whole into buffer, NUL-terminated; longer content is cut at size - 1.
 * Returns the bytes read or -errno. */
ssize_t proc_read(const char *path, char *buffer, size_t size);

/* CPU time that this process has used itself. */
uint64_t proc_self_cpu_ns(void);

/* CPU time that this process has used, and its children that were waited for, and theirs. */
uint64_t proc_own_cpu_ns(void);

/* Are more threads ready to run, at this moment, than there are processors? False where that cannot
 * be read. */
bool proc_machine_is_busy(void);

/* tid 0: the process; otherwise one thread of it. 0 or -errno (-ENOENT: gone; -EPROTO: not as
 * documented); out is unchanged on failure. */
int proc_read_status(pid_t pid, pid_t tid, struct proc_status *out);

static inline bool proc_catches_signal(const struct proc_status *s, int signal)
{
	return s->caught_signals & (UINT64_C(1) << (signal - 1));
}

/* Are the numbers in /proc those that this process knows processes by? Where it is in another pid
 * namespace than the one that /proc was mounted in, they are not: what is read of one process would
 * be done to another. Asked by each program before it reads, opens or signals anything by number. 0
 * or -ESRCH. */
int proc_check_numbers(struct err *err);

/* Is a seccomp filter on this process (mode 2 in /proc/self/status)? Its action on a forbidden
 * system call may be to kill. True when it cannot be told. */
bool proc_self_has_seccomp_filter(void);

/* Which process, which program in it, and as whom: exec(2) keeps the pid and the start time, but
 * may run a program that its caller has no rights over. */
struct proc_identity {
	uint64_t start_ticks;
	dev_t program_device; /* and inode: of /proc/PID/exe, 0 where we may not see it */
	ino_t program_inode;
	uid_t effective_uid;
	bool one_uid; /* as in struct proc_status */
};

/* Whose it is: its user, or PROC_ANY_UID where it has more than one. */
static inline uid_t proc_owner(const struct proc_identity *i)
{
	return i->one_uid ? i->effective_uid : PROC_ANY_UID;
}

/* The one answer for a pid that no process has, and for one whose process is none of who asks:
 * -ESRCH. */
int proc_absent(pid_t pid, struct err *err);

/* Does a process with that status belong to this user and to no other? owner may be PROC_ANY_UID:
 * then any will do. */
bool proc_is_owner(const struct proc_status *status, uid_t owner);

/* Is the pid still that of the process that started then, with the user and group that status says?
 * Waits for nobody. */
bool proc_is_unchanged(pid_t pid, uint64_t start_ticks, const struct proc_status *status);

/* Is it a process of this user and of no other (one_uid), as far as the kernel says now? owner may
 * be PROC_ANY_UID: then of any. 0, or proc_absent. Waits for nobody. */
int proc_check_owner(pid_t pid, uid_t owner, struct err *err);

/* 0, or -errno when there is no such process. Asks the file system of its program, which may not
 * answer. */
int proc_identify(pid_t pid, struct proc_identity *out);

/* Is one pid the same process, with the same program and rights? */
bool proc_identity_equal(const struct proc_identity *a, const struct proc_identity *b);

/* Tells what the process's first thread is called, without asking anybody but the kernel: that of
 * its program unless it says otherwise. 0, or -errno with "" as the name. */
#define PROC_NAME_BYTES 32
int proc_name(pid_t pid, char name[PROC_NAME_BYTES]);

/* The pids of all processes, ascending, at most PROC_PIDS_MAX, to be freed. 0 or -errno. */
#define PROC_PIDS_MAX 65536
int proc_pids(pid_t **out, size_t *count);

/* Start time of a process in clock ticks since boot (/proc/PID/stat field 22): with the pid, an
 * identity that reuse cannot forge. 0 or -errno. */
int proc_start_time(pid_t pid, uint64_t *ticks);

/* How many threads it has. 0 or -errno. Waits for nobody. */
int proc_thread_count(pid_t pid, unsigned *count);

/* CPU time that it has used in all its threads, also those that have ended. 0 or -errno. */
int proc_cpu_time(pid_t pid, uint64_t *ns);

/* Its process group. 0 or -errno. */
int proc_group(pid_t pid, pid_t *group);

/* The first of pid's threads, by the host's numbers, that is wanted; -ESRCH when none is, or
 * another -errno. */
typedef bool proc_thread_fn(pid_t pid, pid_t tid, const void *arg);
pid_t proc_search_threads(pid_t pid, proc_thread_fn *is_wanted, const void *arg);

/* The host's tid of the thread of pid whose innermost namespace tid is given; -ESRCH when there is
 * none. */
pid_t proc_find_thread(pid_t pid, pid_t namespace_tid);

/* The path of what is installed with the running program, by its place as seen from the program's
 * directory ("../lib/jxperf"). 0, -ENAMETOOLONG, or what reading /proc says. */
int proc_beside_self(char *path, size_t size, const char *place);

#endif
