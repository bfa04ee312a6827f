/* JNI as far as references to objects need it. An object is where its slot says; a local reference
 * points to the slot, a weak one likewise with a tag, as in HotSpot (JNIHandles). */
#ifndef TESTS_UNIT_AGENT_FAKE_JNI_H
#define TESTS_UNIT_AGENT_FAKE_JNI_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_JNI_SLOTS 16u
#define FAKE_JNI_WEAK  1u

static uint64_t fake_jni_slots[FAKE_JNI_SLOTS]; /* 0: free, or its object is dead */
static unsigned fake_jni_weak_count;            /* references that were not deleted */
static bool fake_jni_out_of_memory;
static bool fake_jni_pending; /* an exception is */

static uint64_t *fake_jni_slot(jobject reference)
{
	return (uint64_t *)((uintptr_t)reference & ~(uintptr_t)3);
}

static jobject fake_jni_new(uint64_t address)
{
	for (unsigned i = 0; i < FAKE_JNI_SLOTS; i++) {
		if (fake_jni_slots[i] != 0)
			continue;
		fake_jni_slots[i] = address;
		return (jobject)&fake_jni_slots[i];
	}
	return NULL;
}

static jclass JNICALL fake_jni_find_class(JNIEnv *jni, const char *name)
{
	(void)jni, (void)name;
	return (jclass)fake_jni_new(0x10000);
}

static jweak JNICALL fake_jni_new_weak(JNIEnv *jni, jobject object)
{
	jobject copy = fake_jni_out_of_memory ? NULL : fake_jni_new(*fake_jni_slot(object));

	(void)jni;
	fake_jni_pending = copy == NULL;
	if (!copy)
		return NULL;
	fake_jni_weak_count++;
	return (jweak)((uintptr_t)copy | FAKE_JNI_WEAK);
}

static void JNICALL fake_jni_delete_weak(JNIEnv *jni, jweak ref)
{
	(void)jni;
	*fake_jni_slot(ref) = 0;
	fake_jni_weak_count--;
}

static jobject JNICALL fake_jni_new_local(JNIEnv *jni, jobject ref)
{
	(void)jni;
	return *fake_jni_slot(ref) ? fake_jni_new(*fake_jni_slot(ref)) : NULL;
}

static void JNICALL fake_jni_delete_local(JNIEnv *jni, jobject ref)
{
	(void)jni;
	*fake_jni_slot(ref) = 0;
}

static jboolean JNICALL fake_jni_is_same(JNIEnv *jni, jobject a, jobject b)
{
	(void)jni, (void)b; /* Asked for NULL only. */
	return *fake_jni_slot(a) == 0;
}

static void JNICALL fake_jni_clear(JNIEnv *jni)
{
	(void)jni;
	fake_jni_pending = false;
}

static const struct JNINativeInterface_ fake_jni_functions = {
    .FindClass = fake_jni_find_class,
    .NewWeakGlobalRef = fake_jni_new_weak,
    .DeleteWeakGlobalRef = fake_jni_delete_weak,
    .NewLocalRef = fake_jni_new_local,
    .DeleteLocalRef = fake_jni_delete_local,
    .IsSameObject = fake_jni_is_same,
    .ExceptionClear = fake_jni_clear,
};
static JNIEnv fake_jni = &fake_jni_functions;

#endif
