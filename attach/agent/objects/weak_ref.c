#include "attach/agent/objects/weak_ref.h"

#include <string.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/jvmti/jni_slot.h"
#include "attach/agent/jvm/vmstructs.h"

/* Global because callbacks ask. */
static struct {
	bool slots;               /* can be read */
	bool refresh;             /* ... once they were brought up to date */
	const uint64_t *bad_mask; /* ZGC: a slot with any of these bits is not up to date */
	const uint64_t *shift;
} how;

uint64_t local_ref_address(jobject local)
{
	return region_canonical(&handlers.regions, jni_slot(local));
}

static uint64_t address_from_local(JNIEnv *jni, jweak ref)
{
	jobject local = (*jni)->NewLocalRef(jni, ref);
	uint64_t address;

	if (!local)
		return 0;
	address = local_ref_address(local);
	(*jni)->DeleteLocalRef(jni, local);
	return address;
}

uint64_t weak_ref_address(JNIEnv *jni, jweak ref)
{
	uint64_t slot;

	if (!how.slots)
		return address_from_local(jni, ref);
	if (how.refresh && (*jni)->IsSameObject(jni, ref, NULL))
		return 0;
	slot = jni_slot(ref);
	if (slot && how.bad_mask) {
		if (slot & *how.bad_mask)
			return address_from_local(jni, ref);
		slot >>= *how.shift & 63;
	}
	return region_canonical(&handlers.regions, slot);
}

/* Do slots say of a known object what a local reference says? Tried more than once, because the
 * object may move in between. */
static bool slots_agree(JNIEnv *jni, jweak ref)
{
	for (unsigned i = 0; i < 3; i++) {
		uint64_t address = address_from_local(jni, ref);

		if (address && weak_ref_address(jni, ref) == address)
			return true;
	}
	return false;
}

bool weak_refs_init(JNIEnv *jni)
{
	const char *gc = vmstructs_gc();
	bool zgc = strcmp(gc, "ZGC") == 0;
	jclass class = (*jni)->FindClass(jni, "java/lang/Object");
	jweak ref = class ? (*jni)->NewWeakGlobalRef(jni, class) : NULL;

	memset(&how, 0, sizeof(how));
	if (!ref) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	how.slots = !zgc || vmstructs_zgc_pointers(&how.bad_mask, &how.shift);
	how.refresh = zgc || strcmp(gc, "Shenandoah") == 0 || gc[0] == '\0';
	how.slots = how.slots && slots_agree(jni, ref);
	(*jni)->DeleteWeakGlobalRef(jni, ref);
	(*jni)->DeleteLocalRef(jni, class);
	return how.slots;
}
