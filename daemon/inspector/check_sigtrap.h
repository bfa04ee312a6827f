/*
 * The part of `check` about watchpoints that fire while SIGTRAP is blocked.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_SIGTRAP_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_SIGTRAP_H

#include "daemon/child/sigtrap_probe.h"
#include "daemon/inspector/check_items.h"

/* Adds its item. Starts and ends a child; trial is sigtrap_trial but in tests. */
void check_sigtrap(struct check_items *c, sigtrap_trial_fn trial);

#endif
