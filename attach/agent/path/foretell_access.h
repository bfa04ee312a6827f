/*
 * The second access of a pair, foretold: on from a sampled access along the way that
 * execution will take, to the next one that touches the same bytes. Where that lies near, as in
 * most loops, neither access needs a trap.
 *
 * Nothing is told unless everything on the way is known: which way it is, and of every access which
 * bytes it touches. The way stays in one frame of one method, so that both calling contexts can be
 * taken now. What other threads do meanwhile is not seen; so some pairs are left to watchpoints and
 * compared (watchpoint.h). Async-signal-safe; no state.
 */
#ifndef JXPERF_AGENT_PATH_FORETELL_ACCESS_H
#define JXPERF_AGENT_PATH_FORETELL_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/extent.h"
#include "attach/agent/path/walk.h"

/* What would be watched. */
struct foretell_watch {
	uint64_t address;
	unsigned length;     /* at most 8 */
	bool stores_only;    /* loads do not trap */
	bool ends_with_load; /* what ends the wait: a load, a store, or either */
	bool ends_with_store;
	bool values; /* they are needed */
};

struct foretold_access {
	struct insn insn; /* of the second access */
	struct extent extent;
	bool reads;
	bool writes;
	uint8_t first[8];  /* the watched bytes after the sampled access */
	uint8_t before[8]; /* ... before the second */
	uint8_t after[8];  /* ... and after it */
};

/* Goes on from a walk that is behind its access. False when it cannot be told. */
bool foretell_access(struct walk *walk, const struct foretell_watch *watch,
		     struct foretold_access *out);

#endif
