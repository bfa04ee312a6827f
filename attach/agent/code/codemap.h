/*
 * The target's code cache: which compiled method or stub an address belongs to, and where its
 * instructions begin.
 *
 * It has what was read from the JVM's code heaps (attach/agent/jvm/installed_code.h) and is not
 * told when code comes or goes: what it says of a place is held against the heap each time, and
 * where the heap has another blob, or one that is not known here, the place is unknown, and the
 * blob is noted for the session thread to be read.
 *
 * Writer: the session thread. Readers: signal handlers, lock-free.
 *
 * The cache is cut into parts of 4 KiB or a little more, each with a list of the blobs that start
 * in it and the one that reaches into it, so a lookup passes a few blobs. Blobs live in a fixed
 * table; a blob that is replaced while it is read is noticed, because its serial changed, and
 * reported as absent.
 */
#ifndef JXPERF_AGENT_CODE_CODEMAP_H
#define JXPERF_AGENT_CODE_CODEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/agent/code/code_heap.h"

/* Its tables when full: 2.2 MiB, 0.5 MiB and 2 MiB. */
#define CODEMAP_BLOBS_MAX     47104u
#define CODEMAP_BLOB_BYTES    48u
#define CODEMAP_PARTS_MAX     (1u << 17)
#define CODEMAP_PART_BYTES    4u
#define CODEMAP_DEBUG_PCS_MAX (1u << 20)
#define CODEMAP_BYTES                                                                      \
	(CODEMAP_BLOBS_MAX * CODEMAP_BLOB_BYTES + CODEMAP_PARTS_MAX * CODEMAP_PART_BYTES + \
	 CODEMAP_DEBUG_PCS_MAX * sizeof(uint16_t))

/* Places of debug information that are told of one method; of more the first ones are. */
#define CODEMAP_DEBUG_PCS_EACH 16384u

enum code_type {
	CODE_NONE,
	CODE_COMPILED, /* an nmethod */
	CODE_STUB,     /* stub routines, what compiled code calls of the run time */
	CODE_INTERPRETER,
	CODE_NO_RETURN, /* a stub that does not return to who called it: throws, deoptimises */
	CODE_TO_JAVA,   /* a stub that goes on in Java code: adapters, resolving a call's target */
};

static inline bool code_is_stub(enum code_type type)
{
	return type == CODE_STUB || type == CODE_TO_JAVA;
}

struct code_blob {
	uint64_t start;
	const uint16_t *debug_pcs; /* offsets that have debug information, ascending; until clear */
	uint32_t debug_pc_count;
	uint64_t method; /* address of the Method, CODE_COMPILED only */
	uint64_t serial; /* of this blob alone, in the life of the process; never 0 */
	uint32_t size;
	enum code_type type;
	bool dense;   /* CODE_COMPILED only: debug_pcs are everywhere (debug_info.h) */
	bool nmethod; /* so the heap says: also of some that count as stubs */
};

/* Describes the code cache [low, high). Once per window, before any other call; what an earlier
 * window left is forgotten. heap, or NULL where code is not held against any, outlives the window.
 * 0 or -errno. */
int codemap_init(uint64_t low, uint64_t high, const struct code_layout *heap);

/* Returns the memory to the kernel; the address range stays reserved because late handlers may
 * still look at it. */
void codemap_clear(void);

/* Adds a blob, in the place of those that it overlaps; of the fields those are given that describe
 * it. debug_pcs (copied, any order, may be NULL) are the offsets from start at which the JVM knows
 * the inlined frames; of those beyond 64 KiB nothing is kept. tie: what the heap says of the blob
 * that it is in (code_heap_tie). */
void codemap_add(const struct code_blob *blob, uint64_t tie, const uint32_t *debug_pcs,
		 uint32_t debug_pc_count);

/* Forgets the blobs that begin in [from, to). */
void codemap_remove(uint64_t from, uint64_t to);

/* Is the blob that begins at start known as the heap has it? One that is added again would have
 * another serial. */
bool codemap_has(uint64_t start);

/* Was a blob noted since the last call? Async-signal-safe. */
bool codemap_has_news(void);

/* Takes the blobs that were met and are not in the map, as the heap knows them: up to
 * CODEMAP_MET_MAX; returns how many. */
#define CODEMAP_MET_MAX 256u
unsigned codemap_take_met(uint64_t blobs[CODEMAP_MET_MAX]);

/* Is the address inside the code cache at all? */
bool codemap_covers(uint64_t address);

/* Where an offset from the code cache's beginning is; 0: outside. */
uint64_t codemap_address(uint32_t offset);

/* A place in code that something was done at, for whoever asks later: the offset of the instruction
 * or, where it was done by what compiled code called, of the call's last byte, with this bit. */
#define CODEMAP_CALLED (UINT32_C(1) << 31)

/* ip: the instruction's; called_behind: where what was called returns to, 0: nothing was. */
uint32_t codemap_place(uint64_t ip, uint64_t called_behind);

/* The blob that address lies in; false when unknown, which is noted. Async-signal-safe. */
bool codemap_find(uint64_t address, struct code_blob *out);

/* The blob of a number; false when it is gone. Passes all that there are. */
bool codemap_find_serial(uint64_t serial, struct code_blob *out);

/* The compiled code of the Method at an address that most likely runs; false where it has none. Of
 * several it is the one at the highest address: the heap for what is compiled for good lies above
 * that for what still counts (CodeCache::initialize_heaps), and is filled upwards. What the JVM has
 * replaced is there for some time; the order in which it tells of code that was there before is
 * that of its heaps. Passes all that there are. */
bool codemap_find_method(uint64_t method, struct code_blob *out);

/* The index of the first of the blob's debug_pcs at or after an offset; debug_pc_count when there
 * is none. Async-signal-safe. */
uint32_t codemap_debug_pc_from(const struct code_blob *blob, uint64_t offset);

/* Blobs, and blobs some of whose debug information was lost, because they did not fit the tables
 * since init; and how often one was met that there was no room to note. */
uint64_t codemap_dropped(void);

#endif
