/*
 * The result of jxperf-attach, the exec'd attach helper.
 *
 *   jxperf-attach --pid PID [--owner UID] --bundle DIR [--agent-path PATH] [--timeout-ms N]
 *                 [--result-fd FD] [--probe|--force]
 *
 * With --result-fd (a connected SOCK_SEQPACKET) the helper sends one struct attach_result when it
 * is done, with the agent's connected socket attached (SCM_RIGHTS) on success, and exits 0. Without
 * it the outcome is printed, for use by hand. It never outlives its deadline.
 *
 * With --owner it attaches only to a process of that user and of no other (-1: of any).
 *
 * With --probe it asks the JVM for nothing: it connects to the attach socket, or makes the file by
 * which it would ask for one, and leaves again; the result's message says where socket and agent
 * would go, and no descriptor comes with it. With --force it attaches also where there may not be
 * room in the target for what the agent takes (attach/process/headroom.h).
 */
#ifndef JXPERF_PROTO_HELPER_H
#define JXPERF_PROTO_HELPER_H

#include <stdint.h>

#include "common/err.h"

#define ATTACH_NAME_BYTES 256

/* Where the agent is. Texts of the caller's. */
struct agent_files {
	const char *bundle_dir; /* here: with the helper, and the libraries that it needs */
	const char *image_path; /* its library where images of containers may have it, or "" */
};

struct attach_result {
	int32_t error; /* 0, or an errno value above 0 */
	char message[ERR_MESSAGE_MAX];
	char name[ATTACH_NAME_BYTES]; /* what `list` calls the target, or "" */
	int32_t unasked; /* with --probe and an error: the JVM cannot be asked at all */
};

/* How long an attach may take: unless that is said, and where more threads want to run than there
 * are processors while the target makes progress, as long as the second. */
#define ATTACH_TIMEOUT_MS_DEFAULT    10000
#define ATTACH_TIMEOUT_MS_OVERLOADED 25000

/* So much may be said. */
#define ATTACH_TIMEOUT_MS_MIN 1000
#define ATTACH_TIMEOUT_MS_MAX 600000

/* The one option handed to Agent_OnAttach: "socket=PATH", PATH as the target sees it. */
#define ATTACH_OPTION_SOCKET "socket="

/* The agent's thread is called so, for those who look at the JVM's threads: 15 characters at most.
 */
#define AGENT_THREAD_NAME "jxperf agent"

/* File name of the agent inside the bundle directory; its libraries lie beside it. */
#define AGENT_LIBRARY "libjxperf-agent.so"

/* Agent_OnAttach returns one of these (the JVM reports it in its reply to "load"). */
enum agent_on_attach {
	AGENT_OK = 0,
	AGENT_BUSY = 101,         /* another session is active in this JVM */
	AGENT_BAD_OPTIONS = 102,  /* no socket option, or a path too long */
	AGENT_UNSUPPORTED = 103,  /* the JVM exports no vmStructs */
	AGENT_NO_RESOURCES = 104, /* memory or a thread could not be had */
	AGENT_TOO_EARLY = 105,    /* the JVM is still starting, or ending */
	AGENT_NO_CLIENT = 106,    /* nobody listens on the socket: who asked has given up */
	AGENT_LEAVING = 107, /* the last session's client is gone, and the session about to end */
};

#endif
