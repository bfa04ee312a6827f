/*
 * What one trap costs on this machine: kernel entry, signal delivery and return, without our
 * handler. Measured at the start of each window on the session thread itself, because it varies
 * tenfold between bare metal and nested virtual machines, and the overhead accounting multiplies by
 * it.
 */
#ifndef JXPERF_AGENT_WINDOW_CALIBRATE_H
#define JXPERF_AGENT_WINDOW_CALIBRATE_H

#include <stdint.h>

#include "attach/agent/slowdown/slowdown.h"
#include "attach/agent/window/opener.h"

/* The median cost in nanoseconds. 0, or -errno when no execution breakpoint can be used. The
 * SIGTRAP handler must be installed and handlers.stopping false. */
int calibrate_trap_cost(struct opener *opener, uint64_t *cost_ns);

/* Likewise of one hit of a breakpoint that the kernel counts and nobody is told of: the mean. */
int calibrate_hit_cost(struct opener *opener, uint64_t *cost_ns);

/* What takes longer while a watchpoint is set that nobody touches: 0 or -errno. */
int calibrate_slowdown(struct opener *opener, struct slowdown_costs *costs);

#endif
