#include "attach/agent/place/object_header.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

/* markWord.hpp. */
#define LOCK_MASK     3u
#define LOCK_UNLOCKED 1u
#define LOCK_MARKED   3u
#define BIASED_BIT    4u
#define AGE_END       7u /* between age and hash there are unused bits */
#define HASH_BITS     31u

/* Bits between age and hash that no mark word has set. */
static bool has_unused_bits(const struct object_layout *layout, uint64_t mark)
{
	return layout->hash_shift > AGE_END &&
	       (mark & ((UINT64_C(1) << layout->hash_shift) - 1)) >> AGE_END;
}

bool object_header_is_mark(const struct object_layout *layout, uint64_t mark)
{
	if (mark == 0 || (mark & LOCK_MASK) == LOCK_MARKED)
		return false;
	/* A compact header is one also while its object is locked. (A reference of ZGC's has one of
	 * the unused bits set.) */
	if (layout->class_word == CLASS_WORD_COMPACT)
		return !(mark & BIASED_BIT) && !has_unused_bits(layout, mark);
	/* Where there is a lock there may be a pointer, and so where one is biased (before JDK 18).
	 */
	if ((mark & LOCK_MASK) != LOCK_UNLOCKED || mark & BIASED_BIT ||
	    layout->hash_shift < AGE_END)
		return true;
	return !has_unused_bits(layout, mark) && mark >> (layout->hash_shift + HASH_BITS) == 0;
}

uint64_t object_header_class(const struct object_layout *layout, const uint64_t *words)
{
	uint64_t narrow;

	switch (layout->class_word) {
	case CLASS_WORD_FULL:
		return words[1];
	case CLASS_WORD_NARROW:
		narrow = words[1] & UINT32_MAX;
		break;
	case CLASS_WORD_COMPACT:
		narrow = words[0] >> layout->compact_shift;
		break;
	default:
		return 0;
	}
	return narrow ? layout->classes.base + (narrow << layout->classes.shift) : 0;
}

uint64_t object_header_object_bytes(const struct object_layout *layout, uint64_t object,
				    const struct klass *klass,
				    const uint64_t words[OBJECT_HEADER_WORDS])
{
	uint32_t size;
	int32_t length;

	if (klass_is_array(klass->layout_helper)) {
		memcpy(&length, (const char *)words + layout->array_length, sizeof(length));
		if (length < 0)
			return 0;
		return klass_array_header_bytes(klass->layout_helper) +
		       ((uint64_t)length << klass_element_log2(klass->layout_helper));
	}
	/* What stands for a class has its static fields behind its own. */
	if (klass_address(klass->id) == layout->mirror_class && layout->mirror_class)
		return safe_read(object + layout->mirror_words, &size, sizeof(size))
			   ? (uint64_t)size * 8
			   : 0;
	return klass_instance_bytes(klass->layout_helper);
}

bool object_header_read(const struct object_layout *layout, uint64_t object,
			uint64_t words[OBJECT_HEADER_WORDS])
{
	/* The smallest object, at the end of what can be read, has two words, or one. */
	return safe_read(object, words, OBJECT_HEADER_BYTES) ||
	       safe_read(object, words, 2 * sizeof(*words)) ||
	       (layout->class_word == CLASS_WORD_COMPACT &&
		safe_read(object, words, sizeof(*words)));
}

uint32_t object_header_end(const struct object_layout *layout)
{
	switch (layout->class_word) {
	case CLASS_WORD_FULL:
		return 16;
	case CLASS_WORD_NARROW:
		return 12;
	default: /* The class is part of the mark. */
		return 8;
	}
}
