/*
 * Who else is connected to the attach socket of a JVM: the JVM serves one connection after the
 * other, so what another tool holds keeps all that come later waiting.
 *
 * Read from /proc/PID/net/unix, where sockets have the path that they were bound to. Containers
 * that share a network namespace may have other sockets of that path, which count, too. Waits for
 * nobody. No state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_CONNECTIONS_H
#define JXPERF_ATTACH_PROCESS_CONNECTIONS_H

#include <sys/types.h>

struct connections {
	unsigned served;  /* accepted by who listens */
	unsigned waiting; /* not yet */
};

/* namespace_pid: what the JVM calls itself. What cannot be read counts as none. */
struct connections connections_of(pid_t pid, pid_t namespace_pid);

/* The same of a text like that file's. */
struct connections connections_in(const char *text, pid_t namespace_pid);

#endif
