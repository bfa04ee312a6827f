/*
 * Code blobs as HotSpot itself finds them: through the segment maps of its code heaps
 * (CodeHeap::find_start, src/hotspot/share/memory/heap.cpp). What this says is true at the moment
 * it is asked, while the code map (codemap.h) has what was read before.
 *
 * Memory of code heaps is never given back and their descriptions never move, so all of it is read
 * directly. A blob that a thread's stack leads to is alive; of any other what is read may be
 * nonsense, but it can be read.
 *
 * Async-signal-safe, where nothing else is said.
 */
#ifndef JXPERF_AGENT_CODE_CODE_HEAP_H
#define JXPERF_AGENT_CODE_CODE_HEAP_H

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
	uint32_t name;       /* of a blob: address of a string */
	uint32_t size;       /* int, of a blob with all that belongs to it */
	uint32_t code_end;   /* int: offset from the blob */
	uint32_t blob_bytes; /* of a blob's fields */
	uint32_t method;     /* of an nmethod: address of the Method, null for none */
	uint32_t state;      /* int8_t, of an nmethod */
	/* Where frames of an nmethod return to that are to be deoptimised: addresses, or ints:
	 * offsets from the blob; and an int: the offset in such a frame of where it would have
	 * returned. */
	unsigned deopt_count; /* 0: not known */
	uint32_t deopt[2];
	bool deopt_is_offset;
	uint32_t original_pc;
	/* The addresses of both names that nmethods have (code_heap_learn_names); 0: none was met.
	 * The second is that of wrappers of native methods, and of what a method handle is called
	 * through. */
	uint64_t name_compiled;
	uint64_t name_native;
	uint64_t name_adapter; /* likewise, of adapters between compiled and interpreted code, */
	uint64_t name_thaw;    /* and of what brings back frames of virtual threads */
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

/* A blob that code_heap_find gave: its first instruction, what its frames take of the stack
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

/* Tells what a blob that code_heap_find gave is. */
enum code_kind code_heap_kind(const struct code_layout *layout, uint64_t blob);

/* Is pc where an nmethod's frames return to that are to be deoptimised? Then its frame, of so
 * many words, has the pc that counts at *place, bytes from the stack pointer. */
bool code_heap_original_pc(const struct code_layout *layout, uint64_t blob, uint64_t pc,
			   uint32_t words, uint32_t *place);

/* Does it bring back frames of virtual threads? Java code returns there, and nowhere else in stubs
 * of its blob, where the frame's caller is not on the stack. */
bool code_heap_is_thaw(const struct code_layout *layout, uint64_t blob);

/* Is it one of those between compiled code and the interpreter? */
bool code_heap_is_adapter(const struct code_layout *layout, uint64_t blob);

/* Before a window, not for handlers: finds out what nmethods and adapters are named, as far as
 * there are any. */
void code_heap_learn_names(struct code_layout *layout);

/* Tells what cannot be the same of the blob and of another one that takes its place. The name's
 * address is no proof that it is an nmethod or none: who asks has to know. */
uint64_t code_heap_tie(const struct code_layout *layout, uint64_t blob, bool is_nmethod);

/* A blob says this of itself: nonsense where it went while it was read, which its tie tells, but
 * [blob, end) can be read. */
struct code_heap_content {
	uint64_t blob;
	uint64_t end;
	uint64_t name;  /* address of a string */
	uint64_t begin; /* of its instructions */
	uint32_t size;  /* bytes of them */
};

/* Reads a blob that code_heap_find or code_heap_each gave. False when it has no instructions, or
 * what it says cannot be. */
bool code_heap_read(const struct code_layout *layout, uint64_t blob, struct code_heap_content *out);

/* Visits the blobs of all heaps that are there. */
typedef void code_heap_visit(void *arg, uint64_t blob);
void code_heap_each(const struct code_layout *layout, code_heap_visit *visit, void *arg);

#endif
