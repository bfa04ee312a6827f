#include "tests/unit/support/test.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "fleet/draw.h"

#define EPOCHS 20000

static struct draw some(void)
{
	return (struct draw){.salt = "salt",
			     .schedule = "all",
			     .host = "h1",
			     .every_ns = 600 * NS_PER_S,
			     .window_ns = 30 * NS_PER_S,
			     .host_fraction = 0.3,
			     .jvm_fraction = 0.2,
			     .jitter = 0.1};
}

TEST(epochs_are_the_same_everywhere)
{
	struct draw d = some();

	assert_true(draw_epoch(&d, 1200 * NS_PER_S) == 2);
	assert_true(draw_epoch(&d, 1200 * NS_PER_S - 1) == 1);
	assert_true(draw_epoch_start(&d, 2) == 1200 * NS_PER_S);
}

/* Frequencies are within five standard errors of the probabilities. */
TEST(draws_have_their_probabilities)
{
	struct draw d = some();
	double hosts = 0, jvms = 0, both = 0;

	for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
		hosts += draw_takes_host(&d, epoch);
		jvms += draw_takes_jvm(&d, epoch, "1:1");
		both += draw_takes_host(&d, epoch) && draw_takes_jvm(&d, epoch, "1:1");
	}
	assert_true(fabs(hosts / EPOCHS - 0.3) < 5 * sqrt(0.3 * 0.7 / EPOCHS));
	assert_true(fabs(jvms / EPOCHS - 0.2) < 5 * sqrt(0.2 * 0.8 / EPOCHS));
	assert_true(fabs(both / EPOCHS - 0.06) < 5 * sqrt(0.06 * 0.94 / EPOCHS));
}

TEST(all_and_the_same_again)
{
	struct draw d = some();

	for (uint64_t epoch = 0; epoch < 1000; epoch++) {
		bool host = draw_takes_host(&d, epoch);

		d.host_fraction = 1;
		assert_true(draw_takes_host(&d, epoch));
		d.host_fraction = 0.3;
		assert_int_equal(draw_takes_host(&d, epoch), host);
	}
}

/* Two hosts, schedules, salts or JVMs agree no more often than by chance. */
TEST(draws_are_independent)
{
	struct draw a = some(), others[3] = {some(), some(), some()};
	double agreed[4] = {0}, chance = 0.3 * 0.3 + 0.7 * 0.7, jvm_chance = 0.2 * 0.2 + 0.8 * 0.8;

	others[0].host = "h2";
	others[1].schedule = "some";
	others[2].salt = "sugar";
	for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
		for (size_t i = 0; i < 3; i++)
			agreed[i] +=
			    draw_takes_host(&a, epoch) == draw_takes_host(&others[i], epoch);
		agreed[3] += draw_takes_jvm(&a, epoch, "1:1") == draw_takes_jvm(&a, epoch, "1:2");
	}
	for (size_t i = 0; i < 3; i++)
		assert_true(fabs(agreed[i] / EPOCHS - chance) <
			    5 * sqrt(chance * (1 - chance) / EPOCHS));
	assert_true(fabs(agreed[3] / EPOCHS - jvm_chance) <
		    5 * sqrt(jvm_chance * (1 - jvm_chance) / EPOCHS));
}

/* "a" "bc" is not "ab" "c". */
TEST(parts_are_kept_apart)
{
	struct draw a = some(), b = some();
	unsigned differ = 0;

	a.salt = "ab";
	a.schedule = "c";
	b.salt = "a";
	b.schedule = "bc";
	for (uint64_t epoch = 0; epoch < 1000; epoch++)
		differ += draw_takes_host(&a, epoch) != draw_takes_host(&b, epoch);
	assert_true(differ > 0);
}

TEST(windows_lie_within_their_epoch)
{
	struct draw d = some();

	for (unsigned jitter = 0; jitter <= 10; jitter++) {
		d.jitter = jitter / 10.0;
		for (uint64_t epoch = 0; epoch < 2000; epoch++) {
			uint64_t start = draw_start(&d, epoch, "1:1");

			assert_true(start >= draw_epoch_start(&d, epoch));
			assert_true(start + d.window_ns <= draw_epoch_start(&d, epoch + 1));
		}
	}
}

/* A JVM's own place moves by the jitter only; places of many JVMs cover the epoch. */
TEST(starts_spread)
{
	struct draw d = some();
	unsigned parts[10] = {0};

	d.jitter = 0;
	for (unsigned j = 0; j < 10000; j++) {
		char jvm[16];
		uint64_t offset;

		(void)snprintf(jvm, sizeof(jvm), "%u:1", j);
		offset = draw_start(&d, 5, jvm) - draw_epoch_start(&d, 5);
		assert_true(draw_start(&d, 6, jvm) - draw_epoch_start(&d, 6) == offset);
		parts[offset * 10 / (d.every_ns - d.window_ns)]++;
	}
	for (size_t i = 0; i < 10; i++)
		assert_in_range(parts[i], 850, 1150); /* Five standard deviations. */
}

TEST(a_window_stands_for_the_time_and_those_left_out)
{
	struct draw d = some();

	assert_true(fabs(draw_weight_s(&d) - 600 / 0.06) < 1e-6);
	d.host_fraction = d.jvm_fraction = 1;
	assert_true(draw_weight_s(&d) == 600);
}
