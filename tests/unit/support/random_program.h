/*
 * Windows of a program that is known: pairs of methods, each with its part of the checked bytes and
 * the part of these that is wasteful. What a window of it has is drawn, from a seed.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_RANDOM_PROGRAM_H
#define JXPERF_TESTS_UNIT_SUPPORT_RANDOM_PROGRAM_H

#include <math.h>

#include "tests/unit/support/sample_window.h"

#define PROGRAM_PAIRS_MAX 32

struct random_program {
	unsigned pairs;
	double part[PROGRAM_PAIRS_MAX];  /* of checked bytes; they add up to 1 */
	double waste[PROGRAM_PAIRS_MAX]; /* fraction */
};

/* xorshift64*; the state is not 0. */
static inline double draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * UINT64_C(2685821657736338717) >> 11) * 0x1p-53;
}

/* Of Beta(a, b) with whole parameters: of two gamma variables, sums of exponential ones. */
static inline double draw_beta(uint64_t *state, unsigned a, unsigned b)
{
	double first = 0, second = 0;

	for (unsigned i = 0; i < a; i++)
		first -= log(1 - draw(state));
	for (unsigned i = 0; i < b; i++)
		second -= log(1 - draw(state));
	return first / (first + second);
}

static inline struct random_program random_program_new(uint64_t *state, unsigned pairs)
{
	struct random_program p = {.pairs = pairs};
	double sum = 0;

	for (unsigned i = 0; i < pairs; i++) {
		p.part[i] = draw(state);
		p.waste[i] = draw(state);
		sum += p.part[i];
	}
	for (unsigned i = 0; i < pairs; i++)
		p.part[i] /= sum;
	return p;
}

static inline double random_program_fraction(const struct random_program *p)
{
	double fraction = 0;

	for (unsigned i = 0; i < p->pairs; i++)
		fraction += p->part[i] * p->waste[i];
	return fraction;
}

/* The methods of pair i: the same two in each window, on lines and with ids that are not. */
static inline void random_program_nodes(struct window_result *w, unsigned i, int32_t line,
					uint32_t *watch, uint32_t *trap)
{
	char name[32];
	uint32_t main = sample_window_node(w, 0, "main", line);

	(void)snprintf(name, sizeof(name), "write%u", i);
	*watch = sample_window_node(w, main, name, line);
	(void)snprintf(name, sizeof(name), "overwrite%u", i);
	*trap = sample_window_node(w, main, name, line);
}

/* A window with so many observations of dead stores, of 1 to 8 bytes and unequal weights. */
static inline struct window_result *random_program_window(const struct random_program *p,
							  uint64_t *state, unsigned number,
							  unsigned observations, int32_t line)
{
	struct window_result *w = sample_window_empty(number, "org.example.Main");
	uint32_t watch[PROGRAM_PAIRS_MAX] = {0}, trap[PROGRAM_PAIRS_MAX] = {0};

	w->request.kinds[JXP__KIND__KIND_OBJECTS] = w->request.kinds[JXP__KIND__KIND_NUMA] = false;
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = observations;
	for (unsigned i = 0; i < p->pairs; i++) /* Ids in another order in each window. */
		random_program_nodes(w, (i + number) % p->pairs, line,
				     &watch[(i + number) % p->pairs],
				     &trap[(i + number) % p->pairs]);
	for (unsigned n = 0; n < observations; n++) {
		double at = draw(state);
		struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE};
		unsigned i = 0;
		int r;

		while (i + 1 < p->pairs && (at -= p->part[i]) > 0)
			i++;
		o.checked_bytes = 1u << (unsigned)(4 * draw(state));
		o.checked_bytes *= draw(state) < 0.1 ? 3 : 1;
		o.wasteful = draw(state) < p->waste[i];
		o.watch_node = watch[i];
		o.trap_node = trap[i];
		r = profile_add(&w->profile, &o);
		assert(r == 0);
		(void)r;
	}
	return w;
}

#endif
