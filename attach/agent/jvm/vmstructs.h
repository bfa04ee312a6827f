/*
 * HotSpot's own description of its data structures: the table gHotSpotVMStructs that libjvm.so
 * exports for the serviceability agent (src/hotspot/share/runtime/vmStructs.cpp). Present in every
 * JDK from 11 to 25; names that one of them lacks read as absent.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_VMSTRUCTS_H
#define JXPERF_AGENT_JVM_VMSTRUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/region.h"

/* A symbol of the libjvm.so that is loaded in this process, or NULL. */
void *vmstructs_symbol(const char *name);

/* Is this a HotSpot whose table we can read? */
bool vmstructs_available(void);

/* [low, high) of the code cache. False when the table does not say. */
bool vmstructs_code_cache(uint64_t *low, uint64_t *high);

/* "G1", "Parallel", "Serial", "ZGC", "Shenandoah", "Epsilon", or "" when unknown. */
const char *vmstructs_gc(void);

/* Is the VM flag AlwaysPreTouch set? */
bool vmstructs_always_pretouch(void);

/* How ZGC's pointers in memory are to be read at present: when none of the bits at *bad_mask is
 * set, the object is at (pointer >> *shift). Both change in pauses. False with other collectors. */
bool vmstructs_zgc_pointers(const uint64_t **bad_mask, const uint64_t **shift);

/* The largest size of the heap (MaxHeapSize), bytes; 0 when the table does not say. */
uint64_t vmstructs_max_heap(void);

/* For modules that read a collector's own structures: the offset of an instance's field, the word
 * in a static one, the word in the field of the instance at address, and the value of an integer
 * constant. False, with the output unchanged, when the table has no such thing. */
bool vmstructs_offset(const char *type, const char *field, uint64_t *offset);
/* The word of a static field itself, which the JVM may write to at any time; or NULL. */
const uint64_t *vmstructs_static(const char *type, const char *field);
bool vmstructs_static_word(const char *type, const char *field, uint64_t *value);
bool vmstructs_field_word(uint64_t address, const char *type, const char *field, uint64_t *value);
bool vmstructs_int_constant(const char *name, int32_t *value);
bool vmstructs_long_constant(const char *name, uint64_t *value);

/* The size of one of the JVM's types, bytes. False, unchanged, when the table does not say. */
bool vmstructs_type_size(const char *type, uint64_t *size);

/* Is this VM flag there and set? */
bool vmstructs_flag(const char *flag);

/* Is the collector ZGC with generations? */
bool vmstructs_zgc_is_generational(void);

/* Fills heap and JVM ranges as far as the table tells. */
void vmstructs_regions(struct region_map *map);

#endif
