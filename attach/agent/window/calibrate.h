/*
 * What breakpoints cost on this machine: a trap (kernel entry, signal delivery and return, without
 * our handler), a hit that is only counted, and one that is on. Measured at the start of each
 * window on the session thread itself, because it varies tenfold between bare metal and nested
 * virtual machines, and the overhead accounting multiplies by it.
 */
#ifndef JXPERF_AGENT_WINDOW_CALIBRATE_H
#define JXPERF_AGENT_WINDOW_CALIBRATE_H

#include <stdint.h>

#include "attach/agent/slowdown/slowdown.h"
#include "attach/agent/window/opener.h"

/* The kernel's part of a signal, which is not in a handler's own time. */
struct signal_costs {
	uint64_t trap_ns; /* of a breakpoint's: the median */
	uint64_t tick_ns; /* of the sampling event's */
};

/* Each measurement fills its own part, and leaves it alone where it fails. */
struct calibration {
	struct signal_costs signals;
	uint64_t hit_ns; /* of one hit that the kernel counts and nobody is told of: the mean */
	struct slowdown_costs registers; /* of a watchpoint that nobody touches */
};

/* 0, or -errno when no execution breakpoint can be used; of the registers, no watchpoint. The
 * SIGTRAP handler must be installed and handlers.stopping false. */
int calibrate_trap(struct opener *opener, struct calibration *c);
int calibrate_hit(struct opener *opener, struct calibration *c);
int calibrate_registers(struct opener *opener, struct calibration *c);

/* The cost of a signal that no breakpoint sent, which takes a virtual machine a tenth of one that
 * did. 0 or -errno. */
int calibrate_signal(struct calibration *c);

#endif
