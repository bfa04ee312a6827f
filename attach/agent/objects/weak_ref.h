/*
 * Where the object of a JNI weak reference is now, without keeping it alive.
 *
 * Asking JNI for a local reference would do, but it tells a collector that is marking at that
 * moment that the object is in use (the keep-alive barriers of G1, Shenandoah and ZGC): asked after
 * every pause, an object that nobody uses would never be collected. So the address is read from the
 * slot that the weak reference points to (JNIHandles, OopStorage):
 *   - collectors that move objects in pauses only (Serial, Parallel, G1, Epsilon) update the slot
 *     in the pause;
 *   - for Shenandoah and ZGC, IsSameObject(ref, NULL) first brings the slot up to date: it loads
 *     through the collector's barrier, without keeping alive (JNIHandles::is_same_object), and the
 *     barrier stores what it found back into the slot.
 * Whether this JVM's slots are what we believe is tried out by weak_refs_init; where it is not so,
 * a local reference is used after all.
 *
 * An answer is that of one epoch: the caller looks at handlers.epoch before and after.
 */
#ifndef JXPERF_AGENT_OBJECTS_WEAK_REF_H
#define JXPERF_AGENT_OBJECTS_WEAK_REF_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* Session thread, before the others. True when slots can be read. */
bool weak_refs_init(JNIEnv *jni);

/* Any thread of the JVM, in native code. The object's address, as region_canonical gives it, 0 when
 * the object is dead. */
uint64_t weak_ref_address(JNIEnv *jni, jweak ref);

/* The object of a local reference of the calling thread. It is that of this moment, unless the
 * object does not move. */
uint64_t local_ref_address(jobject local);

#endif
