#include "proto/words.h"

#include <stddef.h>

static const char *lookup(const char *const *table, size_t count, unsigned value)
{
	return value < count && table[value] ? table[value] : "unknown";
}

#define LOOKUP(table, value) lookup(table, sizeof(table) / sizeof((table)[0]), (unsigned)(value))

const char *name_of_region(Jxp__Region region)
{
	static const char *const names[] = {
	    [JXP__REGION__REGION_OTHER] = "other",
	    [JXP__REGION__REGION_HEAP] = "heap",
	    [JXP__REGION__REGION_STACK] = "stack",
	    [JXP__REGION__REGION_JVM] = "jvm",
	};

	return LOOKUP(names, region);
}

const char *const view_names[] = {
    [JXP__VIEW__VIEW_ALL] = "all",
    [JXP__VIEW__VIEW_PAIRS] = "pairs",
    [JXP__VIEW__VIEW_FIELDS] = "fields",
    [JXP__VIEW__VIEW_LINES] = "lines",
    [JXP__VIEW__VIEW_OBJECTS] = "objects",
    [JXP__VIEW__VIEW_NUMA] = "numa",
    [JXP__VIEW__VIEW_CPU] = "cpu",
    [JXP__VIEW__VIEW_SUBSUMING] = "subsuming",
    [JXP__VIEW__VIEW_LOOPS] = "loops",
    [JXP__VIEW__VIEW_QUALITY] = "quality",
    NULL,
};

const char *name_of_tier(Jxp__Tier tier)
{
	static const char *const names[] = {
	    [JXP__TIER__TIER_UNKNOWN] = "unknown",
	    [JXP__TIER__TIER_JIT] = "jit",
	    [JXP__TIER__TIER_INTERPRETED] = "interpreted",
	    [JXP__TIER__TIER_NATIVE] = "native",
	};

	return LOOKUP(names, tier);
}

const char *name_of_location(Jxp__Location__Kind kind)
{
	static const char *const names[] = {
	    [JXP__LOCATION__KIND__UNKNOWN] = "unknown", [JXP__LOCATION__KIND__FIELD] = "field",
	    [JXP__LOCATION__KIND__STATIC] = "static",   [JXP__LOCATION__KIND__ELEMENT] = "element",
	    [JXP__LOCATION__KIND__HEADER] = "header",   [JXP__LOCATION__KIND__SPILL] = "spill",
	    [JXP__LOCATION__KIND__STACK] = "stack",
	};

	return LOOKUP(names, kind);
}

const char *const sampler_names[] = {
    [JXP__SAMPLER__SAMPLER_AUTO] = "auto",
    [JXP__SAMPLER__SAMPLER_PEBS] = "pebs",
    [JXP__SAMPLER__SAMPLER_IBS] = "ibs",
    [JXP__SAMPLER__SAMPLER_CLOCK] = "clock",
    NULL,
};

const char *name_of_sampler(Jxp__Sampler sampler)
{
	return LOOKUP(sampler_names, sampler);
}
