/* What a thread's allocations and its ticks say of registers that are on. */
#include "tests/unit/support/test.h"

#include "attach/agent/slowdown/slowdown.h"
#include "common/clock.h"
#include "common/code/insn.h"

#define GIB (UINT64_C(1) << 30)

TEST(a_database_loses_what_it_was_seen_to_lose)
{
	/* 1,852 MiB a second of CPU time, 6.4 ns a store: 2.6 to 5.1% were measured. */
	assert_float_equal(slowdown_by_splits(1852 * GIB / 1024, NS_PER_S, 6.4), 0.045, 0.001);
}

TEST(nothing_is_lost_without_allocations_or_on_other_processors)
{
	assert_float_equal(slowdown_by_splits(0, NS_PER_S, 6.4), 0, 0);
	assert_float_equal(slowdown_by_splits(GIB, NS_PER_S, 0), 0, 0);
	assert_float_equal(slowdown_by_splits(GIB, 0, 6.4), 0, 0);
}

TEST(nonsense_is_bounded)
{
	assert_float_equal(slowdown_by_splits(UINT64_MAX, 1, 6.4), SLOWDOWN_SPLIT_MOST, 0);
}

TEST(ticks_in_strings_tell_what_they_cost)
{
	/* 3.4% of a thread's time, of which nearly all is lost. */
	assert_float_equal(slowdown_by_strings(34, 1000, 0.97), 0.032, 0.001);
	assert_float_equal(slowdown_by_strings(0, 1000, 0.97), 0, 0);
	assert_float_equal(slowdown_by_strings(0, 0, 0.97), 0, 0);
}

TEST(a_first_tick_in_a_string_is_no_share)
{
	assert_float_equal(slowdown_by_strings(1, 1, 1), 1.0 / 33, 1e-9);
}

TEST(copies_of_the_kernel_are_told_by_their_bytes)
{
	/* 5 GB in a second, each byte 0.2 ns longer: two seconds for one. */
	assert_float_equal(slowdown_by_copies(5 * NS_PER_S, NS_PER_S, 0.2), 0.5, 1e-9);
	assert_float_equal(slowdown_by_copies(0, NS_PER_S, 0.2), 0, 0);
	assert_float_equal(slowdown_by_copies(0, 0, 0), 0, 0);
	assert_in_range(slowdown_by_copies(UINT64_MAX, 1, 0.2) * 100, 99, 100);
}

TEST(noise_of_the_clock_is_no_cost)
{
	struct slowdown_costs costs = slowdown_costs_of(0.3, 100, 120, 8192);

	assert_float_equal(costs.split_ns, 0, 0);
	assert_float_equal(costs.string_lost, 0, 0);
	costs = slowdown_costs_of(-0.3, 100, 0, 8192);
	assert_float_equal(costs.split_ns, 0, 0);
	assert_float_equal(costs.string_lost, 0, 0);
}

TEST(processors_differ_in_what_they_are_slow_at)
{
	struct slowdown_costs costs = slowdown_costs_of(6.4, 100, 100, 8192);

	assert_float_equal(costs.split_ns, 6.4, 0);
	assert_float_equal(costs.string_lost, 0, 0);
	costs = slowdown_costs_of(0, 50, 2000, 8192);
	assert_float_equal(costs.split_ns, 0, 0);
	assert_float_equal(costs.string_lost, 0.975, 1e-9);
	assert_float_equal(costs.byte_ns, 0.238, 0.001);
}

TEST(strings_are_known_by_their_bytes)
{
	static const struct {
		uint8_t code[3];
		bool is;
	} cases[] = {
	    {{0xf3, 0xa4, 0xc3}, true},  /* rep movsb */
	    {{0xf3, 0xa5, 0x90}, true},  /* rep movsd */
	    {{0xf3, 0x48, 0xa5}, true},  /* rep movsq */
	    {{0xf3, 0xaa, 0x90}, true},  /* rep stosb */
	    {{0xf3, 0x48, 0xab}, true},  /* rep stosq */
	    {{0xf3, 0xa6, 0x90}, false}, /* repe cmpsb */
	    {{0xf3, 0x48, 0xaf}, false}, /* repe scasq */
	    {{0xa4, 0xa4, 0xa4}, false}, /* one movsb */
	    {{0xf3, 0x0f, 0x10}, false}, /* movss */
	    {{0xf3, 0x90, 0xa4}, false}, /* pause */
	    {{0xf3, 0xc3, 0xa4}, false}, /* ret */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct insn in;
		bool decoded = insn_decode(cases[i].code, sizeof(cases[i].code), 0, &in);

		assert_int_equal(decoded && slowdown_is_string(&in), cases[i].is);
	}
}
