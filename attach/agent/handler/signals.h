/*
 * The SIGTRAP handler: takes our perf signals to their thread's state and hands everything else to
 * whoever had the signal before.
 *
 * Session thread installs and removes; the handler runs in any thread.
 */
#ifndef JXPERF_AGENT_HANDLER_SIGNALS_H
#define JXPERF_AGENT_HANDLER_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sampler;

/* Installs the handler and remembers the previous action. 0 or -errno. */
int signals_install(const struct sampler *sampler);

/* Ticks of the process, which come in whoever runs. In the handler, and in any thread: begin gives
 * the entry of a thread's that has none, for this tick, or NULL when it is not to be taken, as of
 * one that is known to have an entry; end, with what begin gave, has the next one come. */
struct process_ticks {
	struct thread *(*begin)(pid_t tid, bool known);
	void (*end)(struct thread *t);
};

/* Session thread, before the first of them. */
void signals_take_process_ticks(const struct process_ticks *ticks);

/* Is our handler still the process's action for SIGTRAP? */
bool signals_installed(void);

/* Threads that have had no event since signals_install, and so need not be looked at. */
struct signals_untouched {
	bool (*contains)(const void *arg, pid_t tid);
	const void *arg;
};

/* Waits until no handler runs, at most timeout_ms. Handlers that start after handlers.stopping was
 * set do nothing. */
void signals_wait_for_handlers(unsigned timeout_ms);

/* Waits until no handler runs and no SIGTRAP is pending or on its way in any thread but the
 * untouched, at most timeout_ms, then restores the previous action. All events must be closed.
 * Returns false, and leaves the handler in place, when a thread still has one pending (it blocks
 * SIGTRAP) or may get one (it is ready to run and got no CPU): the default action of a signal that
 * arrives later would end the process. Somebody else's handler, set after ours, is left alone.
 */
bool signals_remove(unsigned timeout_ms, const struct signals_untouched *untouched);

/* SIGTRAPs that were not ours, handed on since install. */
uint64_t signals_foreign(void);

/* Traps of breakpoints that were switched off, since signals_install: they mean nothing. */
uint64_t signals_stale(void);

#endif
