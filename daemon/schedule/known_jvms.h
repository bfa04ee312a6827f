/*
 * The JVMs that the planner knows, each with its plans: at most KNOWN_JVMS_MAX. Where there are
 * more, those that schedules match come first, then those of users who have fewest
 * (daemon/shares/shares.h). One that a schedule matches and that has no place is counted.
 *
 * A pointer to a JVM holds until the next that is added or forgotten.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_KNOWN_JVMS_H
#define JXPERF_DAEMON_SCHEDULE_KNOWN_JVMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/schedule/plan.h"
#include "daemon/shares/shares.h"
#include "proto/agent_note.h"

#define KNOWN_JVMS_MAX 1024

/* Names of applications and schedules are at most so long, with a NUL (fleet/config). */
#define PLANNER_NAME_BYTES   64
#define PLANNER_WINDOW_BYTES 16

/* "4194304:18446744073709551615" */
#define KNOWN_JVM_IDENTITY_BYTES 32

struct known_jvm {
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid, first_uid; /* now, and when it came: whose share it is of */
	char identity[KNOWN_JVM_IDENTITY_BYTES];
	char app[PLANNER_NAME_BYTES];
	char version[PLANNER_NAME_BYTES]; /* of the application, or "" */
	uint64_t age_ns;
	double cpu_share;
	double collector_share;
	enum miss refused;
	bool unnamed; /* by the rules in force */
	bool matches; /* a schedule */
	bool found;   /* in this round */
	char agent_version[AGENT_VERSION_BYTES];
	char last_window[PLANNER_WINDOW_BYTES];
	struct plan *plans; /* one for each schedule; owned */
};

struct known_jvms {
	struct known_jvm *rows;
	size_t count;
	struct shares owners; /* how many of them are whose */
	uint64_t over_limit;  /* that a schedule matched and that had no place, so far */
};

/* 0 or -ENOMEM. */
int known_jvms_init(struct known_jvms *jvms);

/* All zero is safe. */
void known_jvms_release(struct known_jvms *jvms);

/* NULL without that one. */
struct known_jvm *known_jvms_find(const struct known_jvms *jvms, pid_t pid, uint64_t start_ticks);

/* The one that has the pid, or NULL. */
struct known_jvm *known_jvms_of_pid(const struct known_jvms *jvms, pid_t pid);

/* One more, with so many plans, all zero. matches: some schedule matches it. NULL where there is no
 * room for it, or no memory. */
struct known_jvm *known_jvms_add(struct known_jvms *jvms, pid_t pid, uint64_t start_ticks,
				 uid_t uid, bool matches, size_t plans);

/* Forgets those that were not found in this round. */
void known_jvms_forget_unfound(struct known_jvms *jvms);

/* Forgets the one that has the pid, if it is known. */
void known_jvms_forget(struct known_jvms *jvms, pid_t pid);

#endif
