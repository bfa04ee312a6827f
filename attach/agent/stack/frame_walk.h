/*
 * Walking a thread's stack frame by frame, and telling the calls of each from what is known of it.
 *
 * A frame that is to be deoptimised returns to its method's handler of that; where it would have
 * returned to is in the frame. A virtual thread's stack ends with its run method: what is frozen,
 * and what carries it, is none of it.
 *
 * Only frames whose sender is certain are passed: compiled code, interpreted frames, stubs, and the
 * entry frame between native code and the Java code that it called. A walk that meets anything else
 * ends there, and tells why: it never guesses. The sender of a frame is found as HotSpot finds it
 * (frame::sender, src/hotspot/cpu/x86/frame_x86.inline.hpp).
 *
 * Methods are named as their frames are met (attach/agent/method/method_table.h).
 *
 * Async-signal-safe; in the thread whose stack is walked. Reads the stack, within the bounds that
 * are given, and code heaps directly, all else in a way that fails instead of faulting.
 */
#ifndef JXPERF_AGENT_STACK_FRAME_WALK_H
#define JXPERF_AGENT_STACK_FRAME_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/method/method_table.h"
#include "attach/agent/stack/frame_layout.h"
#include "attach/agent/stack/frame_table.h"

/* Where a walk begins. */
struct walk_start {
	uint64_t ip; /* where the thread stands */
	uint64_t pc; /* whose debug information counts for that (debug_info.h) */
	uint64_t sp;
	uint64_t fp;
	uint64_t bcp;        /* what r13 has, where the interpreter keeps its place */
	const greg_t *regs;  /* all of them; NULL where they are those of somebody else */
	bool at_call;        /* pc is where a call returns to */
	uint64_t stack_high; /* [sp, stack_high) can be read */
	uint32_t epoch;
};

enum walk_end {
	WALK_CUT,  /* by a frame whose sender is not certain */
	WALK_DEEP, /* there is no room for more calls */
	WALK_ROOT, /* by the thread's first Java frame, or a virtual thread's first that is there */
};

/* Why a walk was cut. */
enum walk_cut {
	CUT_NOT,
	CUT_INTERPRETER, /* an interpreted frame in a state that tells nothing for certain */
	CUT_STUB,        /* a stub */
	CUT_EDGE,        /* compiled code whose frame does not stand */
	CUT_CODE,        /* in no code of the JVM's */
	CUT_METHOD,      /* a method that cannot be named, or for whose name there is no room */
	CUT_STACK,       /* a frame that does not fit the stack */
	CUT_ENTRY,       /* an entry frame that leads nowhere */
	CUTS,
};

struct frame_walk {
	enum walk_end end;
	enum walk_cut cut;
	unsigned count; /* calls */
	/* How many of the innermost calls the walk knows better than AsyncGetCallTrace would
	 * (forte.cpp): of an interpreted frame that was not at a call that says where it last was
	 * at one, of compiled code that called a stub it takes the next place behind the call, of
	 * code behind all that is known a method's begin. Their methods are the same, or at least
	 * that of the last of them. */
	unsigned better;
	/* Where a stub that compiled code called, or C, returns to there. 0: it is none.
	 */
	uint64_t called_behind;
	unsigned compiled; /* calls, the innermost ones, that are of one frame of compiled code */
	bool interpreted;  /* the innermost frame is, */
	bool in_stub;      /* a stub that it called is */
	bool at_edge;      /* or it does not stand (frame_edge.h, return_place.h) */
	bool fiber;        /* the root is a virtual thread's */
	bool deoptimised;  /* a frame is to be, at which the JVM ends */
};

/* With what frames are told. */
struct walk_tables {
	struct frame_table *frames;
	struct method_table *methods;
};

/* Walks until the root, or until room calls were found, which are written innermost first. */
void frame_walk(const struct frame_layout *layout, const struct walk_tables *tables,
		const struct walk_start *start, struct call *calls, unsigned room,
		struct frame_walk *out);

#endif
