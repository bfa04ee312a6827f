/* The table of tracked objects and its passes, on a heap that the test moves itself. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/objects/objects.h"

#define CELLS 2000u

static uint64_t heap[CELLS]; /* where the object of each reference is; 0: dead */
static unsigned released;
static unsigned reads, epoch_changes_at; /* the epoch changes when so many addresses were read */
static _Atomic uint32_t epoch;
static struct objects objects;

static struct {
	uint32_t id;
	uint64_t address;
} reported[CELLS];
static unsigned reported_count;

static uint64_t address_of(void *arg, void *ref)
{
	(void)arg;
	if (++reads == epoch_changes_at)
		atomic_fetch_add(&epoch, 2);
	return *(uint64_t *)ref;
}

static void release(void *arg, const struct object_entry *object)
{
	(void)arg;
	assert_int_equal(object->kept_words, 2);
	released++;
}

static void note(void *arg, uint32_t id, uint64_t address)
{
	(void)arg;
	reported[reported_count].id = id;
	reported[reported_count++].address = address;
}

static int set_up(void **state)
{
	const struct object_memory memory = {.address = address_of, .release = release};

	(void)state;
	released = reads = epoch_changes_at = reported_count = 0;
	atomic_store(&epoch, 2);
	for (unsigned i = 0; i < CELLS; i++)
		heap[i] = 0x1000 + i * 0x100;
	return objects_init(&objects, CELLS, &memory);
}

static int tear_down(void **state)
{
	(void)state;
	objects_release(&objects);
	return 0;
}

static void track(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(objects_add(&objects, &heap[i], heap[i], 2), i + 1);
}

static enum objects_pass whole_pass(void)
{
	enum objects_pass result;

	do
		result = objects_pass(&objects, &epoch, CELLS);
	while (result == PASS_MORE);
	return result;
}

static void report(void)
{
	reported_count = 0;
	objects_report(&objects, note, NULL);
}

TEST(the_first_pass_settles_an_epoch_without_objects, set_up, tear_down)
{
	assert_int_equal(objects_pass(&objects, &epoch, 1), PASS_DONE);
	assert_int_equal(objects.settled_epoch, 2);
	assert_int_equal(objects_pass(&objects, &epoch, 1), PASS_NONE);
}

TEST(only_objects_that_moved_or_died_are_reported, set_up, tear_down)
{
	track(3);
	heap[1] = 0x9000;
	heap[2] = 0;
	assert_int_equal(whole_pass(), PASS_DONE);
	report();
	assert_int_equal(reported_count, 2);
	assert_int_equal(reported[0].id, 2);
	assert_int_equal(reported[0].address, 0x9000);
	assert_int_equal(reported[1].id, 3);
	assert_int_equal(reported[1].address, 0);
	assert_int_equal(objects.moved, 1);
	assert_int_equal(objects.died, 1);
}

TEST(a_change_is_reported_once, set_up, tear_down)
{
	track(2);
	heap[0] = 0x9000;
	(void)whole_pass();
	report();
	atomic_fetch_add(&epoch, 2);
	(void)whole_pass();
	report();
	assert_int_equal(reported_count, 0);
}

TEST(the_place_of_a_dead_object_is_used_again_under_a_new_number, set_up, tear_down)
{
	track(CELLS);
	assert_int_equal(objects_add(&objects, &heap[0], 1, 2), 0);
	heap[5] = 0;
	(void)whole_pass();
	report();
	assert_int_equal(released, 1);
	assert_int_equal(objects_add(&objects, &heap[0], 1, 2), CELLS + 1);
}

TEST(no_pass_is_made_while_the_application_is_stopped, set_up, tear_down)
{
	atomic_store(&epoch, 3);
	track(1);
	assert_int_equal(objects_pass(&objects, &epoch, CELLS), PASS_NONE);
	assert_int_equal(reads, 0);
}

TEST(a_pass_that_is_overtaken_begins_again_and_reports_nothing_of_the_first, set_up, tear_down)
{
	track(1000);
	epoch_changes_at = 600;
	heap[0] = 0x9000; /* found by the first pass, moved back before the second */
	assert_int_equal(objects_pass(&objects, &epoch, 512), PASS_MORE);
	assert_int_equal(reads, 512);
	heap[0] = 0x1000;
	assert_int_equal(whole_pass(), PASS_DONE);
	assert_int_equal(objects.overtaken, 1);
	assert_int_equal(objects.passes, 1);
	assert_int_equal(objects.settled_epoch, 4);
	report();
	assert_int_equal(reported_count, 0);
}

TEST(a_pause_that_begins_with_the_last_object_leaves_the_epoch_unsettled, set_up, tear_down)
{
	track(10);
	epoch_changes_at = 10;
	assert_int_equal(objects_pass(&objects, &epoch, 1), PASS_MORE);
	assert_false(objects.settled);
}

TEST(a_pass_is_made_in_portions, set_up, tear_down)
{
	track(1000);
	assert_int_equal(objects_pass(&objects, &epoch, 256), PASS_MORE);
	assert_int_equal(reads, 256);
	assert_int_equal(objects_pass(&objects, &epoch, 256), PASS_MORE);
	assert_int_equal(reads, 512);
	assert_int_equal(whole_pass(), PASS_DONE);
	assert_int_equal(reads, 1000);
}

TEST(an_object_that_is_added_during_a_pass_is_part_of_it, set_up, tear_down)
{
	track(300);
	assert_int_equal(objects_pass(&objects, &epoch, 256), PASS_MORE);
	heap[300] = 0x9000;
	assert_int_equal(objects_add(&objects, &heap[300], 0x1000, 2), 301);
	assert_int_equal(whole_pass(), PASS_DONE);
	report();
	assert_int_equal(reported_count, 1);
	assert_int_equal(reported[0].id, 301);
}

TEST(an_epoch_is_settled_once_its_pass_is_complete, set_up, tear_down)
{
	assert_false(objects_is_settled(&objects, 2));
	(void)whole_pass();
	assert_true(objects_is_settled(&objects, 2));
	assert_false(objects_is_settled(&objects, 0));
	assert_false(objects_is_settled(&objects, 4));
}

TEST(an_object_of_an_epoch_before_the_settled_one_was_missed_by_its_pass, set_up, tear_down)
{
	assert_false(objects_was_missed(&objects, 0));
	(void)whole_pass();
	assert_true(objects_was_missed(&objects, 0));
	assert_false(objects_was_missed(&objects, 2));
	assert_false(objects_was_missed(&objects, 4));
}

TEST(an_object_whose_address_was_not_known_is_reported_by_the_next_pass, set_up, tear_down)
{
	assert_int_equal(objects_add(&objects, &heap[0], 0, 2), 1);
	(void)whole_pass();
	report();
	assert_int_equal(reported_count, 1);
	assert_int_equal(reported[0].address, heap[0]);
}

TEST(all_references_are_released_in_the_end, set_up, tear_down)
{
	track(7);
	objects_release(&objects);
	assert_int_equal(released, 7);
}

TEST(nothing_is_asked_of_a_jvm_that_has_died, set_up, tear_down)
{
	track(7);
	objects_clear(&objects);
	objects_release(&objects);
	assert_int_equal(released, 0);
}
