/* Entries that change hands or are given up. */
#include "tests/unit/support/test.h"

#include <pthread.h>
#include <unistd.h>

#include "attach/agent/handler/thread.h"

#define NO_THREAD ((1 << 22) + 1) /* above the largest pid there is (PID_MAX_LIMIT) */

TEST(an_abandoned_entry_keeps_its_memory_for_its_handler)
{
	struct thread *t, *other;
	unsigned role;
	uint64_t sig_data;

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

static const struct place_remembered an_array = {
    .address = 0x1000, .bytes = 64, .place = {.klass = 7, .kind = PLACE_OBJECT}};

TEST(an_entry_taken_again_knows_no_places_of_the_window_before)
{
	struct thread *t;

	assert_int_equal(threads_init(), 0);
	t = thread_take(1);
	t->places.objects[0] = an_array;
	t->places.pass_over = 3;
	thread_recycle(t);
	assert_ptr_equal(thread_take(1), t);
	assert_int_equal(t->places.objects[0].address, 0);
	assert_int_equal(t->places.pass_over, 0);
	thread_recycle(t);
}

TEST(places_are_forgotten_with_their_epoch)
{
	struct thread *t;

	assert_int_equal(threads_init(), 0);
	t = thread_take(1);
	thread_enter_epoch(t, 4);
	t->places.objects[0] = an_array;
	thread_enter_epoch(t, 4);
	assert_int_equal(t->places.objects[0].address, an_array.address);
	thread_enter_epoch(t, 6);
	assert_int_equal(t->places.objects[0].address, 0);
	assert_int_equal(t->epoch, 6);
	thread_recycle(t);
}

TEST(a_thread_that_has_ended_is_found_without_being_told)
{
	struct thread *gone, *here;

	assert_int_equal(threads_init(), 0);
	here = thread_take(getpid());
	gone = thread_take(NO_THREAD);
	threads_sweep();
	assert_false(atomic_load(&here->ended));
	assert_true(atomic_load(&gone->ended));
	assert_null(thread_find(NO_THREAD));
	thread_recycle(here);
	thread_recycle(gone);
}

TEST(a_thread_is_held_unless_a_handler_of_it_is_at_work)
{
	struct thread *t;

	assert_int_equal(threads_init(), 0);
	t = thread_take(1);
	atomic_store(&t->in_handler, 1);
	assert_false(thread_hold(t));
	assert_false(atomic_load(&t->held));
	atomic_store(&t->in_handler, 0);
	assert_true(thread_hold(t));
	assert_true(atomic_load(&t->held));
	thread_let_go(t);
	assert_false(atomic_load(&t->held));
	thread_recycle(t);
}

#define ROUNDS 100000u

static _Atomic bool inside, stop;
static _Atomic unsigned entered;

/* Enters as a handler does (signals.c), and looks whether somebody else is there. */
static void *enter(void *arg)
{
	struct thread *t = arg;

	while (!atomic_load(&stop)) {
		atomic_fetch_add(&t->in_handler, 1);
		if (!atomic_load(&t->held)) {
			atomic_store(&inside, true);
			atomic_fetch_add(&entered, 1);
			atomic_store(&inside, false);
		}
		atomic_fetch_sub(&t->in_handler, 1);
	}
	return NULL;
}

TEST(handlers_keep_out_while_it_is_held)
{
	unsigned held = 0;
	struct thread *t;
	pthread_t handler;

	assert_int_equal(threads_init(), 0);
	t = thread_take(1);
	assert_int_equal(pthread_create(&handler, NULL, enter, t), 0);
	while (held < ROUNDS || atomic_load(&entered) < ROUNDS) {
		unsigned before;

		if (!thread_hold(t))
			continue;
		held++;
		before = atomic_load(&entered);
		assert_false(atomic_load(&inside));
		assert_int_equal(atomic_load(&entered), before);
		thread_let_go(t);
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(handler, NULL), 0);
	thread_recycle(t);
}
