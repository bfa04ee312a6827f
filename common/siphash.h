/*
 * SipHash-1-3 (Aumasson, Bernstein, "SipHash: a fast short-input PRF"): a keyed hash whose values
 * nobody can choose who does not know the key. The same on every machine.
 */
#ifndef JXPERF_COMMON_SIPHASH_H
#define JXPERF_COMMON_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size);

#endif
