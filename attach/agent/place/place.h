/*
 * Which object an access touches, and where in it, told from what the accessing thread holds.
 *
 * Code that touches an object has a pointer to it: mostly the base register of the operand. C2's
 * loops go over arrays with pointers into them, and keep the one to the array in another register,
 * as a narrow pointer, or in their frame. So each such value is a candidate: an address in the
 * heap, before the access, with a header that is one, of a class that is one (klass.h), whose
 * object holds the accessed bytes. Objects do not overlap, so it is the one.
 *
 * A register or slot that nothing uses any more may name what has been somewhere before the last
 * collection. So the operand's own registers come first, which are in use, and others by how near
 * before the access they point: within the object itself only its own fields could look like
 * another one's header. The last resort is what lies before the access in memory.
 *
 * A new object lies in memory that still has the headers of what was there before. Its own comes
 * first of all that is stored to it, but loops that clear the rest may go backward. So plain stores
 * to a header are not told, nor those in the thread's allocation buffer whose operand names no
 * object, unless they are known to go forward, or to be to an object that is made already.
 *
 * Async-signal-safe. The thread has to be in compiled Java code, where no object moves.
 */
#ifndef JXPERF_AGENT_PLACE_PLACE_H
#define JXPERF_AGENT_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/region.h"
#include "attach/agent/place/object_layout.h"

enum place_kind {
	PLACE_NONE, /* not told */
	PLACE_OBJECT,
	PLACE_SPILL, /* of a compiled frame */
	PLACE_STACK, /* other places of a thread's stack */
};

struct place {
	uint32_t klass; /* of the object: an id of klass.h; 0: not told */
	uint32_t
	    subject; /* of an object of type java.lang.Class: the class that it stands for; or 0 */
	uint32_t offset;      /* of the access in the object, bytes; UINT32_MAX: beyond */
	uint32_t words;       /* size of the object, in words of 8 bytes; at most UINT32_MAX */
	uint8_t kind;         /* enum place_kind */
	bool element;         /* the object is an array, and this one of its elements */
	uint8_t header_bytes; /* of an array; 0: it is none */
};

enum place_result {
	PLACE_FOUND,
	PLACE_NO_OBJECT, /* nothing at hand is an object that holds the address */
	PLACE_NO_CLASS,  /* something may be, but its class is none, or cannot vouch for itself now
			  */
	PLACE_FRESH,     /* the access makes the header of a new object, so there is none yet */
	PLACE_FULL,      /* its class is one too many */
};

/* Arrays that were found lately: they are where they were until the next epoch begins. */
#define PLACE_REMEMBERED 8u

struct place_memory {
	struct place_remembered {
		uint64_t address; /* 0: nothing */
		uint64_t bytes;
		struct place place;
	} objects[PLACE_REMEMBERED];
	unsigned next;
	/* Looking far before an access takes long. When it is in vain, the next ones are not, of
	 * which there are twice as many each time. */
	unsigned passed_over, pass_over;
};

/* Its objects, when an epoch begins. All zero remembers nothing. */
void place_forget(struct place_memory *m);

/* How an access names its address: registers (-1: none) that still have what
 * the operand was made of, and whether it stores there, reads nothing and takes part in no lock. */
struct place_operand {
	int base;
	int index;
	bool plain_store;
	bool to_made; /* ... and it is to an object whose header and fields are there */
	uint64_t
	    stored_to; /* of one of many in one instruction: it has stored to what lies before */
};

/* Which place an address in the heap is. met: what the thread has met. out is unchanged unless
 * found. */
enum place_result place_find(const struct object_layout *layout, const struct region_map *regions,
			     uint64_t address, const struct place_operand *operand,
			     const gregset_t regs, struct place_memory *met, struct place *out);

/* Is what was found at address still there, as far as the object's header tells? */
bool place_holds(const struct object_layout *layout, const struct region_map *regions,
		 uint64_t address, const struct place *found);

#endif
