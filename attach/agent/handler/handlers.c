#include "attach/agent/handler/handlers.h"

struct handlers handlers;

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
