#include "attach/agent/jvm/id_allowance.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/helper.h"

#define MARK_BYTES 4096 /* of addresses: nothing is there */

static _Atomic int64_t left_bytes = (int64_t)FOOTPRINT_NEW_IDS_BYTES;
static _Atomic uint64_t refused;

void id_allowance_begin(void)
{
	int64_t left = atomic_load(&left_bytes);

	/* No class is prepared for a window between two of them. */
	left = (left > 0 ? left : 0) + (int64_t)ID_ALLOWANCE_WINDOW_BYTES;
	if (left > (int64_t)FOOTPRINT_NEW_IDS_BYTES)
		left = (int64_t)FOOTPRINT_NEW_IDS_BYTES;
	atomic_store(&left_bytes, left);
	atomic_store(&refused, 0);
}

bool id_allowance_left(void)
{
	if (atomic_load_explicit(&left_bytes, memory_order_relaxed) > 0)
		return true;
	atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
	return false;
}

void id_allowance_take(uint32_t methods)
{
	atomic_fetch_sub_explicit(
	    &left_bytes, (int64_t)(FOOTPRINT_CLASS_BYTES + methods * FOOTPRINT_METHOD_BYTES),
	    memory_order_relaxed);
}

uint64_t id_allowance_refused(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed);
}

void id_allowance_publish(uint64_t classes, uint64_t methods)
{
	static void *mark; /* The session thread's. */
	char name[64];
	void *made = MAP_FAILED;
	int fd;

	(void)snprintf(name, sizeof(name), AGENT_IDS_NAME "%" PRIu64 "-%" PRIu64, classes, methods);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd >= 0) {
		made = mmap(NULL, MARK_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
		(void)close(fd); /* Only the mapping is wanted. */
	}
	/* Where it cannot be had, the last one says what holds at least. */
	if (made == MAP_FAILED)
		return;
	if (mark)
		(void)munmap(mark, MARK_BYTES); /* Ours: cannot fail. */
	mark = made;
}
