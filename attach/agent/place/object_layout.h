/*
 * How this JVM lays objects out in memory, as far as reading one from outside takes: where a header
 * has its class, and what a class says of the size of its objects. Filled in once a window from
 * HotSpot's own tables (attach/agent/jvm/layout_facts.h), constant while handlers run.
 */
#ifndef JXPERF_AGENT_PLACE_OBJECT_LAYOUT_H
#define JXPERF_AGENT_PLACE_OBJECT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Where an object's header has its class (oopDesc::klass). */
enum class_word {
	CLASS_WORD_NONE,    /* not known: objects cannot be told */
	CLASS_WORD_FULL,    /* a pointer behind the mark word */
	CLASS_WORD_NARROW,  /* 32 bits behind the mark word */
	CLASS_WORD_COMPACT, /* the upper bits of the mark word (JEP 450) */
};

struct narrow_pointers {
	uint64_t base;
	uint32_t shift;
	bool used;
};

struct object_layout {
	enum class_word class_word;
	uint32_t hash_shift;    /* of the identity hash in the mark word; 0: not known */
	uint32_t compact_shift; /* of the class in a compact header's mark word */
	struct narrow_pointers oops;
	struct narrow_pointers classes;
	uint32_t array_length;    /* its offset in an array; the header ends there */
	uint32_t klass_layout;    /* offsets in a Klass: of its layout helper, */
	uint32_t klass_mirror;    /* and of the handle of its java.lang.Class */
	uint32_t klass_constants; /* of the pool of an instance class; 0: not known */
	uint32_t pool_holder;     /* and offset in that of the class */
	uint32_t tlab_start;      /* in a JavaThread, of its allocation buffer's bounds; */
	uint32_t tlab_end;        /* 0: not known */
	uint32_t allocated_bytes; /* and of what it has allocated so far, likewise */
	uint64_t heap_max;        /* no object is larger; 0: not known */
	uint32_t mirror_klass;    /* offsets in a java.lang.Class: of the Klass, */
	uint32_t mirror_words;    /* and of its own size */
	const uint64_t
	    *handle_bad; /* ZGC: an object's address in a handle is not up to date with */
	const uint64_t
	    *handle_shift;     /* one of these bits; else it is this far to the left. NULL: plain */
	uint64_t mirror_class; /* the Klass of java.lang.Class; 0: not known */
};

#endif
