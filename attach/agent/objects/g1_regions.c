#include "attach/agent/objects/g1_regions.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vmstructs.h"

/* Regions are at least this large (HeapRegionBounds::min_size, JDK 11 to 25). */
#define REGION_MIN_BYTES (UINT64_C(1) << 20)

/* And at most this: 32 MiB, 512 MiB from JDK 18 on. */
#define REGION_MAX_SHIFT 29u

/* Global because callbacks, and the thread that makes a pause, ask. */
static struct {
	bool is_g1;
	bool readable;
	uint64_t
	    table; /* address of an array of pointers to regions, indexed by address >> shift */
	uint32_t shift;
	uint64_t bottom_offset, tag_offset; /* in a region */
	uint32_t starts_humongous;          /* value of a tag */
} g1;

/* JDK 22 renamed what this needs, all of it alike. */
struct region_names {
	const char *manager, *region, *type, *starts;
};

static const struct region_names names[] = {
    {"G1HeapRegionManager", "G1HeapRegion", "G1HeapRegionType",
     "G1HeapRegionType::StartsHumongousTag"},
    {"HeapRegionManager", "HeapRegion", "HeapRegionType", "HeapRegionType::StartsHumongousTag"},
};

static bool read_table(uint64_t manager, const struct region_names *n)
{
	uint64_t regions, base, shift, bytes;

	if (!vmstructs_static_word(n->region, "GrainBytes", &bytes) ||
	    !vmstructs_offset(n->manager, "_regions", &regions) ||
	    !vmstructs_field_word(manager + regions, "G1HeapRegionTable", "_biased_base", &base) ||
	    !vmstructs_field_word(manager + regions, "G1HeapRegionTable", "_shift_by", &shift))
		return false;
	g1.table = base;
	g1.shift = (uint32_t)shift; /* The field's own width. */
	return g1.shift <= REGION_MAX_SHIFT && UINT64_C(1) << g1.shift == bytes;
}

static bool read_layout(const struct region_names *n)
{
	uint64_t type, tag;
	int32_t starts;

	if (!vmstructs_offset(n->region, "_bottom", &g1.bottom_offset) ||
	    !vmstructs_offset(n->region, "_type", &type) ||
	    !vmstructs_offset(n->type, "_tag", &tag) || !vmstructs_int_constant(n->starts, &starts))
		return false;
	g1.tag_offset = type + tag;
	g1.starts_humongous = (uint32_t)starts;
	return true;
}

static bool read_all(const struct region_names *n)
{
	uint64_t heap, offset, manager;

	if (!vmstructs_static_word("Universe", "_collectedHeap", &heap) ||
	    !vmstructs_offset("G1CollectedHeap", "_hrm", &offset) || !read_layout(n))
		return false;
	/* JDK 12 to 15 have a pointer to it. */
	return read_table(heap + offset, n) ||
	       (safe_read(heap + offset, &manager, sizeof(manager)) && read_table(manager, n));
}

bool g1_regions_init(void)
{
	memset(&g1, 0, sizeof(g1));
	g1.is_g1 = strcmp(vmstructs_gc(), "G1") == 0;
	for (size_t i = 0; g1.is_g1 && !g1.readable && i < sizeof(names) / sizeof(names[0]); i++)
		g1.readable = read_all(&names[i]);
	return g1.readable;
}

uint64_t g1_humongous_min_bytes(void)
{
	if (!g1.is_g1)
		return UINT64_MAX;
	return (g1.readable ? UINT64_C(1) << g1.shift : REGION_MIN_BYTES) / 2 + sizeof(uint64_t);
}

g1_region_tag *g1_humongous_tag(uint64_t address)
{
	g1_region_tag *tag;
	uint64_t region, bottom;

	if (!g1.readable ||
	    !safe_read(g1.table + (address >> g1.shift) * sizeof(region), &region,
		       sizeof(region)) ||
	    !safe_read(region + g1.bottom_offset, &bottom, sizeof(bottom)) || bottom != address)
		return NULL;
	tag = (g1_region_tag *)(uintptr_t)(region + g1.tag_offset);
	return g1_tag_is_humongous(tag) ? tag : NULL;
}

bool g1_tag_is_humongous(g1_region_tag *tag)
{
	return atomic_load_explicit(tag, memory_order_acquire) == g1.starts_humongous;
}
