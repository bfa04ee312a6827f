/*
 * Bounds what the agent takes of its target's memory. attach/agent/window/modules.c sums its tables
 * and does not compile when they come to more; attach/process/headroom.h asks for so much room
 * before an attach.
 */
#ifndef JXPERF_PROTO_FOOTPRINT_H
#define JXPERF_PROTO_FOOTPRINT_H

#include <stdint.h>

/* At most: */
#define FOOTPRINT_AGENT_BYTES  (UINT64_C(24) << 20)
#define FOOTPRINT_THREAD_BYTES (UINT64_C(64) << 10) /* for each thread that is profiled, */
#define FOOTPRINT_THREADS_MAX  4096u                /* so many at most */

/* The JVM takes this beside the agent, to load it: its thread for attach requests, JVMTI, the
 * agent's own stack. Measured on JDK 17 and 25: below 2 MiB of memory; of address space 27 MiB with
 * all that the agent reserves, whose tables are in the worst case already. Documents name the sum
 * of the agent's and this, and tests/citations holds them to it. */
#define FOOTPRINT_JVM_BYTES         (UINT64_C(2) << 20)
#define FOOTPRINT_JVM_ADDRESS_BYTES (UINT64_C(32) << 20)

/* The agent's and the JVM's memory in a window in which the JVM does nothing; measured. */
#define FOOTPRINT_IDLE_BYTES (UINT64_C(4) << 20)

#endif
