/*
 * The word that a JNI reference points to: the object's address, as the collector has it there
 * (JNIHandles; ZGC's may be coloured).
 */
#ifndef JXPERF_AGENT_JVMTI_JNI_SLOT_H
#define JXPERF_AGENT_JVMTI_JNI_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

/* JNIHandles::tag_mask: the low bits tell weak references from others; local ones have none set. */
#define JNI_SLOT_TAG_MASK 3u

static inline uint64_t jni_slot(const void *ref)
{
	return atomic_load_explicit(
	    (const _Atomic uint64_t *)((uintptr_t)ref & ~(uintptr_t)JNI_SLOT_TAG_MASK),
	    memory_order_acquire);
}

#endif
