/*
 * How many classes that are prepared in windows have their methods given ids. The JVM never gives
 * the memory of an id back, not when the class is unloaded either (JNIMethodBlock in method.cpp),
 * and programs make classes without end: so what windows add to that is bounded. A class beyond has
 * frames without names until the next window, which begins with ids for all that is loaded by then
 * (vm_start): that is in the figure which `check` gives (attach/process/loaded.h).
 *
 * For the life of the process, since nothing comes back; each window adds a little, so that one of
 * many does not do without. Ids that the JVM makes by itself, as of a method whose compilation it
 * tells of, do not count.
 *
 * Any thread may take; the rest is the session thread's.
 */
#ifndef JXPERF_AGENT_JVM_ID_ALLOWANCE_H
#define JXPERF_AGENT_JVM_ID_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/footprint.h"

/* What each window after the first adds, up to FOOTPRINT_NEW_IDS_BYTES. */
#define ID_ALLOWANCE_WINDOW_BYTES (UINT64_C(256) << 10)

/* Before a window. */
void id_allowance_begin(void);

/* May one more class have ids? Where not, it is counted. */
bool id_allowance_left(void);

/* It has, for so many methods. How many is known only then, so the last one may be too much. */
void id_allowance_take(uint32_t methods);

/* Has whoever looks at the JVM's mappings know for how many classes and methods there are ids, so
 * that the next attach is not taken to need them again (AGENT_IDS_NAME). Takes no memory. */
void id_allowance_publish(uint64_t classes, uint64_t methods);

/* Classes that have none, in this window. */
uint64_t id_allowance_refused(void);

#endif
