/*
 * Classes that handlers have met, by the address of their Klass, and what each says of the size of
 * its objects.
 *
 * An address that was not met before is a class only if it vouches for itself: its constant pool,
 * or its mirror, the object of type java.lang.Class that stands for it, names it back. Nothing else
 * in memory does so by chance. An array class, which has no pool, whose mirror cannot be read just
 * now (ZGC, between a move and the next load) counts, too, when it has the virtual table of one
 * that was vouched for.
 *
 * A table of fixed size that only grows while a window runs; lookups and insertions are lock-free
 * and async-signal-safe. A class that is unloaded leaves its entry behind. Another one may be made
 * at the same address: klass_find looks at what it says of its objects each time.
 */
#ifndef JXPERF_AGENT_PLACE_KLASS_H
#define JXPERF_AGENT_PLACE_KLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/region.h"
#include "attach/agent/place/object_layout.h"

#define KLASS_MAX   4096u
#define KLASS_BYTES (2u * KLASS_MAX * 16u)

enum klass_found {
	KLASS_FOUND,
	KLASS_NONE, /* not known to be a class */
	KLASS_FULL, /* one, and there is no room for it */
};

struct klass {
	uint32_t id; /* from 1, constant for the window */
	int32_t layout_helper;
};

enum klass_found klass_find(const struct object_layout *layout, const struct region_map *regions,
			    uint64_t address, struct klass *out);

/* Has klass_find found this one before? */
bool klass_is_met(uint64_t address);

/* Does its pool or mirror name it back, at this moment? Any thread. */
bool klass_vouches(const struct object_layout *layout, const struct region_map *regions,
		   uint64_t address);

/* This is a class, as its caller knows from elsewhere: its virtual table is one of a class. */
void klass_trust(const struct object_layout *layout, uint64_t address);

/* The address of the class with this id; 0 for 0. */
uint64_t klass_address(uint32_t id);

/* Tells what a layout helper says (Klass::layout_helper, klass.hpp). */
bool klass_is_array(int32_t layout_helper);
uint32_t klass_instance_bytes(int32_t layout_helper);
uint32_t klass_array_header_bytes(int32_t layout_helper);
uint32_t klass_element_log2(int32_t layout_helper);
/* A BasicType of globalDefinitions.hpp. */
uint32_t klass_element_type(int32_t layout_helper);

/* Forgets all. When no handler runs. */
void klass_clear(void);

#endif
