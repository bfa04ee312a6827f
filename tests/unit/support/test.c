#include "tests/unit/support/test.h"

#include <stdlib.h>

extern const struct test *const __start_unit_tests[];
extern const struct test *const __stop_unit_tests[];

static int by_line(const void *a, const void *b)
{
	const struct test *const *left = a, *const *right = b;

	return ((*left)->line > (*right)->line) - ((*left)->line < (*right)->line);
}

int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	size_t count = (size_t)(__stop_unit_tests - __start_unit_tests);
	const struct test **tests = calloc(count, sizeof(const struct test *));
	struct CMUnitTest *run = calloc(count, sizeof(*run));
	int failed;

	if (!tests || !run)
		abort();
	for (size_t i = 0; i < count; i++)
		tests[i] = __start_unit_tests[i];
	qsort(tests, count, sizeof(const struct test *), by_line);
	for (size_t i = 0; i < count; i++)
		run[i] = (struct CMUnitTest){.name = tests[i]->name,
					     .test_func = tests[i]->run,
					     .setup_func = tests[i]->around[0],
					     .teardown_func = tests[i]->around[1]};
	failed = _cmocka_run_group_tests("tests", run, count, set_up, tear_down);
	free(run);
	free(tests);
	return failed;
}

/* Weak, for programs that have something to do first. */
__attribute__((weak)) int main(void)
{
	return tests_run(NULL, NULL);
}
