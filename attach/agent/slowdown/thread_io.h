/*
 * How many bytes a thread has had the kernel copy: read and written, pages of files and sockets
 * alike, by /proc/thread-self/io (fs/proc/base.c, do_io_accounting). Calls that are no reads or
 * writes (recv, send) are not in it.
 */
#ifndef JXPERF_AGENT_SLOWDOWN_THREAD_IO_H
#define JXPERF_AGENT_SLOWDOWN_THREAD_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells what the calling thread has read and written since it began; false where the kernel does
 * not tell, or no descriptor is left. Async-signal-safe: some microseconds. */
bool thread_io_bytes(uint64_t *bytes);

/* Reads the text of that file; pure. */
bool thread_io_parse(const char *text, size_t length, uint64_t *bytes);

#endif
