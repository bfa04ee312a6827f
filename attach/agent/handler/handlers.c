#include "attach/agent/handler/handlers.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/code/reserved.h"
#include "common/pages.h"

struct handlers handlers;

int handlers_init(void)
{
	if (!handlers.contexts)
		handlers.contexts = reserve_memory(sizeof(struct context_table));
	if (!handlers.walker.tables.frames)
		handlers.walker.tables.frames = reserve_memory(sizeof(struct frame_table));
	if (!handlers.contexts || !handlers.walker.tables.frames)
		return -ENOMEM;
	handlers_release();
	pages_populate(handlers.contexts->nodes, sizeof(handlers.contexts->nodes));
	pages_populate(handlers.walker.tables.frames->entries,
		       sizeof(handlers.walker.tables.frames->entries));
	return 0;
}

void handlers_release(void)
{
	empty_memory(handlers.contexts, sizeof(struct context_table));
	empty_memory(handlers.walker.tables.frames, sizeof(struct frame_table));
}

void handlers_wake(void)
{
	const uint64_t one = 1;
	int fd = atomic_load_explicit(&handlers.wake_fd, memory_order_relaxed);

	/* The library's write is a point of cancellation. It fails where the session thread is to
	 * wake anyway, or looks by itself. */
	if (fd >= 0)
		(void)syscall(SYS_write, fd, &one, sizeof(one));
}

void handlers_ask(void)
{
	if (!atomic_exchange(&handlers.asked, true))
		handlers_wake();
}

bool handlers_were_asked(void)
{
	return atomic_exchange(&handlers.asked, false);
}

uint32_t handlers_epoch(void)
{
	return handlers.epoch_is_counted
		   ? pauses_epoch(&handlers.pauses)
		   : atomic_load_explicit(&handlers.epoch, memory_order_acquire);
}

/* The epoch is odd during a pause, also when we began to listen in the middle of one, or when the
 * JVM reports a collection inside another. */
void handlers_gc_started(void)
{
	uint32_t epoch = atomic_load_explicit(&handlers.epoch, memory_order_relaxed);

	atomic_store_explicit(&handlers.epoch, epoch | 1, memory_order_release);
}

void handlers_gc_finished(void)
{
	uint32_t epoch = atomic_load_explicit(&handlers.epoch, memory_order_relaxed);

	atomic_store_explicit(&handlers.epoch, (epoch | 1) + 1, memory_order_release);
}
