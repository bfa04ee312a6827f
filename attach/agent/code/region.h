/*
 * Whose memory an address is: the application's heap, its stacks, or the JVM's own structures.
 * Built once per window from HotSpot's vmStructs; lookups are a few comparisons, async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_REGION_H
#define JXPERF_AGENT_CODE_REGION_H

#include <stdbool.h>
#include <stdint.h>

#define REGION_RANGES_MAX 8

/* Below this lies no Java object: an access there is an implicit null check that is about to fault.
 */
#define REGION_LOWEST_ADDRESS UINT64_C(65536)

struct region_range {
	uint64_t low;
	uint64_t high;
};

struct region_map {
	struct region_range heap[REGION_RANGES_MAX];
	unsigned heap_count;
	struct region_range jvm[REGION_RANGES_MAX];
	unsigned jvm_count;
	/* ZGC before its generational mode maps the heap several times and says with the mapping
	 * what state a pointer is in. The bits that tell an object, and those of the mapping that
	 * stands for all; 0 where an object has one address. */
	uint64_t offset_mask;
	uint64_t view;
};

/* Adds a range; false (and nothing added) when it is empty or the table is full. */
bool region_add_heap(struct region_map *map, uint64_t low, uint64_t high);
bool region_add_jvm(struct region_map *map, uint64_t low, uint64_t high);

/* The address by which an object in the heap is known, whichever mapping it was seen through. Every
 * mapping is always there, so the result can be read. */
uint64_t region_canonical(const struct region_map *map, uint64_t address);

/* Is the address in the heap? */
bool region_is_heap(const struct region_map *map, uint64_t address);

/* The Region (jxperf.proto) of an address, as far as ranges tell; REGION_OTHER otherwise. */
int region_find(const struct region_map *map, uint64_t address);

#endif
