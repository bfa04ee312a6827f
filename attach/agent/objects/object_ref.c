#include "attach/agent/objects/object_ref.h"

#include <stdbool.h>
#include <stddef.h>

#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/g1_regions.h"
#include "attach/agent/objects/weak_ref.h"

/* Does the collector take a weak reference for a strong one, so that what is tracked is kept?
 * Global because callbacks ask. */
static bool keeps;

/* What references may keep, where they keep anything, is the largest heap divided by one of these.
 *
 * With a collector that nobody has looked at, and with a heap whose size is not known: */
#define HEAP_PART_UNKNOWN  64u
#define UNKNOWN_HEAP_BYTES (UINT64_C(32) << 20)

/* With ZGC with generations. It takes weak roots for strong ones while it collects its young
 * generation (ZMarkYoungRootsTask in zMark.cpp, JDK 21 to 25): an object that is referred to grows
 * old, and is reclaimed by a major collection only. */
#define HEAP_PART_ZGC 8u

/* Estimated from a measurement: where arrays of floats grow to 2 MiB (JDK 25), ZGC's threads took
 * 16 us more of CPU time for each that did while some 60 MB a second were kept; that is about 0.5
 * ns a byte. */
#define ZGC_KEPT_BYTE_NS 0.5

/* At that price an object of 8 KiB costs as much as its callback. That is where objects begin to be
 * large with a budget of 1%, and in proportion with others. */
#define ZGC_LARGE_BYTES_PER_BUDGET (100 * (UINT64_C(8) << 10))

static uint64_t heap_bytes(void)
{
	uint64_t heap = vmstructs_max_heap();

	return heap ? heap : UNKNOWN_HEAP_BYTES;
}

static struct object_refs_effect effect_on_zgc(double budget)
{
	return (struct object_refs_effect){
	    .kept_bytes_max = heap_bytes() / HEAP_PART_ZGC,
	    .kept_byte_ns = ZGC_KEPT_BYTE_NS,
	    .large_bytes = (uint64_t)(budget * (double)ZGC_LARGE_BYTES_PER_BUDGET) + 1,
	};
}

struct object_refs_effect object_refs_init(JNIEnv *jni, double budget)
{
	bool known = vmstructs_gc()[0] != '\0', zgc = vmstructs_zgc_is_generational();
	const struct object_refs_effect none = {
	    .kept_bytes_max = known ? UINT64_MAX : heap_bytes() / HEAP_PART_UNKNOWN,
	    .large_bytes = UINT64_MAX,
	};

	keeps = !known || zgc;
	(void)weak_refs_init(jni); /* Where slots cannot be read, local references do. */
	(void)g1_regions_init(); /* Where regions cannot be read, no humongous object is tracked. */
	return zgc ? effect_on_zgc(budget) : none;
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
	else if (keeps)
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
