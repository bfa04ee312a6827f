/*
 * Looking at many processes, any of which may keep who looks waiting for ever (jvm_inspect_steps),
 * in a way that not even SIGKILL ends: on a file system that does not answer, or for the lock of an
 * address space.
 *
 * So it is done in children. One does it all as long as every process answers; one that has not
 * come back after LOOK_PATIENCE_MS gets company, and after the deadline it is given up: killed if
 * it can be, else left behind. What is left behind says, by its name, which process it waits for
 * ("jxlook PID"), so that the next look at that process does not leave another behind. How many may
 * be left behind is bounded: LOOK_HANGING_PER_USER for the processes of one user, whose others are
 * then not looked at, and LOOK_HANGING_MAX in all.
 *
 * The caller has one thread, and no descriptor or memory that a child that is left behind must not
 * keep: children close all descriptors but their socket. Answers come in the order of time.
 */
#ifndef JXPERF_DAEMON_CHILD_LOOK_H
#define JXPERF_DAEMON_CHILD_LOOK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

#define LOOK_PATIENCE_MS      100
#define LOOK_HANGING_PER_USER 4
#define LOOK_HANGING_MAX      64
#define LOOK_ANSWER_BYTES     (64u << 10)

struct look_task {
	/* In a child: looks at pid and writes its answer. Writes the name of what may hang to step
	 * (JVM_STEP_BYTES) before it is touched. Bytes of the answer, 0 for none. */
	size_t (*look)(void *arg, pid_t pid, char *step, uint8_t answer[LOOK_ANSWER_BYTES]);
	/* In the caller: what look gave. size 0: nothing to say. */
	void (*answered)(void *arg, pid_t pid, const uint8_t *answer, size_t size);
	/* In the caller: it does not answer; step is what was being touched. */
	void (*hangs)(void *arg, pid_t pid, const char *step);
	void *arg;
	unsigned deadline_ms; /* for one process */
};

/* Looks at all of them. *passed_over becomes the number of those that were not looked at, because
 * too many others of their users hang. 0; -EAGAIN when LOOK_HANGING_MAX earlier looks still hang;
 * -ENOMEM, -EMFILE...: no child could be started at all. */
int look_at_all(const struct look_task *task, const pid_t *pids, size_t count, size_t *passed_over,
		struct err *err);

#endif
