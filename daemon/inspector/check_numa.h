/*
 * The check's items on NUMA: how many nodes there are, and whether first touches are traced.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_NUMA_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_NUMA_H

#include "daemon/inspector/check_items.h"

/* touch_reason: why the broker does not trace first touches, "" where it does. */
void check_numa(struct check_items *c, unsigned nodes, const char *touch_reason);

#endif
