#include "attach/agent/object_ref.h"

#include <stdbool.h>
#include <stddef.h>

#include "attach/agent/fixed_objects.h"
#include "attach/agent/g1_regions.h"
#include "attach/agent/weak_ref.h"

void object_refs_init(JNIEnv *jni)
{
	(void)weak_refs_init(jni); /* Where slots cannot be read, local references do. */
	(void)g1_regions_init(); /* Where regions cannot be read, no humongous object is tracked. */
	fixed_objects_clear();
}

void *object_ref_new(JNIEnv *jni, jobject object, uint64_t size_bytes, uint64_t *kept_bytes)
{
	jweak ref;

	*kept_bytes = 0;
	if (size_bytes >= g1_humongous_min_bytes()) {
		uint64_t address = local_ref_address(object);
		g1_region_tag *tag = g1_humongous_tag(address);

		return tag ? fixed_object_add(address, tag) : NULL;
	}
	ref = (*jni)->NewWeakGlobalRef(jni, object);
	if (!ref)
		(*jni)->ExceptionClear(jni); /* Out of memory; the application must not see it. */
	else
		*kept_bytes = size_bytes;
	return ref;
}

uint64_t object_ref_address(JNIEnv *jni, void *ref)
{
	return fixed_object_is(ref) ? fixed_object_address(ref) : weak_ref_address(jni, ref);
}

void object_ref_delete(JNIEnv *jni, void *ref)
{
	if (fixed_object_is(ref))
		fixed_object_release(ref);
	else
		(*jni)->DeleteWeakGlobalRef(jni, ref);
}
