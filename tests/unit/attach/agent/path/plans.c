/* Plans as handlers find them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "attach/agent/path/plans.h"

static int forget(void **state)
{
	(void)state;
	plans_clear();
	return 0;
}

static struct loop_plan plan_of(uint64_t code)
{
	struct loop_plan plan = {.code = code, .start = code, .count = LIMIT_PLAN_PLACES};

	for (unsigned i = 0; i < LIMIT_PLAN_PLACES; i++)
		plan.places[i] = (uint32_t)code;
	return plan;
}

static void a_plan_is_found_by_the_number_of_its_code(void **state)
{
	const struct loop_plan plans[] = {plan_of(7), plan_of(9)};
	struct loop_plan found;

	(void)state;
	plans_set(plans, 2);
	assert_int_equal(plans_count(), 2);
	assert_false(plans_read(0, 9, &found));
	assert_true(plans_read(1, 9, &found));
	assert_memory_equal(&found, &plans[1], sizeof(found));
	plans_clear();
	assert_int_equal(plans_count(), 0);
}

static _Atomic bool over;

/* The same code, with other numbers each time. */
static void *replace(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !atomic_load(&over); i++) {
		struct loop_plan plan = plan_of(i);

		plan.code = 1;
		plans_set(&plan, 1);
	}
	return NULL;
}

static void a_plan_is_read_whole_or_not_at_all(void **state)
{
	unsigned read = 0;
	pthread_t writer;

	(void)state;
	atomic_store(&over, false);
	assert_int_equal(pthread_create(&writer, NULL, replace, NULL), 0);
	while (read < 10000) {
		struct loop_plan plan;

		if (!plans_read(0, 1, &plan))
			continue;
		read++;
		for (unsigned i = 0; i < LIMIT_PLAN_PLACES; i++)
			assert_int_equal(plan.places[i], (uint32_t)plan.start);
	}
	atomic_store(&over, true);
	assert_int_equal(pthread_join(writer, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_plan_is_found_by_the_number_of_its_code, forget),
	    cmocka_unit_test_setup(a_plan_is_read_whole_or_not_at_all, forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
