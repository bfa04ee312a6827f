/*
 * The part of `check` about watchpoints that fire while SIGTRAP is blocked.
 */
#ifndef JXPERF_DAEMON_CHECK_SIGTRAP_H
#define JXPERF_DAEMON_CHECK_SIGTRAP_H

#include "daemon/check_items.h"
#include "daemon/sigtrap_probe.h"

/* Adds its item. Starts and ends a child; trial is sigtrap_trial but in tests. */
void check_sigtrap(struct check_items *c, sigtrap_trial_fn trial);

#endif
