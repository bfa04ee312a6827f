/*
 * Reads of the target's own memory that fail instead of faulting, and that trigger no watchpoint:
 * the kernel copies on our behalf. Async-signal-safe after safe_read_init.
 */
#ifndef JXPERF_AGENT_CODE_SAFE_READ_H
#define JXPERF_AGENT_CODE_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Chooses the means: process_vm_readv, or /proc/self/mem under a seccomp filter. 0 or
 * -errno when neither works. */
int safe_read_init(void);

/* Closes what init opened. No reader may be active. */
void safe_read_release(void);

/* All size bytes, or false. */
bool safe_read(uint64_t address, void *to, size_t size);

/* All of all parts, or false: most often with one system call. */
#define SAFE_PARTS_MAX 16u
struct safe_part {
	uint64_t address;
	void *to;
	size_t size;
};
bool safe_read_parts(const struct safe_part *parts, unsigned count);

/* A word that is known to be there, read as such. */
static inline uint64_t memory_word(uint64_t address)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)address, sizeof(value));
	return value;
}

/* As many bytes as can be read from address, at most size. */
size_t safe_read_some(uint64_t address, void *to, size_t size);

#endif
