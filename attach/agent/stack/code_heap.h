/*
 * Code blobs as HotSpot itself finds them: through the segment maps of its code heaps
 * (CodeHeap::find_start, src/hotspot/share/memory/heap.cpp). What this says is true at the moment
 * it is asked, while the code map (codemap.h) learns by events, which may be late.
 *
 * Memory of code heaps is never given back and their descriptions never move, so all of it is read
 * directly. A blob that a thread's stack leads to is alive; of any other what is read may be
 * nonsense, but it can be read.
 *
 * Async-signal-safe, where nothing else is said.
 */
#ifndef JXPERF_AGENT_STACK_CODE_HEAP_H
#define JXPERF_AGENT_STACK_CODE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_HEAPS_MAX 4u /* CodeBlobType: non-nmethod, profiled, not profiled, or all in one */

struct code_heap {
	uint64_t low; /* [low, high) is reserved */
	uint64_t high;
	uint64_t segments; /* the map: a byte for each segment */
	/* The JVM's own variables, which grow: of the map, and of the memory that can be read. */
	const uint64_t *segments_end;
	const uint64_t *committed_end;
	unsigned segment_shift;
};

/* How this JVM describes its code; filled in once a window (attach/agent/jvm/code_facts.h). */
struct code_layout {
	unsigned heap_count; /* 0: not known */
	struct code_heap heaps[CODE_HEAPS_MAX];
	uint32_t block_bytes; /* of the header before a blob, */
	uint32_t block_used;  /* and offset in it of the flag that says it is in use */
	/* Offsets in a blob. */
	uint32_t frame_size;     /* int, words */
	uint32_t frame_complete; /* int or int16_t: from here on the frame stands */
	uint32_t code_begin;     /* address, or int: offset from the blob */
	uint32_t compile_id;     /* int, of an nmethod */
	bool frame_complete_is_short;
	bool code_begin_is_offset;
	uint32_t method; /* of an nmethod: address of the Method, null for none; 0: not known */
	/* What blobs are named tells nmethods from others: the addresses of both names that they
	 * have (code_heap_learn_names); 0: none was met. */
	uint32_t name; /* address; 0: not known */
	uint64_t name_compiled;
	uint64_t name_native; /* wrappers of native methods, and what a method handle is called
				 through */
	/* For who looks for nmethods (code_heap_nmethods). */
	bool nmethods_known;
	uint32_t nmethod_bytes; /* of its fields */
	uint32_t code_end;      /* address */
	uint32_t state;         /* int8_t */
};

struct code_heap_blob {
	uint64_t start; /* of the blob, not of its instructions */
	uint32_t id;    /* of an nmethod: its compilation's; of others nonsense */
};

/* Is it an address in one of the heaps at all? */
bool code_heap_covers(const struct code_layout *layout, uint64_t pc);

/* Where what can be read behind pc, in its heap, ends; 0 for an address in none. */
uint64_t code_heap_end(const struct code_layout *layout, uint64_t pc);

/* The blob that pc lies in. False when there is none. */
bool code_heap_find(const struct code_layout *layout, uint64_t pc, struct code_heap_blob *out);

/* Of a blob that code_heap_find gave: its first instruction, what its frames take of the stack
 * (words, with return address and saved rbp; 0 or less: not fixed), and how far from its first
 * instruction the frame is not built yet (bytes; negative: it never is). */
uint64_t code_heap_begin(const struct code_layout *layout, uint64_t blob);
int32_t code_heap_frame_words(const struct code_layout *layout, uint64_t blob);
int32_t code_heap_frame_complete(const struct code_layout *layout, uint64_t blob);

enum code_kind {
	CODE_KIND_UNKNOWN, /* nobody knows how to tell */
	CODE_KIND_COMPILED,
	CODE_KIND_NATIVE,
	CODE_KIND_OTHER, /* no nmethod */
};

/* What a blob that code_heap_find gave is. */
enum code_kind code_heap_kind(const struct code_layout *layout, uint64_t blob);

/* Before a window, not for handlers: finds out what nmethods are named, as far as there are any. */
void code_heap_learn_names(struct code_layout *layout);

/* An nmethod that threads may run. What it says of itself was read while others may have changed
 * it: it has to be looked at again before it counts (code_heap_is_still). */
struct code_heap_nmethod {
	uint64_t blob;
	uint64_t end; /* nothing of it lies at or behind this address; all before it can be read */
	uint64_t method; /* the Method, not its id */
	uint32_t id;     /* of its compilation */
	bool native; /* a wrapper of a native method, or what a method handle is called through */
};

/* Visits the nmethods of all heaps, as their iterator does (CodeCache, NMethodIterator). visit
 * gives false to end it. Not for handlers: it reads blobs' names safely. False when it was ended,
 * or when the layout does not tell. */
typedef bool code_heap_visit(void *arg, const struct code_heap_nmethod *nmethod);
bool code_heap_nmethods(const struct code_layout *layout, code_heap_visit *visit, void *arg);

/* Is that nmethod still what it was? */
bool code_heap_is_still(const struct code_layout *layout, const struct code_heap_nmethod *nmethod);

/* Of an nmethod, how many bytes of instructions it has from code_heap_begin on; 0 where what is
 * said of that cannot be. */
uint32_t code_heap_size(const struct code_layout *layout, const struct code_heap_nmethod *nmethod);

#endif
