/*
 * Where the instructions of compiled code begin: a map of each method that a trap or a sample led
 * to, decoded once (JXPerf section 5.4) and kept until the window ends.
 *
 * A map is one bit per byte of code, made by the session thread, because decoding a large method
 * takes a millisecond and more, and handlers run in the application's threads. A handler that finds
 * no map asks for one and, for the time being, decodes forward from the nearest instruction that
 * the JVM has named (debug_pcs of codemap.h) or the method's start, never more than
 * BOUNDARIES_STEP_BYTES.
 *
 * A map belongs to one code_blob.serial: of code that was unloaded or replaced nobody asks again.
 * The memory of all maps is bounded; methods that find no room stay with decoding in steps.
 */
#ifndef JXPERF_AGENT_CODE_BOUNDARIES_H
#define JXPERF_AGENT_CODE_BOUNDARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_blob;

/* Decoding in a handler: some 250 instructions. */
#define BOUNDARIES_STEP_BYTES 1024u

#define BOUNDARIES_BEFORE_MAX 128u

/* The tables: methods that a window's samples and traps lie in, thousands at most, and the bits of
 * all their maps: 1 MiB, for 8 MiB of code. */
#define BOUNDARIES_MAPS_MAX   4096u
#define BOUNDARIES_POOL_WORDS (1u << 17)
#define BOUNDARIES_MAP_BYTES  16u
#define BOUNDARIES_BYTES \
	(BOUNDARIES_MAPS_MAX * BOUNDARIES_MAP_BYTES + BOUNDARIES_POOL_WORDS * sizeof(uint64_t))

/* Reserves the tables once per process, and forgets what an earlier window left. Session thread,
 * when no handler runs. 0 or -ENOMEM. */
int boundaries_init(void);

/* Returns the memory to the kernel; the address range stays reserved. */
void boundaries_clear(void);

/* Session thread: makes the maps that handlers asked for. */
void boundaries_make(void);

/* The length of the instruction that ends at after, inside the blob; 0 when it cannot be told yet.
 * Async-signal-safe. */
unsigned boundaries_length(const struct code_blob *blob, uint64_t after);

/* The starts of up to max (at most BOUNDARIES_BEFORE_MAX) instructions before ip in the blob,
 * nearest first; returns how many. Without a map, fewer. Async-signal-safe. */
size_t boundaries_before(const struct code_blob *blob, uint64_t ip, uint64_t *starts, size_t max);

/* Has the blob its map? Until then the answers above may be less than they will be. */
bool boundaries_known(const struct code_blob *blob);

#endif
