/*
 * Frames of an agent, decoded.
 *
 * Nearly all that a busy agent sends are allocations and memory accesses: flat messages of a dozen
 * numbers. protobuf-c decodes any message by its descriptor, in two passes and with a record for
 * each field on the way, which was half of what taking a frame in cost. Here those two go straight
 * into their structs; everything else is protobuf-c's.
 *
 * What is decoded this way is only what an encoder writes. A frame in which anything else is found
 * (an unknown field, another wire type, a number longer than it need be, a truncated message) is
 * protobuf-c's as a whole, so that what is accepted and what it means is decided in one place.
 */
#ifndef JXPERF_DAEMON_INTAKE_DECODE_H
#define JXPERF_DAEMON_INTAKE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/container/arena.h"
#include "proto/jxperf.pb-c.h"

/* The frame, in memory of the arena, which holds nothing else and is the caller's to reset. NULL
 * when it is malformed, or needs more than the arena may take. */
const Jxp__AgentFrame *decode_agent_frame(struct arena *arena, const uint8_t *payload, size_t size);

#endif
