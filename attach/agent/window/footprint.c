/*
 * What the agent may take of the target's memory, with every table full:
 * proto/footprint.h. This file has no code: the build fails when the tables' sizes come to
 * more.
 */
#include "attach/agent/code/boundaries.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/context.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/jvm/method_set.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/objects.h"
#include "attach/agent/stream/numbering.h"
#include "attach/agent/window/dormant.h"
#include "proto/footprint.h"
#include "proto/limits.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* Beside the tables. Measured: the code and data of the agent and its two libraries are 0.9 MiB
 * (size). The caches of decoded instructions are 24,576 entries of 8 bytes in all. */
#define FILES_BYTES  (1 * MIB)
#define CACHES_BYTES (24576 * sizeof(uint64_t))

/* The link's two buffers hold a frame each at most, but the engine's are short; a batch is
 * about twice as large unpacked. The longest line table comes on top. */
#define BATCH_BYTES (1280 * KIB)

/* Session thread's stack, malloc's rounding, small statics. */
#define REST_BYTES (256 * KIB)

/* What grows by doubling is there one and a half times for a moment; one of the numberings at a
 * time.
 */
#define NUMBERINGS_BYTES (2 * NUMBERING_BYTES + NUMBERING_BYTES / 2)
#define DORMANT_BYTES    (DORMANT_MAX * sizeof(struct dormant_thread) / 2 * 3)

#define OBJECTS_BYTES (OBJECTS_LIMIT * sizeof(struct tracked_object))
#define FIXED_BYTES   (FIXED_OBJECTS_MAX * FIXED_OBJECT_BYTES)
#define QUEUE_BYTES   (ALLOC_QUEUE_EVENTS * sizeof(struct alloc_event))

#define AGENT_BYTES                                                                           \
	(CODEMAP_BYTES + sizeof(struct context_table) + METHOD_SET_BYTES + BOUNDARIES_BYTES + \
	 OBJECTS_BYTES + FIXED_BYTES + QUEUE_BYTES + CLASS_TABLE_BYTES + DORMANT_BYTES +      \
	 NUMBERINGS_BYTES + FILES_BYTES + CACHES_BYTES + BATCH_BYTES + REST_BYTES)

_Static_assert(AGENT_BYTES <= FOOTPRINT_AGENT_BYTES, "the agent's tables together");

/* Its entry in the thread table, its ring and frames in whole pages, and where the hardware samples
 * the kernel's rings: a control and a data page an event. */
#define THREAD_BYTES                                            \
	(sizeof(struct thread) + sizeof(struct thread_memory) + \
	 MAX_FRAMES_LIMIT * sizeof(struct agct_frame) + 4 * KIB + SAMPLING_EVENTS * 2 * 4 * KIB)

_Static_assert(THREAD_BYTES <= FOOTPRINT_THREAD_BYTES, "what is kept for a profiled thread");
_Static_assert(THREADS_MAX == FOOTPRINT_THREADS_MAX, "how many there are at most");
