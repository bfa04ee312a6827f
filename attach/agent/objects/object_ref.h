/*
 * How the agent refers to a tracked object: by a JNI weak reference or, where that would keep it
 * from being reclaimed, by its address alone (attach/agent/objects/fixed_objects.h).
 */
#ifndef JXPERF_AGENT_OBJECTS_OBJECT_REF_H
#define JXPERF_AGENT_OBJECTS_OBJECT_REF_H

#include <jni.h>
#include <stdint.h>

/* Tells what references do to what this JVM's collector does. */
struct object_refs_effect {
	uint64_t
	    kept_bytes_max;   /* how much of the heap may be kept from being reclaimed by them; */
	double kept_byte_ns;  /* what each such byte costs the collector, CPU time */
	uint64_t large_bytes; /* objects above this size are better tracked less often */
};

/* Session thread, once a window, before the others and while no callback is under way. budget is
 * the window's, a fraction of the target's CPU time. */
struct object_refs_effect object_refs_init(JNIEnv *jni, double budget);

/* In a callback that has the object as a local reference. NULL when no reference can be had: too
 * many already, no memory, or a humongous object in a G1 that we cannot read. *kept_bytes: what of
 * the heap the reference may keep from being reclaimed, should the collector treat it as a strong
 * one. */
void *object_ref_new(JNIEnv *jni, jobject object, uint64_t size_bytes, uint64_t *kept_bytes);

/* Any thread of the JVM, in native code. The object's address in this epoch, as region_canonical
 * gives it, 0 when the object is dead. */
uint64_t object_ref_address(JNIEnv *jni, void *ref);

void object_ref_delete(JNIEnv *jni, void *ref);

#endif
