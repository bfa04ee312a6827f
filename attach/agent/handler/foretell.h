/*
 * Pairs that are told as soon as the tick comes: both accesses are foretold
 * (attach/agent/path/foretell_access.h). They need no register, and so no reservoir: each is
 * complete for sure. One in FORETELL_CHECKED of them is left to a watchpoint, which says whether it
 * was right.
 */
#ifndef JXPERF_AGENT_HANDLER_FORETELL_H
#define JXPERF_AGENT_HANDLER_FORETELL_H

#include <stdbool.h>
#include <ucontext.h>

#include "attach/agent/handler/debug_register.h"
#include "attach/agent/path/walk.h"

struct thread;

#define FORETELL_CHECKED 32u

/* What a handler of the thread, with this stack pointer, may read as it is. To outlive the walk
 * that it is given to. */
void foretell_view(const struct thread *t, uint64_t sp, struct machine_view *view);

/* The bytes of the access that the walk found are chosen in w; kept is the inverse of the
 * probability that its sample came so far. True when the pairs of all its kinds are recorded, or
 * lost, which is counted; else the kinds that are left in w take a watchpoint, and
 * w->foretold_second says what that should catch, or is 0. */
bool foretell_pairs(struct thread *t, struct watchpoint *w, double kept, struct walk *walk,
		    const struct walk_access *access, const ucontext_t *uc);

#endif
