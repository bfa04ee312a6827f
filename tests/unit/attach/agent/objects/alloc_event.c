/* What sampled allocations weigh. */
#include "tests/unit/support/test.h"
#include <math.h>

#include "attach/agent/objects/alloc_event.h"
#include "common/random.h"

static void assert_near(double a, double b, double relative)
{
	if (fabs(a - b) > relative * fabs(b))
		fail_msg("%g is not within %g of %g", a, relative, b);
}

TEST(an_object_much_larger_than_the_interval_stands_for_itself)
{
	assert_near(alloc_weight(100u << 20, 512u << 10), 1, 1e-9);
}

TEST(an_object_of_one_interval_is_hit_in_63_percent)
{
	assert_near(alloc_weight(512u << 10, 512u << 10), 1 / 0.632120559, 1e-6);
}

TEST(a_small_object_stands_for_the_interval)
{
	assert_near(alloc_weight(16, 512u << 10) * 16, 512u << 10, 1e-4);
}

TEST(without_an_interval_every_object_is_sampled)
{
	assert_near(alloc_weight(16, 0), 1, 0);
}

/* Points of a Poisson process in the allocated bytes, as HotSpot draws them. */
TEST(weights_of_sampled_objects_add_up_to_those_allocated)
{
	const uint32_t interval = 16384;
	const uint64_t sizes[] = {1024, 4096, 40000};
	double sums[3] = {0}, until = 0;
	struct random random;
	unsigned rounds = 200000;

	random_seed(&random, 1);
	until = -log((random_next(&random) + 1.0) / 4294967296.0) * interval;
	for (unsigned i = 0; i < 3 * rounds; i++) {
		uint64_t size = sizes[i % 3];

		if ((double)size < until) {
			until -= (double)size;
			continue;
		}
		sums[i % 3] += alloc_weight(size, interval);
		until = -log((random_next(&random) + 1.0) / 4294967296.0) * interval;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_near(sums[i], rounds, 0.03);
}
