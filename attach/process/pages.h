/*
 * On which NUMA nodes pages of a process are. Takes the right to ptrace it; may wait for the lock
 * of its address space.
 */
#ifndef JXPERF_ATTACH_PROCESS_PAGES_H
#define JXPERF_ATTACH_PROCESS_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* In one question. */
#define PAGES_MAX 64

/* Fills nodes with the node of the page at each of the addresses, or -1 for one that is not
 * present. No page is moved: move_pages(2) with no nodes only asks. 0 or -errno. */
int pages_nodes(pid_t pid, const uint64_t *addresses, size_t count, int16_t nodes[PAGES_MAX],
		struct err *err);

#endif
