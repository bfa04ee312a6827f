#include "attach/agent/reservoir.h"

#include <string.h>

void reservoir_init(struct reservoir *r, unsigned registers)
{
	memset(r, 0, sizeof(*r));
	r->registers = registers;
}

void reservoir_free(struct reservoir *r, unsigned reg)
{
	r->offered[reg] = 0;
}

void reservoir_clear(struct reservoir *r)
{
	memset(r->offered, 0, sizeof(r->offered));
}

static void count_sample(struct reservoir *r)
{
	for (unsigned i = 0; i < r->registers; i++)
		if (r->offered[i] > 0 && r->offered[i] < UINT32_MAX)
			r->offered[i]++;
}

/* A random permutation of the registers (Fisher-Yates): no register is favoured by its number. */
static void visiting_order(const struct reservoir *r, struct random *random, uint8_t *order)
{
	for (unsigned i = 0; i < r->registers; i++) {
		unsigned j = random_below(random, i + 1);

		order[i] = order[j];
		order[j] = (uint8_t)i;
	}
}

int reservoir_offer(struct reservoir *r, struct random *random, bool *replaced)
{
	uint8_t order[PERF_DEBUG_REGISTERS] = {0};

	count_sample(r);
	for (unsigned i = 0; i < r->registers; i++) {
		if (r->offered[i] == 0) {
			r->offered[i] = 1;
			*replaced = false;
			return (int)i;
		}
	}
	visiting_order(r, random, order);
	for (unsigned i = 0; i < r->registers; i++) {
		unsigned reg = order[i];

		if (random_below(random, r->offered[reg]) == 0) {
			*replaced = true;
			return (int)reg;
		}
	}
	return -1;
}
