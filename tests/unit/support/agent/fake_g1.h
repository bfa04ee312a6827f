/* The heap of a G1 with four regions of 1 MiB, by way of fake_vmstructs.h. */
#ifndef TESTS_UNIT_AGENT_FAKE_G1_H
#define TESTS_UNIT_AGENT_FAKE_G1_H

#include <stdatomic.h>
#include <stdint.h>

#include "tests/unit/support/agent/fake_vmstructs.h"

#define FAKE_G1_SHIFT   20u
#define FAKE_G1_REGIONS 4u
#define FAKE_G1_HEAP    (UINT64_C(8) << FAKE_G1_SHIFT) /* where region 0 begins */
#define FAKE_G1_STARTS  9 /* the tag of a humongous object's first region */

struct fake_g1_region {
	uint64_t bottom;
	uint64_t something;
	struct {
		uint32_t something;
		_Atomic uint32_t tag;
	} type;
};

struct fake_g1_manager {
	uint64_t something;
	struct {
		uint64_t biased_base, shift_by;
	} regions;
};

static struct fake_g1_region fake_g1_region[FAKE_G1_REGIONS];
static struct fake_g1_region *fake_g1_table[FAKE_G1_REGIONS];
static struct {
	uint64_t something[3];
	struct fake_g1_manager manager;  /* of most releases */
	struct fake_g1_manager *pointer; /* of JDK 12 to 15 */
} fake_g1_heap;
static void *fake_g1_heap_at;
static uint64_t fake_g1_grain;
static bool fake_g1_on;

/* prefix: "G1" from JDK 22 on, else "". by_pointer: the heap has a pointer to its regions'
 * manager. */
#define FAKE_G1(prefix, by_pointer)                                                              \
	do {                                                                                     \
		fake_g1_set_up();                                                                \
		fake_field("G1CollectedHeap", "_hrm",                                            \
			   (by_pointer) ? 24 + sizeof(struct fake_g1_manager) : 24);             \
		fake_field(prefix "HeapRegionManager", "_regions",                               \
			   offsetof(struct fake_g1_manager, regions));                           \
		fake_static(prefix "HeapRegion", "GrainBytes", &fake_g1_grain);                  \
		fake_field(prefix "HeapRegion", "_bottom",                                       \
			   offsetof(struct fake_g1_region, bottom));                             \
		fake_field(prefix "HeapRegion", "_type", offsetof(struct fake_g1_region, type)); \
		fake_field(prefix "HeapRegionType", "_tag", 4);                                  \
		fake_int(prefix "HeapRegionType::StartsHumongousTag", FAKE_G1_STARTS);           \
	} while (0)

static inline uint64_t fake_g1_bottom(unsigned region)
{
	return FAKE_G1_HEAP + ((uint64_t)region << FAKE_G1_SHIFT);
}

/* What does not depend on the release. */
static inline void fake_g1_set_up(void)
{
	fake_vmstructs_reset();
	fake_g1_on = true;
	fake_flag("UseG1GC", &fake_g1_on);
	fake_g1_grain = UINT64_C(1) << FAKE_G1_SHIFT;
	for (unsigned i = 0; i < FAKE_G1_REGIONS; i++) {
		fake_g1_region[i].bottom = fake_g1_bottom(i);
		atomic_store(&fake_g1_region[i].type.tag, 0);
		fake_g1_table[i] = &fake_g1_region[i];
	}
	fake_g1_heap.manager.regions.shift_by = FAKE_G1_SHIFT;
	fake_g1_heap.manager.regions.biased_base =
	    (uint64_t)(uintptr_t)fake_g1_table - (FAKE_G1_HEAP >> FAKE_G1_SHIFT) * sizeof(void *);
	fake_g1_heap.pointer = &fake_g1_heap.manager;
	fake_g1_heap_at = &fake_g1_heap;
	fake_static("Universe", "_collectedHeap", &fake_g1_heap_at);
	fake_field("G1HeapRegionTable", "_biased_base", 0);
	fake_field("G1HeapRegionTable", "_shift_by", 8);
}

#endif
