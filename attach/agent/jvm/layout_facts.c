#include "attach/agent/jvm/layout_facts.h"

#include <string.h>

#include "attach/agent/jvm/known_classes.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/place/klass.h"

/* Which structure has the bases of narrow pointers, and under which names, changed between
 * releases; the newest first. */
struct narrow_names {
	const char *type, *base, *shift;
};

static const struct narrow_names oop_names[] = {
    {"CompressedOops", "_base", "_shift"},
    {"CompressedOops", "_narrow_oop._base", "_narrow_oop._shift"},
    {"Universe", "_narrow_oop._base", "_narrow_oop._shift"},
};
static const struct narrow_names class_names[] = {
    {"CompressedKlassPointers", "_base", "_shift"},
    {"CompressedKlassPointers", "_narrow_klass._base", "_narrow_klass._shift"},
    {"Universe", "_narrow_klass._base", "_narrow_klass._shift"},
};

#define NARROW_NAMES 3u

static bool read_narrow(const struct narrow_names names[NARROW_NAMES], struct narrow_pointers *out)
{
	uint64_t base, shift;

	for (unsigned i = 0; i < NARROW_NAMES; i++) {
		if (!vmstructs_static_word(names[i].type, names[i].base, &base) ||
		    !vmstructs_static_word(names[i].type, names[i].shift, &shift))
			continue;
		/* The shift is an int, so the word has something else in its upper half. */
		*out = (struct narrow_pointers){
		    .base = base, .shift = (uint32_t)shift & 63, .used = true};
		return true;
	}
	return false;
}

static bool offset_of(const char *type, const char *field, uint32_t *out)
{
	uint64_t offset;

	if (!vmstructs_offset(type, field, &offset))
		return false;
	*out = (uint32_t)offset;
	return true;
}

/* The offset of a field that HotSpot injects into objects of type java.lang.Class, which it notes
 * in an int. */
static bool injected_offset(const char *field, uint32_t *out)
{
	uint64_t word;

	if (!vmstructs_static_word("java_lang_Class", field, &word))
		return false;
	*out = (uint32_t)word;
	return true;
}

static bool read_header(struct object_layout *l)
{
	uint64_t shift;

	if (vmstructs_long_constant("markWord::hash_shift", &shift) ||
	    vmstructs_long_constant("markOopDesc::hash_shift", &shift))
		l->hash_shift = (uint32_t)shift;
	if (vmstructs_flag("UseCompactObjectHeaders")) {
		if (!vmstructs_long_constant("markWord::klass_shift", &shift))
			return false;
		l->compact_shift = (uint32_t)shift;
		l->class_word = CLASS_WORD_COMPACT;
		l->array_length = 8;
	} else if (vmstructs_flag("UseCompressedClassPointers")) {
		l->class_word = CLASS_WORD_NARROW;
		l->array_length = 12;
	} else {
		l->class_word = CLASS_WORD_FULL;
		l->array_length = 16;
	}
	return l->class_word == CLASS_WORD_FULL || read_narrow(class_names, &l->classes);
}

/* ZGC's handles are coloured; those of others are plain. */
static void read_handles(struct object_layout *l)
{
	if (!vmstructs_zgc_pointers(&l->handle_bad, &l->handle_shift))
		l->handle_bad = l->handle_shift = NULL;
}

static void meet(const struct region_map *regions, const struct object_layout *l, uint64_t klass)
{
	struct klass ignored;

	klass_trust(l, klass);
	(void)klass_find(l, regions, klass, &ignored); /* Else it is met later. */
}

/* One of each kind that HotSpot has (klassKind.hpp), in its archive or not, and arrays whose
 * objects may have to be found without having met one (place.h). */
static void meet_some(const struct region_map *regions, const struct object_layout *l,
		      const struct known_classes *known)
{
	const uint64_t klasses[] = {known->string,       known->weak_reference, known->class,
				    known->class_loader, known->objects,        known->strings};

	for (size_t i = 0; i < sizeof(klasses) / sizeof(klasses[0]); i++)
		meet(regions, l, klasses[i]);
	for (size_t i = 0; i < KNOWN_PRIMITIVES; i++)
		meet(regions, l, known->primitives[i]);
}

/* Reads what can be done without. */
static void read_more(struct object_layout *l)
{
	uint32_t tlab;

	l->heap_max = vmstructs_max_heap();
	if (!offset_of("InstanceKlass", "_constants", &l->klass_constants) ||
	    !offset_of("ConstantPool", "_pool_holder", &l->pool_holder))
		l->klass_constants = 0;
	if (!offset_of("Thread", "_allocated_bytes", &l->allocated_bytes))
		l->allocated_bytes = 0;
	if (offset_of("Thread", "_tlab", &tlab) &&
	    offset_of("ThreadLocalAllocBuffer", "_start", &l->tlab_start) &&
	    offset_of("ThreadLocalAllocBuffer", "_end", &l->tlab_end)) {
		l->tlab_start += tlab;
		l->tlab_end += tlab;
	} else {
		l->tlab_end = 0;
	}
}

void layout_facts_read(const struct region_map *regions, struct object_layout *out)
{
	struct object_layout l = {.class_word = CLASS_WORD_NONE};
	struct known_classes known;

	if (vmstructs_flag("UseCompressedOops"))
		(void)read_narrow(oop_names, &l.oops); /* Else none are recognised. */
	read_handles(&l);
	read_more(&l);
	if (!offset_of("Klass", "_layout_helper", &l.klass_layout) ||
	    !offset_of("Klass", "_java_mirror", &l.klass_mirror) ||
	    !injected_offset("_klass_offset", &l.mirror_klass) ||
	    !injected_offset("_oop_size_offset", &l.mirror_words) || !read_header(&l))
		l.class_word = CLASS_WORD_NONE;
	else {
		known_classes_find(&known);
		l.mirror_class = known.class;
		meet_some(regions, &l, &known);
	}
	*out = l;
}
