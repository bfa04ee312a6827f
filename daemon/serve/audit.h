/*
 * Who did what, and who was refused what: one line of the log each, the same for all.
 *
 *   audit: action=attach uid=1000 peer-pid=4711 pid=815 window=w7 outcome=ok
 *   audit: action=report uid=1000 peer-pid=4712 window=w3 outcome=refused reason="no window
 * 'w3'..."
 *
 * A line of the log that is not of the audit begins otherwise, and has texts that targets chose in
 * quotes (common/log.h). uid and peer-pid are of the process that asked; pid and window are what it
 * asked about, where it named any. A value is a plain word or quoted, with '"' and '\' escaped by
 * '\'; nothing that a client sends can end the line, begin another field or reach a terminal as
 * anything but text.
 *
 * Lines are of every attach (when its window begins, or cannot), every detach, every change of the
 * configuration, and every request that was refused. Questions that were answered are not in it.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_AUDIT_H
#define JXPERF_DAEMON_SERVE_AUDIT_H

#include <stdint.h>

#include "profile/window/asker.h"

/* Less than a line of the log has. */
#define AUDIT_LINE_BYTES 900

struct audit_entry {
	const char *action;             /* a word of ours */
	const struct window_asker *who; /* NULL: nobody asked for it over the socket */
	uint32_t pid;                   /* 0: none */
	const char *window;             /* NULL or "": none */
	const char *reason;             /* why it was refused; NULL: it was done */
};

/* The line, without its end; a reason that is too long is cut. */
void audit_format(char line[AUDIT_LINE_BYTES], const struct audit_entry *entry);

/* Writes it to the log. */
void audit_write(const struct audit_entry *entry);

/* The configuration was read again: it is in force (reason NULL), or why it is not. who NULL: by a
 * signal. */
void audit_configuration(const struct window_asker *who, const char *reason);

#endif
