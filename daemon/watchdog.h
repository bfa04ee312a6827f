/*
 * Tells systemd that the loop turns (WatchdogSec=, sd_watchdog_enabled(3)): from a timer of the
 * loop, so that a daemon that hangs is silent, and is restarted. Loop thread only.
 */
#ifndef JXPERF_DAEMON_WATCHDOG_H
#define JXPERF_DAEMON_WATCHDOG_H

#include <stdint.h>
#include <uv.h>

/* How often systemd wants to hear from this process, or 0: not at all. */
uint64_t watchdog_period_ms(void);

/* Begins to, twice as often; does nothing where nobody wants to hear. timer is an initialised one.
 */
void watchdog_start(uv_timer_t *timer);

#endif
