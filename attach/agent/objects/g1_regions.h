/*
 * The regions of G1's heap, as far as they tell of humongous objects: those that fill more than
 * half of a region begin a region of their own (HotSpot's g1CollectedHeap.hpp, is_humongous). Read
 * through vmStructs: HeapRegionManager and HeapRegion, which JDK 22 and later call G1HeapRegion...
 *
 * The description of a region stays where it is while the JVM lives, also when the region's memory
 * is given back (HeapRegionManager::uncommit_regions), so a pointer into it may be kept.
 */
#ifndef JXPERF_AGENT_OBJECTS_G1_REGIONS_H
#define JXPERF_AGENT_OBJECTS_G1_REGIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Tells what a region is used for, as G1 itself notes it; changed in pauses and by allocations. */
typedef const _Atomic uint32_t g1_region_tag;

/* Session thread, before the others, once a window. False: the collector is not G1, or its regions
 * cannot be read. */
bool g1_regions_init(void);

/* Any thread. The size of the smallest humongous object; where G1's regions cannot be read, that
 * with the smallest regions there are; UINT64_MAX with other collectors. */
uint64_t g1_humongous_min_bytes(void);

/* Any thread that keeps the object at address alive meanwhile. The tag of the region that begins
 * with that humongous object, or NULL when it is none, or this JVM's regions cannot be read. */
g1_region_tag *g1_humongous_tag(uint64_t address);

/* Does a humongous object begin the region? Async-signal-safe, and safe in a pause. */
bool g1_tag_is_humongous(g1_region_tag *tag);

#endif
