/*
 * The raw material of one look at a process: texts of /proc/PID and the target's performance data,
 * read once, in memory. What they say of a JVM is for attach/process/jvm.h.
 *
 * Whatever could not be read is empty. The caller owns the storage; jvm_view_release frees it.
 */
#ifndef JXPERF_ATTACH_PROCESS_JVM_VIEW_H
#define JXPERF_ATTACH_PROCESS_JVM_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

#include "attach/process/maps.h"
#include "attach/process/target_fs.h"
#include "common/buffer.h"
#include "common/proc.h"

struct jvm_view {
	pid_t pid;
	char *step;                /* attach/process/jvm_step.h; not owned */
	int maps_error;            /* 0 or the -errno for which maps could not be read */
	struct proc_status status; /* and start: of the process, before anything else was read */
	uint64_t start_ticks;
	struct target_dir root; /* TARGET_DIR_NONE when unreachable */
	struct target_dir cwd;
	struct buffer cmdline; /* as in /proc, NUL-separated; these three are followed by a NUL */
	struct buffer environ;
	struct buffer perfdata;
	struct maps maps;
};

/* Reads whose the process is, its mappings and, where they are a JVM's or hidden, its command line.
 * owner, step: as jvm_inspect_steps. 0, or -errno with nothing read: -ENOENT when there is no such
 * process of the owner's. Released with jvm_view_release in either case. */
int jvm_view_open(struct jvm_view *v, pid_t pid, uid_t owner, char *step);

/* Is it, after all that was read, still the same process, of the same user and group? Where it is
 * not, what was read may be another's. */
bool jvm_view_holds(const struct jvm_view *v);

/* Reads what only JVMs have: environment, root, working directory, performance data. Makes the
 * paths in maps those by which the target itself knows the files, should it have another root. */
void jvm_view_read_jvm(struct jvm_view *v);

void jvm_view_release(struct jvm_view *v);

/* The file of the performance data, opened to be read, if it is one of the JVM's user that no link
 * leads to. A descriptor owned by the caller, or -errno (-ENOENT: there is none). */
int jvm_view_open_perfdata(const struct jvm_view *v);

/* Last component of the program's name, "" when unknown or not read. Lives with v. */
const char *jvm_view_program(const struct jvm_view *v);

/* A string of the performance data; false, with value unchanged, when absent. */
bool jvm_view_counter(const struct jvm_view *v, const char *name, char *value, size_t size);

/* A variable of the environment, "" when absent. Lives with v. */
const char *jvm_view_environ(const struct jvm_view *v, const char *name);

/* The executable is a 32-bit ELF file. False when it cannot be read. */
bool jvm_view_is_32_bit(pid_t pid);

#endif
