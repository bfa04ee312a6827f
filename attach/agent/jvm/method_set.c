#include "attach/agent/jvm/method_set.h"

/* A large application has some 50,000 compiled methods. When the set is full, further methods count
 * as interpreted: a display detail is wrong, nothing is lost. */
#define SET_ENTRIES METHOD_SET_ENTRIES
#define MAX_PROBES  32u

/* 32 bits of a hash for each: two methods in four billion are taken for one. */
static uint32_t set[SET_ENTRIES];

static uint64_t hash(uint64_t method)
{
	return method * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t mark_of(uint64_t method)
{
	return (uint32_t)hash(method ^ hash(method) >> 32) | 1; /* 0: free */
}

static uint32_t first_slot(uint64_t method)
{
	return (uint32_t)(hash(method) >> 32);
}

void method_set_add(uint64_t method)
{
	uint32_t mark = mark_of(method);

	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		uint32_t *slot = &set[(first_slot(method) + i) % SET_ENTRIES];

		if (*slot == 0)
			*slot = mark;
		if (*slot == mark)
			return;
	}
}

bool method_set_has(uint64_t method)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		uint32_t found = set[(first_slot(method) + i) % SET_ENTRIES];

		if (found == mark_of(method))
			return true;
		if (found == 0)
			return false;
	}
	return false;
}

void method_set_clear(void)
{
	/* Pages that were never written to stay so. */
	for (uint32_t i = 0; i < SET_ENTRIES; i++)
		if (set[i])
			set[i] = 0;
}
