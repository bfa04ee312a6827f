#include "attach/agent/reservoir/reservoir.h"

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

/* The probability that an offer takes this register, all being in use. In a random order, another
 * one is visited earlier with probability u if this one is visited at time u, uniform in 0..1; so
 * it is 1/offered times the integral of the product of (1 - u/offered of another) over u. */
static double chance(const struct reservoir *r, unsigned reg)
{
	double e1 = 0, e2 = 0, e3 = 0; /* the others' elementary symmetric polynomials */

	for (unsigned i = 0; i < r->registers; i++) {
		double p = 1.0 / r->offered[i];

		if (i == reg)
			continue;
		e3 += e2 * p;
		e2 += e1 * p;
		e1 += p;
	}
	return (1 - e1 / 2 + e2 / 3 - e3 / 4) / r->offered[reg];
}

/* After an offer that found no register free: taken is the register it took, or -1. */
static void update_weights(struct reservoir *r, int taken)
{
	double sum = 0;

	for (unsigned i = 0; i < r->registers; i++) {
		double p = chance(r, i);

		sum += p;
		r->weight[i] /= 1 - p;
	}
	if (taken >= 0)
		r->weight[taken] = 1 / sum;
}

static int free_register(const struct reservoir *r)
{
	for (unsigned i = 0; i < r->registers; i++)
		if (r->offered[i] == 0)
			return (int)i;
	return -1;
}

static int choose_register(const struct reservoir *r, struct random *random)
{
	uint8_t order[PERF_DEBUG_REGISTERS] = {0};

	visiting_order(r, random, order);
	for (unsigned i = 0; i < r->registers; i++)
		if (random_below(random, r->offered[order[i]]) == 0)
			return order[i];
	return -1;
}

int reservoir_offer(struct reservoir *r, struct random *random, bool *replaced)
{
	int reg = free_register(r);

	count_sample(r);
	if (reg >= 0) {
		r->offered[reg] = 1;
		r->weight[reg] = 1;
		*replaced = false;
		return reg;
	}
	reg = choose_register(r, random);
	update_weights(r, reg);
	if (reg >= 0)
		*replaced = true;
	return reg;
}

void reservoir_reweigh(struct reservoir *r, unsigned reg, double factor)
{
	r->weight[reg] *= factor;
}

double reservoir_weight(const struct reservoir *r, unsigned reg)
{
	return r->offered[reg] > 0 ? r->weight[reg] : 1;
}
