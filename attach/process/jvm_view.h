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
#include "common/buffer.h"

struct jvm_view {
	pid_t pid;
	char *step;     /* attach/process/jvm_step.h; not owned */
	int maps_error; /* 0 or the -errno for which maps could not be read */
	int root_fd;    /* O_PATH, -1 when unreachable */
	int cwd_fd;
	struct buffer cmdline; /* as in /proc, NUL-separated; these three are followed by a NUL */
	struct buffer environ;
	struct buffer perfdata;
	struct maps maps;
};

/* Reads the mappings and, where they are a JVM's or hidden, the command line. Never fails: see
 * above. step: as jvm_inspect_steps. */
void jvm_view_open(struct jvm_view *v, pid_t pid, char *step);

/* Reads what only JVMs have: environment, root, working directory, performance data. Makes the
 * paths in maps those by which the target itself knows the files, should it have another root. */
void jvm_view_read_jvm(struct jvm_view *v);

void jvm_view_release(struct jvm_view *v);

/* Last component of the program's name, "" when unknown or not read. Lives with v. */
const char *jvm_view_program(const struct jvm_view *v);

/* A string of the performance data; false, with value unchanged, when absent. */
bool jvm_view_counter(const struct jvm_view *v, const char *name, char *value, size_t size);

/* A variable of the environment, "" when absent. Lives with v. */
const char *jvm_view_environ(const struct jvm_view *v, const char *name);

/* The executable is a 32-bit ELF file. False when it cannot be read. */
bool jvm_view_is_32_bit(pid_t pid);

#endif
