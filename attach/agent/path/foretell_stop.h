/*
 * Foretells the place that execution comes to next, whatever the branches in between decide.
 *
 * Where the search (search.h) meets a branch that it cannot evaluate yet, all paths from there are
 * followed. If they have one first access of the wanted type in common, one execution breakpoint on
 * it replaces the stops at every branch, and the time that a loop spends computing between its
 * accesses counts for the loop's accesses. If not, the stop is at least put off to where the paths
 * part for good.
 *
 * The access must be of the loop that counts (loops.h), or of flat code where none does. Ways out
 * of that loop do not matter: whoever waits then waits for the loop to run again (walk.h). Loops in
 * it are passed through. Calls, returns and indirect jumps end the attempt; calls that do not
 * return are taken never to happen.
 *
 * Answers are cached. Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PATH_FORETELL_STOP_H
#define JXPERF_AGENT_PATH_FORETELL_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/search.h"

/* For 4,096 remembered answers. */
#define FORETELL_STOP_BYTES (4096u * sizeof(uint64_t))

/* True with the instruction in *stop_ip: the access, which may be at ip itself, or a branch. header
 * says which loop counts: where it is entered, or 0 for flat code; spills, whether accesses to the
 * frame do. */
bool foretell_stop(uint64_t ip, enum access_type wanted, uint64_t header, bool spills,
		   uint64_t *stop_ip);

/* Forgets the cached answers. */
void foretell_stop_clear(void);

#endif
