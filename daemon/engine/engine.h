/*
 * The engine: every running window, the finished ones, and the rules between them (one window a
 * JVM, bounded numbers). Each is run by daemon/engine/run.h; what comes of it goes to the sinks, of
 * which the history is one.
 *
 * Loop thread only. The broker client is borrowed. Sinks are told from the loop, with one
 * exception: that an attach was refused, from inside engine_attach.
 */
#ifndef JXPERF_DAEMON_ENGINE_ENGINE_H
#define JXPERF_DAEMON_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/broker/client.h"
#include "profile/window/sink.h"
#include "profile/window/result.h"

#define ENGINE_RUNNING_MAX      64
#define ENGINE_RUNNING_RESERVED 16 /* of these, for administrators and schedules */

/* What the engine holds windows to. */
struct engine_limits {
	/* For the broker's answers that a window waits for. The slowest is that to an attach: the
	 * helper has 10 s, or 25 on an overloaded machine, and some more to clean up and to be
	 * killed. One that was asked to take longer has that on top. */
	uint64_t patience_ms;
	/* One window may take so much, and running ones together; beyond, the largest is ended
	 * early. */
	size_t window_bytes;
	size_t running_bytes;
};

extern const struct engine_limits engine_limits_usual;

struct engine;
struct inspections;
struct jar_versions;
struct pause;
struct run_namer;

/* The limits are borrowed, the usual ones but in tests. */
int engine_new(struct engine **out, uv_loop_t *loop, struct broker_client *broker,
	       const struct engine_limits *limits, struct err *err);

/* sink hears of every window from now on, as long as the engine lasts. At most SINKS_OF_ALL_MAX,
 * one of which is the history. */
void engine_add_sink(struct engine *e, const struct window_sink *sink);

/* Where all questions about processes wait; the engine's. */
struct inspections *engine_inspections(const struct engine *e);

/* What was found in JVMs' jars; the engine's. */
const struct jar_versions *engine_jar_versions(const struct engine *e);

/* How windows that nobody has named are called. Before any begins. */
void engine_set_namer(struct engine *e, const struct run_namer *namer);

/* Windows are refused while this forbids them, which is borrowed. NULL, as at first: they are not.
 */
void engine_set_pause(struct engine *e, struct pause *pause);
struct pause *engine_pause(const struct engine *e);

/* From now on one who does not see everything has at most so many windows at a time; 0: as many as
 * there may be. */
void engine_set_user_limit(struct engine *e, unsigned windows);
/* The next window that is given a number has this one. Before any is. */
void engine_number_from(struct engine *e, unsigned first);

/* Drops every run at once and frees all windows; sinks are not told. Some
 * memory goes when the loop has closed handles. free(NULL) is safe. */
void engine_free(struct engine *e);

/* Starts to attach to pid for asker: another's JVM that it may not see is as good as none. Where a
 * window of a schedule is in the way of one that somebody asks for, ends that first. 0 with the
 * window's id in id; -EBUSY when pid is being profiled already or too many windows run,
 * in all or of the asker's; -EINVAL,
 * -ENOMEM, or the broker's error. The observer is a sink of this window alone, or NULL; on failure
 * it is not used. */
int engine_attach(struct engine *e, const struct window_asker *asker, pid_t pid,
		  const struct window_request *request, const struct window_findings *findings,
		  const struct window_sink *observer, char id[WINDOW_ID_BYTES], struct err *err);

/* Ends pid's window early for the reason given; its id in id. 0 or -ESRCH. */
int engine_detach(struct engine *e, pid_t pid, const char *reason, char id[WINDOW_ID_BYTES],
		  struct err *err);

/* The observer with this arg is gone: its window ends early and nobody is told. */
void engine_forget_observer(struct engine *e, const void *arg);

/* One more observer of a window that is not finished: w stays readable until its last call. 0, or
 * -EBUSY beyond SINKS_WATCHERS_MAX, with nothing changed. */
int engine_watch(struct engine *e, const struct window_result *w,
		 const struct window_sink *observer, struct err *err);

/* The observer with this arg hears nothing any more; its window goes on. */
void engine_unwatch(struct engine *e, const void *arg);

/* Ends every window early, for the reason given; others can be begun. */
void engine_end_windows(struct engine *e, const char *reason);

/* Ends those that schedules have, for a pause. Returns how many others run. */
size_t engine_end_scheduled(struct engine *e, const char *reason);

/* Ends every window; done runs from the loop when none is left. Nothing can be attached afterwards.
 */
void engine_stop(struct engine *e, void (*done)(void *arg), void *arg);

bool engine_is_profiled(const struct engine *e, pid_t pid);

/* Windows, the finished ones first (also those that could not run), each group oldest first. Valid
 * until control returns to the loop. */
size_t engine_window_count(const struct engine *e);
const struct window_result *engine_window(const struct engine *e, size_t i);
const struct window_result *engine_find_window(const struct engine *e, const char *id);
const struct window_result *engine_find_running(const struct engine *e, pid_t pid);

uint64_t engine_windows_total(const struct engine *e); /* that ran and ended */
uint64_t engine_attach_failures(const struct engine *e);

#endif
