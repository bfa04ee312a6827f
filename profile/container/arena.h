/*
 * Memory for one decoded message: handed out from a few large blocks and given back all at once.
 *
 * Decoding a batch the usual way takes one malloc for every message in it. The size is bounded, so
 * that a small frame of very many empty messages cannot make the engine large: beyond it,
 * allocation fails, and with it the decoding.
 *
 * One thread; one message at a time.
 */
#ifndef JXPERF_PROFILE_CONTAINER_ARENA_H
#define JXPERF_PROFILE_CONTAINER_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

struct arena_block;

/* arena_init; arena_release. */
struct arena {
	ProtobufCAllocator allocator; /* for protobuf-c's unpack; its free does nothing */
	struct arena_block *blocks;   /* the newest first */
	size_t used;                  /* of the newest block */
	size_t total;                 /* bytes of all blocks */
	size_t limit;
};

/* a must stay where it is. Allocates nothing. */
void arena_init(struct arena *a, size_t limit);
void arena_release(struct arena *a);

/* Takes everything back; some memory is kept for the next message. */
void arena_reset(struct arena *a);

#endif
