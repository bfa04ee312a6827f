/*
 * What the agent takes of its target's memory. attach/agent/window/modules.c sums its tables and
 * does not compile when they come to more; attach/process/headroom.h asks for so much room before
 * an attach.
 */
#ifndef JXPERF_PROTO_FOOTPRINT_H
#define JXPERF_PROTO_FOOTPRINT_H

#include <stdint.h>

/* At most: */
#define FOOTPRINT_AGENT_BYTES  (UINT64_C(23) << 20)
#define FOOTPRINT_THREAD_BYTES (UINT64_C(64) << 10) /* for each thread that is profiled, */
#define FOOTPRINT_THREADS_MAX  4096u                /* so many at most */
/* For ids of methods of classes that are prepared in windows (attach/agent/jvm/id_allowance.h). */
#define FOOTPRINT_NEW_IDS_BYTES (UINT64_C(4) << 20)

/* What the JVM takes to give the methods of all its classes ids, and the agent's and the JVM's
 * memory in a window in which the JVM does nothing; measured (attach/process/loaded.h). */
#define FOOTPRINT_CLASS_BYTES  UINT64_C(64)
#define FOOTPRINT_METHOD_BYTES UINT64_C(17)
#define FOOTPRINT_IDLE_BYTES   (UINT64_C(6656) << 10)

#endif
