/*
 * The target's code cache: which compiled method or stub an address belongs to, and where its
 * instructions begin.
 *
 * Writers: JVMTI callbacks of any JVM thread (CompiledMethodLoad, CompiledMethodUnload,
 * DynamicCodeGenerated), serialised by a mutex inside. Readers: signal handlers, lock-free.
 *
 * The index is one 32-bit slot per 64 bytes of code cache (HotSpot's CodeCacheSegmentSize is 64 or
 * 128), so a lookup is two loads. Blobs live in a fixed table; a blob that is replaced while it is
 * read is noticed, because its index slot changed, and reported as absent.
 */
#ifndef JXPERF_AGENT_CODEMAP_H
#define JXPERF_AGENT_CODEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_type {
	CODE_NONE,
	CODE_COMPILED, /* an nmethod */
	CODE_STUB,     /* stub routines, adapters, vtable stubs */
	CODE_INTERPRETER,
};

struct code_blob {
	uint64_t start;
	const uint32_t *debug_pcs; /* offsets that have debug information, ascending; until clear */
	uint32_t debug_pc_count;
	uint64_t method; /* jmethodID as a number, CODE_COMPILED only */
	uint64_t serial; /* of this blob alone, in the life of the process; never 0 */
	uint32_t size;
	enum code_type type;
};

/* Describes the code cache [low, high). Once per window, before any other call; what an earlier
 * window left is forgotten. 0 or -errno. */
int codemap_init(uint64_t low, uint64_t high);

/* Returns the memory to the kernel; the address range stays reserved because late JVMTI callbacks
 * may still write to it. */
void codemap_clear(void);

/* A stub, or anything else without debug information. */
void codemap_add_stub(uint64_t start, uint32_t size, enum code_type type);

/* A compiled method. debug_pcs (copied, any order, may be NULL) are the offsets from start at which
 * the JVM knows the inlined frames. */
void codemap_add_compiled(uint64_t start, uint32_t size, uint64_t method, const uint32_t *debug_pcs,
			  uint32_t debug_pc_count);
void codemap_remove(uint64_t start);

/* Is the address inside the code cache at all? */
bool codemap_covers(uint64_t address);

/* The blob that address lies in; false when unknown. Async-signal-safe. */
bool codemap_find(uint64_t address, struct code_blob *out);

/* Blobs, and debug information of blobs, that did not fit the tables since init. */
uint64_t codemap_dropped(void);

#endif
