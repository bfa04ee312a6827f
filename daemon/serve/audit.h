/*
 * Who did what, and who was refused what: one line of the log each, the same for all.
 *
 *   audit: action=attach uid=1000 peer-pid=4711 login=1000 pid=815 window=w7 outcome=ok
 *   audit: action=report uid=1000 peer-pid=4712 window=w3 outcome=not-found reason="no window
 * 'w3'..."
 *   audit: action=end schedule=often app=shop pid=815 window=w8 outcome=done duration-ms=30004
 * overhead-ms=291 findings="dead-store 2%, silent-load 34%"
 *
 * An outcome is ok, or why not: not-found (there is none, as far as who asks may know), invalid
 * (the request is wrong), refused (a right or a limit is in the way), failed (it was tried). That
 * of an end is done, early (reason says why), target-ended, or failed.
 *
 * A line of the log that is not of the audit begins otherwise, and has texts that targets chose in
 * quotes (common/log.h). uid and peer-pid are of the process that asked, login is who has logged in
 * there (/proc/PID/loginuid), also where it is root by now. It is a hint where none was set, since
 * a process may then choose it once; pid and window are what it asked about,
 * where it named any. A value is a plain word or quoted, with '"' and '\' escaped by
 * '\'; nothing that a client sends can end the line, begin another field or reach a terminal as
 * anything but text.
 *
 * Lines are of every attach (when its window begins, or cannot), the end of every window, every
 * detach, every pause and resume, every change of the configuration, and every request that was
 * refused. Questions that were answered are not in it. A window that a schedule wants has its line
 * at its end; that of its beginning is heard where verbose is on.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_AUDIT_H
#define JXPERF_DAEMON_SERVE_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/window/asker.h"

struct window_result;

/* Less than a line of the log has. */
#define AUDIT_LINE_BYTES 900

struct audit_entry {
	const char *action;             /* a word of ours */
	const struct window_asker *who; /* NULL: nobody asked for it over the socket */
	uint32_t pid;                   /* 0: none */
	const char *window;             /* NULL or "": none */
	const char *reason;             /* why it was refused; NULL: it was done */
	int error;                      /* the errno value above 0 for which it was; else 0 */
	const char *signal;             /* by which it was asked for; NULL: by none */
	/* What it is about, in place of pid and window, and who where a schedule wants it; or NULL.
	 */
	const struct window_result *of;
	bool ended; /* the line is of its end */
};

/* The line, without its end; a reason that is too long is cut. */
void audit_format(char line[AUDIT_LINE_BYTES], const struct audit_entry *entry);

/* Writes it to the log. */
void audit_write(const struct audit_entry *entry);

/* The configuration was read again: it is in force (reason NULL), or why it is not. who NULL: by
 * SIGHUP, whose sender the kernel does not tell for sure. */
void audit_configuration(const struct window_asker *who, const char *reason);

#endif
