/*
 * Walking a thread's stack frame by frame, and telling the calls of each from what is known of it.
 *
 * Only frames whose sender is certain are passed: compiled code beyond its prologue, interpreted
 * frames, and the entry frame between native code and the Java code that it called. A walk that
 * meets anything else (a stub in whose code the return address is not certain, code that is not
 * there) ends there, and the JVM is to be asked. The sender of a frame is found as HotSpot finds it
 * (frame::sender, src/hotspot/cpu/x86/frame_x86.inline.hpp).
 *
 * The innermost method may be where its frame does not stand (frame_edge.h); then the walk knows
 * more than the JVM would.
 *
 * A frame that is to be deoptimised returns to its method's handler of that; where it would have
 * returned to is in the frame.
 *
 * A virtual thread's stack ends with its run method: what is frozen, and what carries it, is none
 * of it.
 *
 * Async-signal-safe; in the thread whose stack is walked. Reads nothing but the stack, within the
 * bounds that are given, and code heaps.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_WALK_H
#define JXPERF_AGENT_STACK_FRAME_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/stack/frame_layout.h"
#include "attach/agent/stack/frame_table.h"

/* Frames, without what is inlined in them. */
#define WALK_FRAMES_MAX 192u

/* Where a walk begins. */
struct walk_start {
	uint64_t ip; /* where the thread stands */
	uint64_t pc; /* as the JVM is asked for it (debug_info.h) */
	uint64_t sp;
	uint64_t fp;
	uint64_t bcp;        /* what r13 has, where the interpreter keeps its place */
	const greg_t *regs;  /* all of them; NULL where they are those of somebody else */
	bool at_call;        /* pc is where a call returns to */
	uint64_t stack_high; /* [sp, stack_high) can be read */
	uint32_t epoch;
};

struct walk_frame {
	struct frame_key key;
	const struct frame_entry *entry; /* NULL: not known */
	uint64_t sp;
	uint64_t fp;
	uint16_t words; /* 0: interpreted */
};

enum walk_end {
	WALK_CUT,  /* by a frame whose sender is not certain */
	WALK_DEEP, /* there are more frames than were wanted; all that were passed are known */
	WALK_ROOT, /* by the thread's first Java frame, or a virtual thread's first that is there */
};

/* Why a walk was cut, or its frames are unknown. */
enum walk_cut {
	CUT_NOT,
	CUT_INTERPRETER, /* an interpreted frame in a state that tells nothing for certain */
	CUT_STUB,        /* a stub */
	CUT_EDGE,        /* compiled code whose frame does not stand */
	CUT_CODE,        /* in no code of the JVM's */
	CUT_UNMAPPED,    /* code that nobody has told of yet */
	CUT_STACK,       /* a frame that does not fit the stack */
	CUT_ENTRY,       /* an entry frame that leads nowhere */
	CUT_FULL,        /* more frames than are walked */
	CUTS,
};

struct frame_walk {
	enum walk_end end;
	enum walk_cut cut;
	bool at_call; /* as where it began */
	bool in_stub; /* the innermost frame is not where it began: a stub is */
	bool edge;    /* ... where it began there is an interpreted frame that does not stand, or an
		       * adapter */
	bool fiber;   /* the root is a virtual thread's */
	bool deoptimised; /* a frame is to be, at which the JVM ends */
	unsigned count;
	unsigned unknown; /* frames */
	unsigned calls;   /* of the others */
	struct walk_frame frames[WALK_FRAMES_MAX];
};

/* Walks until the root, or until calls enough are known. Frames of compiled code that were not met
 * before are taken in as their debug information tells (scopes.h). */
void frame_walk(const struct frame_layout *layout, struct frame_table *table,
		const struct walk_start *start, unsigned calls_wanted, struct frame_walk *out);

/* Is the innermost frame one that does not stand? The walk has to have frames, all known. */
bool frame_walk_is_at_edge(const struct frame_walk *walk);

/* How many of the innermost calls the walk knows better than the JVM: of an interpreted frame that
 * was not at a call it says where that last was at one, of compiled code that called a stub it
 * takes the next place behind the call, of code behind all that is known a method's begin
 * (forte.cpp). Their methods are the same, or at least that of the last of them. The walk has to
 * have frames, all known. */
unsigned frame_walk_better(const struct frame_walk *walk, const struct frame_table *table);

/* The calls of a walk without unknown frames, innermost first, room at most; returns how many. */
unsigned frame_walk_calls(const struct frame_walk *walk, const struct frame_table *table,
			  struct agct_frame *to, unsigned room);

/* The answer of the JVM that a walk is learnt from. */
struct frame_answer {
	const struct agct_frame *calls; /* all of the walk */
	unsigned count;
	/* How many calls the stack has from the frame on, a caller: when the answer alone leaves
	 * doubts whose they are. 0 when the JVM cannot tell. NULL: it cannot be asked. */
	unsigned (*count_from)(void *arg, const struct walk_frame *frame);
	void *arg;
};

/* Takes in what unknown frames stand for, as far as there is no doubt. */
void frame_walk_learn(const struct frame_layout *layout, struct frame_table *table,
		      const struct frame_walk *walk, const struct frame_answer *answer);

#endif
