/* News of threads, from the JVM's threads to the session thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <poll.h>

#include "attach/agent/jvm/roster.h"

static int open_roster(void **state)
{
	(void)state;
	return roster_open();
}

static int close_roster(void **state)
{
	(void)state;
	roster_close();
	return 0;
}

static bool readable(void)
{
	struct pollfd fd = {.fd = roster_fd(), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

static void started_threads_are_taken_in_order_and_wake_the_reader(void **state)
{
	pid_t tids[4];
	bool overflowed;

	(void)state;
	assert_false(readable());
	roster_add(11);
	roster_add(12);
	assert_true(readable());
	assert_int_equal(roster_take(tids, 4, &overflowed), 2);
	assert_int_equal(tids[0], 11);
	assert_int_equal(tids[1], 12);
	assert_false(overflowed || readable());
}

static void a_thread_that_ended_before_it_was_taken_is_forgotten(void **state)
{
	pid_t tids[4];
	bool overflowed;

	(void)state;
	roster_add(11);
	roster_add(12);
	roster_add(11); /* a number that was used again, and ended again */
	roster_remove(11);
	assert_int_equal(roster_take(tids, 4, &overflowed), 1);
	assert_int_equal(tids[0], 12);
}

static void what_does_not_fit_asks_for_an_enumeration(void **state)
{
	bool overflowed;
	pid_t tid;

	(void)state;
	for (pid_t i = 1; i <= 1000; i++)
		roster_add(i);
	assert_int_equal(roster_take(&tid, 1, &overflowed), 1);
	assert_true(overflowed);
	assert_int_equal(roster_take(&tid, 1, &overflowed), 1);
	assert_false(overflowed);
}

static void a_closed_roster_takes_no_news(void **state)
{
	(void)state;
	roster_close();
	roster_add(11);
	assert_int_equal(roster_open(), 0);
	assert_false(readable());
}

static void nobody_is_told_of_while_it_does_not_listen(void **state)
{
	bool overflowed;
	pid_t tid;

	(void)state;
	roster_listen(false);
	roster_add(11);
	assert_false(readable());
	assert_int_equal(roster_take(&tid, 1, &overflowed), 0);
	assert_false(overflowed);
	roster_listen(true);
	roster_add(12);
	assert_true(readable());
	assert_int_equal(roster_take(&tid, 1, &overflowed), 1);
	assert_int_equal(tid, 12);
}

/* A window that ended deaf does not make the next one so. */
static void a_roster_that_is_opened_listens(void **state)
{
	bool overflowed;
	pid_t tid;

	(void)state;
	roster_listen(false);
	roster_close();
	assert_int_equal(roster_open(), 0);
	roster_add(11);
	assert_int_equal(roster_take(&tid, 1, &overflowed), 1);
}

static void a_death_of_the_jvm_after_the_roster_closed_is_known(void **state)
{
	(void)state;
	assert_int_equal(roster_open(), 0);
	roster_close();
	assert_false(roster_vm_is_dead());
	roster_vm_died();
	assert_true(roster_vm_is_dead());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(started_threads_are_taken_in_order_and_wake_the_reader,
					    open_roster, close_roster),
	    cmocka_unit_test_setup_teardown(a_thread_that_ended_before_it_was_taken_is_forgotten,
					    open_roster, close_roster),
	    cmocka_unit_test_setup_teardown(what_does_not_fit_asks_for_an_enumeration, open_roster,
					    close_roster),
	    cmocka_unit_test_setup_teardown(a_closed_roster_takes_no_news, open_roster,
					    close_roster),
	    cmocka_unit_test_setup_teardown(nobody_is_told_of_while_it_does_not_listen, open_roster,
					    close_roster),
	    cmocka_unit_test_setup_teardown(a_roster_that_is_opened_listens, open_roster,
					    close_roster),
	    /* Last: the JVM stays dead. */
	    cmocka_unit_test(a_death_of_the_jvm_after_the_roster_closed_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
