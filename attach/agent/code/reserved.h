/*
 * Memory for tables that are reserved once and stay for the process's life, because a handler or a
 * callback that is late may still look at them. Pages that nobody has touched cost nothing.
 */
#ifndef JXPERF_AGENT_CODE_RESERVED_H
#define JXPERF_AGENT_CODE_RESERVED_H

#include <stddef.h>
#include <sys/mman.h>

#include "common/pages.h"

/* All zero; NULL when there is no room for it. */
static inline void *reserve_memory(size_t bytes)
{
	return pages_new(bytes);
}

/* The kernel may take the pages, each of which is zero then, when it needs some, until they are
 * written to (MADV_FREE, Linux 4.5). */
static inline void lend_memory(void *reserved, size_t bytes)
{
	(void)madvise(reserved, bytes, MADV_FREE);
}

/* All zero again, and its pages back with the kernel. NULL is fine. */
static inline void empty_memory(void *reserved, size_t bytes)
{
	if (reserved)
		(void)madvise(reserved, bytes,
			      MADV_DONTNEED); /* Cannot fail for a private anonymous mapping. */
}

#endif
