#include "attach/agent/method_set.h"

#include <stdatomic.h>

/* A large application has some 50,000 compiled methods. When the set is full, further methods count
 * as interpreted: a display detail is wrong, nothing is lost. */
#define SET_ENTRIES (1u << 17)
#define MAX_PROBES  32u

static _Atomic uint64_t set[SET_ENTRIES];

static uint32_t first_slot(uint64_t method)
{
	return (uint32_t)((method * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

void method_set_add(uint64_t method)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		_Atomic uint64_t *slot = &set[(first_slot(method) + i) % SET_ENTRIES];
		uint64_t found = 0;

		if (atomic_compare_exchange_strong(slot, &found, method) || found == method)
			return;
	}
}

bool method_set_has(uint64_t method)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		uint64_t found = atomic_load(&set[(first_slot(method) + i) % SET_ENTRIES]);

		if (found == method)
			return true;
		if (found == 0)
			return false;
	}
	return false;
}

void method_set_clear(void)
{
	for (uint32_t i = 0; i < SET_ENTRIES; i++)
		if (atomic_load_explicit(&set[i], memory_order_relaxed))
			atomic_store_explicit(&set[i], 0, memory_order_relaxed);
}
