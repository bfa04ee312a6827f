/* Methods that compiled code was seen of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/jvm/method_set.h"

static void the_method_set_remembers_until_cleared(void **state)
{
	(void)state;
	method_set_clear();
	for (uint64_t m = 0x1000; m < 0x1000 + 8 * 5000; m += 8)
		method_set_add(m);
	for (uint64_t m = 0x1000; m < 0x1000 + 8 * 5000; m += 8)
		assert_true(method_set_has(m));
	assert_false(method_set_has(0x999));
	method_set_clear();
	assert_false(method_set_has(0x1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_method_set_remembers_until_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
