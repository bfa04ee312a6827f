/*
 * Reads what a library notes for each thread alone: for libjvm.so, which JavaThread it is. Read
 * where it is, without asking the library or the C library: in a thread that has just begun its
 * first use of that memory allocates, and a handler that came in the midst of malloc would wait for
 * ever.
 *
 * The C library has a table of such memory for each thread (its address is at fs:8), with a row for
 * each library: of two words in glibc, of one in musl.
 */
#ifndef JXPERF_AGENT_CODE_OWN_THREAD_H
#define JXPERF_AGENT_CODE_OWN_THREAD_H

#include <stdint.h>

/* A word in it: which table, which row, and how far in there. stride 0: not known. */
struct own_word {
	uint32_t stride;
	uint32_t module;
	uint32_t offset;
};

/* The calling thread's memory, of the library that address is in. bytes 0: there is none. */
struct own_memory {
	struct own_word begin;
	uint64_t address;
	uint64_t bytes;
};

/* Not in handlers. */
struct own_memory own_memory_of(const void *address);

/* Async-signal-safe, any thread: the word; 0 where the thread has no such memory yet. */
uint64_t own_word_read(const struct own_word *word);

/* The word of another thread, by what pthread_self() gives in it: 0 where it has no such memory
 * yet, or none can be read. */
uint64_t own_word_of(uint64_t pthread, const struct own_word *word);

#endif
