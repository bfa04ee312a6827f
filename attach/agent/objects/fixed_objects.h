/*
 * Tracked objects that do not move and that must not be referred to: humongous objects of G1.
 *
 * G1 takes a humongous object that any root names, a weak reference too, for live, and so cannot
 * reclaim it in a young pause. Measured with one weak reference for every 40th array of 2.8 MB: the
 * heap after a collection grows from 8 MB to 1,632 MB. Such an object stays where it is until it
 * dies, and dies in a pause: its region is then no longer one that a humongous object begins. So
 * its address is noted, and at the end of every pause the region is looked at, before an
 * application thread can put another object there.
 *
 * Only the last resort of a full collection, from JDK 21 on, moves humongous objects; it may put
 * another one where ours was, which is then taken for ours.
 *
 * References are pointers into a table of fixed size; they stand beside JNI's weak references.
 */
#ifndef JXPERF_AGENT_OBJECTS_FIXED_OBJECTS_H
#define JXPERF_AGENT_OBJECTS_FIXED_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/objects/g1_regions.h"

/* Each takes some ns of every pause. G1 collects before a thousand objects of at least half a
 * region are garbage, unless the heap is far above a gigabyte. */
#define FIXED_OBJECTS_MAX  1024u
#define FIXED_OBJECT_BYTES 24u

/* Session thread, while no callback is under way: forgets all. */
void fixed_objects_clear(void);

/* Any thread that keeps the object alive meanwhile: tracks the object at address, whose region has
 * this tag. NULL when there is no room. */
void *fixed_object_add(uint64_t address, g1_region_tag *tag);

/* Is it a reference of this module? */
bool fixed_object_is(const void *ref);

/* Its address, 0 when a pause found it dead. */
uint64_t fixed_object_address(const void *ref);

/* The reference may be given out again. */
void fixed_object_release(void *ref);

/* The JVM's thread that makes a pause, at its end. */
void fixed_objects_pause_ends(void);

#endif
