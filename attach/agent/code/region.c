#include "attach/agent/code/region.h"

#include "proto/jxperf.pb-c.h"

static bool add(struct region_range *ranges, unsigned *count, uint64_t low, uint64_t high)
{
	if (low >= high || *count == REGION_RANGES_MAX)
		return false;
	ranges[(*count)++] = (struct region_range){low, high};
	return true;
}

bool region_add_heap(struct region_map *map, uint64_t low, uint64_t high)
{
	return add(map->heap, &map->heap_count, low, high);
}

bool region_add_jvm(struct region_map *map, uint64_t low, uint64_t high)
{
	return add(map->jvm, &map->jvm_count, low, high);
}

static bool inside(const struct region_range *ranges, unsigned count, uint64_t address)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= ranges[i].low && address < ranges[i].high)
			return true;
	return false;
}

uint64_t region_canonical(const struct region_map *map, uint64_t address)
{
	if (!map->offset_mask || !region_is_heap(map, address))
		return address;
	return (address & map->offset_mask) | map->view;
}

bool region_is_heap(const struct region_map *map, uint64_t address)
{
	return inside(map->heap, map->heap_count, address);
}

int region_find(const struct region_map *map, uint64_t address)
{
	if (region_is_heap(map, address))
		return JXP__REGION__REGION_HEAP;
	if (inside(map->jvm, map->jvm_count, address))
		return JXP__REGION__REGION_JVM;
	return JXP__REGION__REGION_OTHER;
}
