/*
 * Memory for large tables, in pages of its own: it goes back to the kernel when it is given up, and
 * what is never touched costs nothing.
 *
 * malloc promises neither in a process that is not ours. Once its threshold for mappings has grown,
 * a table of megabytes lies in the arena of the calling thread: calloc touches all of it, and what
 * is freed stays there. A thread that is made for each window has each time another of the arenas.
 */
#ifndef JXPERF_COMMON_PAGES_H
#define JXPERF_COMMON_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* All zero, to be given to pages_free with the same size; NULL when there is no room for it. */
static inline void *pages_new(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* All of them at once, where they will be touched one here and one there: each costs a fault less
 * so, and two where it is read before it is written, the second of which the other processors are
 * asked about, too. Kernels before 5.14 do not know this: there they come as they are touched. */
static inline void pages_populate(void *p, size_t bytes)
{
	(void)madvise(p, bytes, MADV_POPULATE_WRITE);
}

/* NULL is fine. */
static inline void pages_free(void *p, size_t bytes)
{
	if (p)
		(void)munmap(p, bytes); /* Cannot fail for a whole mapping. */
}

#endif
