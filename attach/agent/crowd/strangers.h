/*
 * The threads of this process that are none of Java's (the JVM's own: compilers, collectors; a
 * library's), and what CPU time they take: it is not to be told where that of Java's goes.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_CROWD_STRANGERS_H
#define JXPERF_AGENT_CROWD_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stranger {
	pid_t tid;
	uint64_t since_ns, cpu_ns; /* its clock when it was met first, and now */
};

/* Zeroed is empty: nobody is known. */
struct strangers {
	struct stranger *threads;
	size_t count, capacity;
	uint64_t ended_ns;  /* of those that have ended */
	uint64_t listed_ns; /* when the process's threads were listed last, monotonic; 0: never */
};

void strangers_release(struct strangers *s);

/* Reads the clocks of those that are known; now and then it is looked who else there is, and who
 * has turned out to be Java's. What cannot be noted for want of memory is missing. */
void strangers_look(struct strangers *s, bool (*is_java)(void *arg, pid_t tid), void *arg);

/* CPU time of all of them since they were met, as far as the last look. */
uint64_t strangers_ns(const struct strangers *s);

#endif
