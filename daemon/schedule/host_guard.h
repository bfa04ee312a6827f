/*
 * Whether this host has other things to do than to be profiled: its load, and what the kernel says
 * of tasks that wait (/proc/pressure, Documentation/accounting/psi.rst). A kernel that does not say
 * it guards nothing. No state; waits for nobody.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_HOST_GUARD_H
#define JXPERF_DAEMON_SCHEDULE_HOST_GUARD_H

#include <stdbool.h>

#include "daemon/shares/miss.h"

struct config_guards;

/* The first reason for which no scheduled window is to begin now, or MISS_NONE. */
enum miss host_guard_look(const struct config_guards *guards);

/* The part of the last 10 s in which some task waited, or all that were not idle did at once, by a
 * text like /proc/pressure/io; 0 where it does not say. One task alone can keep a disk busy, and
 * that is no trouble of the host's. */
double host_guard_pressure(const char *text, bool all);

#endif
