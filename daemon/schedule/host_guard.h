/*
 * Whether this host has other things to do than to be profiled: its load, and what the kernel says
 * of tasks that wait (/proc/pressure, Documentation/accounting/psi.rst). A kernel that does not say
 * it guards nothing. No state; waits for nobody.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_HOST_GUARD_H
#define JXPERF_DAEMON_SCHEDULE_HOST_GUARD_H

#include "daemon/schedule/miss.h"

struct config_guards;

/* The first reason for which no scheduled window is to begin now, or MISS_NONE. */
enum miss host_guard_look(const struct config_guards *guards);

/* The part of the last 10 s in which some task waited, by a text like /proc/pressure/cpu; 0 where
 * it does not say. */
double host_guard_pressure(const char *text);

#endif
