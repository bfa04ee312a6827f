/*
 * Where this JVM has what bytecodes name: constant pools, what was resolved of them, and the
 * classes with their methods. Offsets in its structures, all of which come from its own tables
 * (attach/agent/jvm/pool_facts.h).
 */
#ifndef JXPERF_AGENT_METHOD_POOL_LAYOUT_H
#define JXPERF_AGENT_METHOD_POOL_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* This was resolved of one bytecode's operand: a list of them. */
struct resolved_layout {
	uint32_t list;  /* in the cache: address of an array; not split: 0 */
	uint32_t data;  /* in the array, or in the cache: where the first is */
	uint32_t bytes; /* of each */
	uint32_t entry; /* u2 in it: of the constant pool */
	uint32_t klass; /* of a field: the class that declares it; of a call that is not virtual,
			   its Method */
	uint32_t other; /* of a virtual call, int or address: its place in tables of virtual
			   methods, or, where nothing overrides it, its Method */
};

struct pool_layout {
	bool known;
	/* In a ConstantPool; in the ConstantPoolCache; each list is a ResolvedFieldEntry's or a
	 * ResolvedMethodEntry's, before JDK 23 both are one, of ConstantPoolCacheEntry. */
	uint32_t tags, cache, classes; /* addresses */
	uint32_t cache_pool;           /* address, back to the constant pool */
	uint32_t cache_length;         /* int, unless split */
	bool split;
	struct resolved_layout fields, methods;
	/* In a class. */
	uint32_t super, subklass, sibling;
	uint32_t klass_methods;
	uint32_t super_check; /* u4: where, in a class that is a subclass of it, it is named */
	uint32_t secondary_cache, secondaries, primaries;
	uint32_t vtable; /* where that begins */
	/* In a Method. */
	uint32_t vtable_index; /* int */
	uint32_t intrinsic;    /* u2: the JVM's number for what it has code of its own for; 0: none
				  can be told */
	/* In arrays: where the first element is. */
	uint32_t bytes_data, klasses_data, methods_data;
};

#endif
