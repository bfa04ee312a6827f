/* Entries that change hands or are given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/agent/handler/thread.h"

static void an_abandoned_entry_keeps_its_memory_for_its_handler(void **state)
{
	struct thread *t, *other;
	unsigned role;
	uint64_t sig_data;

	(void)state;
	assert_int_equal(threads_init(), 0);
	t = thread_take(1);
	assert_int_equal(thread_allocate(t, 4), 0);
	sig_data = thread_sig_data(t, THREAD_ROLE_SAMPLING);
	atomic_store(&t->in_handler, 1);
	thread_abandon(t);
	assert_non_null(t->memory);
	assert_null(thread_of_signal(sig_data, &role));
	thread_record(t, &(struct record){0}); /* What the handler may still do. */
	other = thread_take(2);
	assert_ptr_not_equal(other, t);
	thread_recycle(other);
	atomic_store(&t->in_handler, 0);
	assert_ptr_equal(thread_take(3), t);
	assert_null(t->memory);
	thread_recycle(t);
	assert_int_equal(threads_in_use(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_abandoned_entry_keeps_its_memory_for_its_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
