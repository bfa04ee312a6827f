/*
 * Reports, written beside the loop: the report of a hostile agent's profile takes seconds, and the
 * loop is everybody's.
 *
 * A report is written on libuv's thread pool, from a window that nothing changes: one that is
 * finished, which is kept meanwhile (evicting it from the history does not free it), or a snapshot
 * of one that runs, which the job takes when its turn comes. RENDERS_MAX are written at a time,
 * others wait in order, also while their users do not read what they have been sent. The pool's
 * other threads are for questions to the store.
 *
 * Loop thread only; what runs on the pool is inside. done runs once, from the loop, unless the
 * render was cancelled before. A render that is cancelled while it is written is left to end by
 * itself, soon (report_new_unless); the loop has to run until then.
 */
#ifndef JXPERF_DAEMON_ANSWER_RENDER_H
#define JXPERF_DAEMON_ANSWER_RENDER_H

#include <stdatomic.h>
#include <stddef.h>
#include <uv.h>

#include "common/buffer.h"
#include "common/clock.h"
#include "common/err.h"
#include "profile/window/result.h"
#include "proto/jxperf.pb-c.h"

/* Each may hold a report's text twice, and what it is made from. */
#define RENDERS_MAX 2

/* What was written so long ago counts half when it is asked whose turn it is. */
#define RENDERS_HALVED_NS (10 * NS_PER_S)

/* Replies that clients have not read: of all, of these kept for administrators, and of one user,
 * whose reports are no longer than that. No report is begun for who has as much before him. */
#define RENDERS_UNREAD_MAX_BYTES      ((size_t)96 << 20)
#define RENDERS_UNREAD_RESERVED_BYTES ((size_t)24 << 20)
#define RENDERS_UNREAD_OF_USER_BYTES  ((size_t)16 << 20)

struct renders;
struct render;

/* frame is the whole answer as it travels, a ControlReply with the document; the callee may take it
 * (stream_send_packed). Or NULL with an errno value above 0 in error, and the reason. */
typedef void (*render_done_fn)(void *arg, struct buffer *frame, int error, const char *reason);

/* What is written on the pool. */
struct render_job {
	void *arg;
	/* On the loop, when its turn comes: takes what only the loop may touch. 0, or -errno with a
	 * line, and then nothing is written. */
	int (*begin)(void *arg, struct err *err);
	/* On the pool: a text of at most max_bytes, to be freed, and in *about the window that it
	 * is of, arg's until it is released, or NULL. *cancelled: nobody wants it any more. 0, or
	 * -errno with a line. */
	int (*write)(void *arg, const atomic_bool *cancelled, size_t max_bytes, char **text,
		     size_t *size, const struct window_result **about, struct err *err);
	/* On the loop, last of all and always: frees arg. */
	void (*release)(void *arg);
};

/* NULL without memory. */
struct renders *renders_new(uv_loop_t *loop);

/* Cancels what waits or is written. The memory goes when the loop has seen the end of it.
 * free(NULL) is safe. */
void renders_free(struct renders *r);

/* Has a job's report written for a user (daemon/shares/shares.h). Administrators come first; then
 * who had least written lately, one at a time each. 0 with the handle, valid until done or
 * render_cancel, in *out; or -ENOMEM, and the job's arg is the caller's still. */
int render_start(struct render **out, struct renders *r, uid_t user, const struct render_job *job,
		 render_done_fn done, void *arg);

/* How w ended, into document; the reason stays w's. */
void render_describe_end(Jxp__Document *document, const struct window_result *w);

/* A reply of so many bytes, which is no report, is to be queued for a user: 0; or -EDQUOT, -ENOSPC
 * or -ENOMEM with the reason, when it may not be. */
int renders_take(struct renders *r, uid_t user, size_t bytes, struct err *err);

/* As many bytes of a report are in a user's queue: 0 or -ENOMEM. */
int renders_queued(struct renders *r, uid_t user, size_t bytes);

/* Bytes that were taken or queued are no longer. */
void renders_read(struct renders *r, uid_t user, size_t bytes);

/* done will not run. cancel(NULL) is safe. */
void render_cancel(struct render *render);

#endif
