/*
 * The wire to one injected agent: its frames decoded, ours encoded, and its questions about events
 * put one at a time. What a frame means for the window, and when which may come, is the owner's
 * matter (daemon/engine/run.h).
 *
 * Loop thread only. Whatever goes wrong is told once by ended or broken; the owner then closes the
 * conversation, which closes the socket, and that makes the agent disarm and leave.
 */
#ifndef JXPERF_DAEMON_ENGINE_CONVERSATION_H
#define JXPERF_DAEMON_ENGINE_CONVERSATION_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"
#include "proto/loop_plan.h"

struct conversation;

struct conversation_callbacks {
	void *arg;
	/* frame lives until the callback returns. */
	void (*frame)(void *arg, const Jxp__AgentFrame *frame);
	/* Open events for a thread; the answer, now or later, is conversation_answer. At most one
	 * such question is open at a time. */
	void (*question)(void *arg, const Jxp__PerfOpenRequest *request);
	/* Nothing more will come, and why; NULL: the agent closed its end. From the loop. */
	void (*ended)(void *arg, const char *reason);
	/* Something could not be sent, and why. Also from inside a call made here. */
	void (*broken)(void *arg, const char *reason);
};

/* Talks to the agent on socket fd, which is owned here on success. Questions that are answered
 * without being put, because the agent invents threads, are counted in *unasked. 0 or -errno. */
int conversation_new(struct conversation **out, uv_loop_t *loop, int fd, uint64_t *unasked,
		     const struct conversation_callbacks *callbacks, struct err *err);

/* Closes the socket. No callback runs afterwards, and what is sent goes nowhere. Any number of
 * times, also from inside callbacks; close(NULL) is safe. */
void conversation_close(struct conversation *c);

/* Closes, and frees; not from inside a callback. free(NULL) is safe. */
void conversation_free(struct conversation *c);

/* Each sends one frame: 0, or negative after broken was called. A hello says the protocol that is
 * spoken from here on; refusal is "" or says why the agent is sent away. The start carries what w
 * asks for; it takes *gate, the BPF program for the sampling events, unless that is -1. */
int conversation_send_hello(struct conversation *c, uint32_t protocol, const char *refusal);
int conversation_send_start(struct conversation *c, const struct window_result *w,
			    uint64_t deadline_ns, int *gate);
int conversation_send_stop(struct conversation *c);
int conversation_send_stop_objects(struct conversation *c);
/* accessed_bytes: see ObjectsMet. */
int conversation_send_objects_met(struct conversation *c, uint64_t accesses, uint64_t met,
				  uint64_t accessed_bytes);
/* code, or 0 and the agent's id of a method. */
int conversation_send_code_request(struct conversation *c, uint64_t code, uint32_t method);
/* All that is wanted of loops from now on. */
int conversation_send_loop_plans(struct conversation *c, const struct loop_plan *plans,
				 size_t count);

/* Has a question of the agent's put, after those before it. 0; -ENOBUFS for one too many, or
 * -ENOMEM. */
int conversation_ask(struct conversation *c, const Jxp__PerfOpenRequest *request);

/* Answers the open question: count descriptors, which are owned here from now on, or an errno value
 * above 0. */
void conversation_answer(struct conversation *c, uint32_t tid, int error, const int *fds,
			 size_t count);

#endif
