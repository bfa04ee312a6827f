/*
 * Keyed hashing for tables whose keys come from a JVM.
 *
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF") with a key drawn once per
 * process: a target cannot choose names or ids that all fall into one bucket and so stall the
 * engine. Values differ between processes and must never be stored.
 */
#ifndef JXPERF_DAEMON_CONTAINER_HASH_H
#define JXPERF_DAEMON_CONTAINER_HASH_H

#include <stddef.h>
#include <stdint.h>

uint32_t hash_bytes(const void *bytes, size_t size);

#endif
