/*
 * The conversation with one injected agent, from its hello to its end, and the window it feeds.
 *
 *   HELLO ──AgentHello──▶ RUNNING ──session_stop / duration over──▶ STOPPING
 *                            └───────────────────WindowEnded─────────────┴──▶ LEAVING ──end──▶
 * ended
 *
 * The agent closes its socket as the last thing it does; whoever hears of the end before that could
 * not attach again at once.
 *
 * Every step has a deadline. Whatever ends the conversation otherwise (end of stream, a malformed
 * frame, a deadline, a full queue) ends the window early, with the reason and with everything that
 * had arrived. Closing the socket makes the agent disarm and leave, so session_free is always
 * enough to stop profiling the target.
 *
 * Loop thread only. The session borrows its window, which must outlive it, and ends it (window_end)
 * before it calls ended. ended runs once, never from inside a call made here; the owner then frees
 * the session.
 */
#ifndef JXPERF_DAEMON_ENGINE_SESSION_H
#define JXPERF_DAEMON_ENGINE_SESSION_H

#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/profile/thread_table.h"
#include "daemon/window/window.h"

#define SESSION_HELLO_TIMEOUT_MS 5000
/* From WindowStop to WindowEnded: the agent disarms every thread and drains its rings. */
#define SESSION_STOP_TIMEOUT_MS 10000
/* From WindowEnded to the end of the stream: the agent gives its memory back. */
#define SESSION_LEAVE_TIMEOUT_MS 1000

struct session;

struct session_callbacks {
	void *arg;
	/* The agent said hello and was told to start. */
	void (*started)(void *arg);
	/* A batch was applied to the window. */
	void (*progressed)(void *arg);
	/* Open events for a thread; the answer, now or later, is session_perf_opened. At most one
	 * such question is open at a time. */
	void (*perf_open)(void *arg, const Jxp__PerfOpenRequest *request);
	void (*ended)(void *arg);
};

/* Talks to the agent on socket fd, which the session owns on success. 0 or -errno. */
int session_new(struct session **out, uv_loop_t *loop, int fd, struct window *window,
		const struct session_callbacks *callbacks, struct err *err);

/* Has the agent be given a BPF program with its orders, to put on its sampling events; the session
 * owns it. Before the loop runs again. */
void session_set_gate(struct session *s, int program_fd);

/* Closes everything. No callback runs afterwards. free(NULL) is safe. */
void session_free(struct session *s);

/* Ends the window; ended follows within SESSION_STOP_TIMEOUT_MS. reason NULL: as planned. Only the
 * first call counts. */
void session_stop(struct session *s, const char *reason);

/* Has the agent track no more objects while the window goes on. */
void session_stop_objects(struct session *s);

/* What the agent said of its threads; none once the window is over. */
const struct thread_table *session_threads(const struct session *s);

/* Answers the open perf_open question: count descriptors, which the session owns from here on, or
 * an errno value above 0. */
void session_perf_opened(struct session *s, uint32_t tid, int error, const int *fds, size_t count);

#endif
