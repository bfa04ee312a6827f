/*
 * The audit of windows and of what is refused, and how much of the log refusals may fill: what one
 * user is refused in REFUSALS_MS is a line of the audit each at first, and a number after that, so
 * that who is refused again and again drowns nobody's entries.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_REFUSALS_H
#define JXPERF_DAEMON_SERVE_REFUSALS_H

#include <stdbool.h>
#include <uv.h>

#include "daemon/serve/audit.h"
#include "daemon/shares/shares.h"
#include "profile/window/sink.h"

#define REFUSALS_MS 10000

/* Lines in that time for requests, of one user and of all. Connections cost a client nothing: of
 * one user there is a line. */
#define REFUSALS_OF_USER  64
#define REFUSALS_RESERVED 128
#define REFUSALS_ALL      512

struct refusals {
	uv_timer_t timer; /* runs while there is what it has to forget or to tell */
	struct shares requests, connections; /* that were told */
	struct shares more;                  /* that were not */
};

/* The timer is initialised; it is the caller's to close, with refusals_release at once. */
void refusals_init(struct refusals *r, uv_loop_t *loop);
void refusals_release(struct refusals *r);

/* To be registered: a line for each window that begins, for its end, and for one that could not as
 * for any refusal. r has to outlive the engine's calls. */
struct window_sink refusals_sink(struct refusals *r);

/* What was refused, with its reason: a request, or a connection that came to name none. */
void refusals_note(struct refusals *r, const struct audit_entry *entry, bool connection);

#endif
