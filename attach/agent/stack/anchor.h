/*
 * The last Java frame of a thread that has left Java code, as the JVM notes it itself: in the
 * anchor of its JavaThread (src/hotspot/share/runtime/javaFrameAnchor.hpp). Set from before such a
 * thread runs code of the JVM, or of a native method, until after that; the stack pointer is
 * written last and cleared first.
 *
 * Async-signal-safe; in the thread whose JavaThread is given.
 */
#ifndef JXPERF_AGENT_STACK_ANCHOR_H
#define JXPERF_AGENT_STACK_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/own_thread.h"

/* Offsets; known: they are. */
struct anchor_layout {
	bool known;
	struct own_word own; /* where a thread has its JavaThread */
	uint32_t anchor;     /* in a JavaThread */
	uint32_t sp;         /* in an anchor */
	uint32_t pc;
	uint32_t fp;
	uint32_t state;  /* int, in a JavaThread */
	int32_t in_java; /* its value while Java code runs, or what that calls without leaving it */
};

struct anchor {
	uint64_t sp; /* 0: there is none */
	uint64_t pc; /* 0: it lies below sp, once the call that it is for was made */
	uint64_t fp;
	bool in_java;
};

/* thread: the JavaThread of this thread, which has one. */
struct anchor anchor_of(const struct anchor_layout *layout, uint64_t thread);

#endif
