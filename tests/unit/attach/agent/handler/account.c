#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/handler/account.h"
#include "attach/agent/handler/thread.h"

#define CPU_NS 1000000u

static void pass_cycles(uint64_t cycles)
{
	uint64_t start = __rdtsc();

	while (__rdtsc() - start < cycles)
		;
}

static void inner(struct thread *t)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);

	pass_cycles(300000);
}

static void outer(struct thread *t)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);

	inner(t);
	pass_cycles(100000);
}

TEST(a_part_within_another_counts_once)
{
	static struct thread t;
	uint64_t ns[ACCOUNT_PARTS], sum = 0;

	account_begin(&t.account);
	outer(&t);
	account_end(&t.account, CPU_NS, ns);
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		sum += ns[i];
	assert_in_range(sum, CPU_NS - ACCOUNT_PARTS, CPU_NS);
	assert_true(ns[ACCOUNT_CONTROLS] > 0 && ns[ACCOUNT_CODE] > 0);
	assert_int_equal(ns[ACCOUNT_CONTEXTS], 0);
	assert_int_equal(ns[ACCOUNT_PLACES], 0);
}

TEST(time_that_nobody_names_is_the_rest)
{
	static struct thread t;
	uint64_t ns[ACCOUNT_PARTS];

	account_begin(&t.account);
	pass_cycles(1000);
	account_end(&t.account, CPU_NS, ns);
	assert_in_range(ns[ACCOUNT_REST], CPU_NS - 1, CPU_NS);
}

TEST(a_counter_that_runs_backward_takes_nothing_away)
{
	static struct thread t;
	uint64_t ns[ACCOUNT_PARTS];

	account_begin(&t.account);
	t.account.since = UINT64_MAX;
	account_end(&t.account, CPU_NS, ns);
	for (unsigned i = 0; i < ACCOUNT_PARTS; i++)
		assert_int_equal(ns[i], 0);
}
