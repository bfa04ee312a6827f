/* Phases of patience: how much of the time they are, and that nothing of what pairs stand for is
 * lost by them. Fixed seeds. */
#include "tests/unit/support/test.h"

#include "attach/agent/reservoir/patience.h"
#include "attach/agent/reservoir/reservoir.h"

#define SHARE 0.1

TEST(a_slowdown_has_the_share_that_comes_to_what_may_be_lost)
{
	assert_float_equal(patience_share(0.005, 0.05), 0.1, 1e-9);
	assert_float_equal(patience_share(0.005, 0.004), 1, 0);
	assert_float_equal(patience_share(0.005, 0), 1, 0);
}

TEST(phases_are_their_share_however_far_ticks_are_apart)
{
	uint64_t cpu_ns = 0, patient_ns = 0;
	struct random random;
	struct patience p;

	random_seed(&random, 1);
	patience_init(&p);
	for (unsigned i = 0; i < 2000000; i++) {
		uint64_t passed = NS_PER_MS << random_below(&random, 8);

		if (p.patient)
			patient_ns += passed;
		cpu_ns += passed;
		(void)patience_tick(&p, &random, cpu_ns, SHARE);
	}
	assert_float_equal((double)patient_ns / (double)cpu_ns, SHARE, 0.005);
}

TEST(the_first_tick_is_as_patient_as_any)
{
	unsigned patient = 0;
	struct random random;

	random_seed(&random, 2);
	for (unsigned i = 0; i < 20000; i++) {
		struct patience p;

		patience_init(&p);
		(void)patience_tick(&p, &random, NS_PER_S, SHARE);
		patient += p.patient;
	}
	assert_in_range(patient, 1850, 2150); /* 3.5 standard deviations */
}

TEST(who_is_patient_all_the_time_gives_nothing_up)
{
	struct random random;
	struct patience p;

	random_seed(&random, 3);
	patience_init(&p);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(patience_tick(&p, &random, i * NS_PER_S, 1) == 1);
		assert_true(patience_look(&p) == 1);
	}
}

/* ---------------------------------------------------------------- with a reservoir */

#define REGISTERS 4u

struct waiting {
	uint64_t due_ns; /* when it completes, of the thread's CPU time; 0: the register is free */
	bool late;
	bool looked_at;
};

struct outcome {
	double at_once, late; /* weights of completed pairs */
	uint64_t on_ns;       /* with a register in use */
};

/* A thread of which every second sample completes at once and the others after late_ns. */
struct world {
	struct reservoir reservoir;
	struct patience patience;
	struct waiting waiting[REGISTERS];
	struct random random;
	struct outcome outcome;
	double (*share)(uint64_t now_ns);
};

static double steady(uint64_t now_ns)
{
	(void)now_ns;
	return SHARE;
}

/* A program that turns from one thing to another every second. */
static double changing(uint64_t now_ns)
{
	return now_ns / NS_PER_S % 2 ? 1 : SHARE / 2;
}

static void complete(struct world *w, uint64_t now_ns)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (w->waiting[i].due_ns == 0 || w->waiting[i].due_ns > now_ns)
			continue;
		*(w->waiting[i].late ? &w->outcome.late : &w->outcome.at_once) +=
		    reservoir_weight(&w->reservoir, i);
		w->waiting[i].due_ns = 0;
		reservoir_free(&w->reservoir, i);
	}
}

static void keep_or_release(struct world *w, unsigned i, double factor)
{
	if (factor > 0) {
		reservoir_reweigh(&w->reservoir, i, factor);
		return;
	}
	w->waiting[i].due_ns = 0;
	reservoir_free(&w->reservoir, i);
}

static void look(struct world *w)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (w->waiting[i].due_ns == 0 || w->waiting[i].looked_at)
			continue;
		w->waiting[i].looked_at = true;
		keep_or_release(w, i, patience_look(&w->patience));
	}
}

static void tick(struct world *w, uint64_t now_ns, uint64_t due_ns, bool late)
{
	double factor = patience_tick(&w->patience, &w->random, now_ns, w->share(now_ns));
	bool replaced;
	int reg;

	for (unsigned i = 0; i < REGISTERS; i++)
		if (w->waiting[i].due_ns)
			keep_or_release(w, i, factor);
	reg = reservoir_offer(&w->reservoir, &w->random, &replaced);
	if (reg >= 0)
		w->waiting[reg] = (struct waiting){.due_ns = due_ns, .late = late};
}

static uint64_t still_on(const struct world *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t last = from_ns;

	for (unsigned i = 0; i < REGISTERS; i++)
		if (w->waiting[i].due_ns > last)
			last = w->waiting[i].due_ns < to_ns ? w->waiting[i].due_ns : to_ns;
	return last - from_ns;
}

static struct outcome run(double (*share)(uint64_t now_ns), uint64_t late_ns, unsigned ticks,
			  uint64_t *cpu_ns)
{
	const uint64_t tick_ns = 40 * NS_PER_MS; /* on average */
	struct world w = {.share = share};
	uint64_t now_ns = NS_PER_S;

	random_seed(&w.random, late_ns);
	reservoir_init(&w.reservoir, REGISTERS);
	patience_init(&w.patience);
	for (unsigned i = 0; i < ticks; i++) {
		uint64_t next_ns =
		    now_ns + tick_ns / 2 +
		    (uint64_t)((double)tick_ns * random_below(&w.random, 1u << 16) / 65536.0);

		tick(&w, now_ns, now_ns + (i % 2 ? late_ns : NS_PER_MS / 50), i % 2);
		w.outcome.on_ns += still_on(&w, now_ns, now_ns + PATIENCE_NS);
		complete(&w, now_ns + PATIENCE_NS);
		look(&w);
		w.outcome.on_ns += still_on(&w, now_ns + PATIENCE_NS, next_ns);
		complete(&w, next_ns);
		now_ns = next_ns;
	}
	*cpu_ns = now_ns - NS_PER_S;
	return w.outcome;
}

#define TICKS 1000000u

TEST(late_pairs_stand_for_those_that_were_given_up)
{
	static const uint64_t late_ms[] = {1, 3, 30, 100};

	for (size_t i = 0; i < sizeof(late_ms) / sizeof(late_ms[0]); i++) {
		uint64_t cpu_ns;

		for (unsigned j = 0; j < 2; j++) {
			struct outcome o =
			    run(j ? changing : steady, late_ms[i] * NS_PER_MS, TICKS, &cpu_ns);

			assert_float_equal(o.at_once, TICKS / 2.0, TICKS / 2.0 * 0.01);
			assert_float_equal(o.late, TICKS / 2.0, TICKS / 2.0 * 0.06);
		}
	}
}

TEST(what_is_never_accessed_again_keeps_registers_on_for_little_more_than_phases)
{
	uint64_t cpu_ns;
	struct outcome o = run(steady, 100000 * NS_PER_S, 100000, &cpu_ns);
	double on = (double)o.on_ns / (double)cpu_ns;

	/* In phases from the first sample on; outside half of the ticks leave a wait of
	 * PATIENCE_NS. */
	assert_true(on > SHARE / 2 && on < SHARE + (1 - SHARE) * 0.5 * 2 / 40);
}
