#include "tests/unit/support/test.h"

#include <errno.h>

#include "profile/intake/object_table.h"

#define LIMIT 1000

struct fixture {
	struct object_table table;
	uint64_t unknown;
	uint32_t last_dead;
	size_t deaths;
};

static int set_up(void **state)
{
	static struct fixture f;

	f = (struct fixture){0};
	object_table_init(&f.table, LIMIT);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	object_table_release(&((struct fixture *)*state)->table);
	return 0;
}

static int add(struct fixture *f, uint32_t id, uint64_t address, bool place)
{
	struct tracked_object object = {
	    .id = id, .address = address, .size_bytes = 0x100, .weight = 1, .site = id};

	return object_table_add(&f->table, &object, place);
}

static void on_died(void *context, const struct tracked_object *object)
{
	struct fixture *f = context;

	f->last_dead = object->id;
	f->deaths++;
}

static void apply(struct fixture *f, struct object_move *moves, size_t move_count, uint32_t *dead,
		  size_t dead_count)
{
	struct object_pass pass = {
	    .moves = moves, .move_count = move_count, .dead = dead, .dead_count = dead_count};

	assert_int_equal(object_table_pass(&f->table, &pass, on_died, f, &f->unknown), 0);
}

/* The number of the object at address, 0 for none. */
static uint32_t at(struct fixture *f, uint64_t address)
{
	const struct tracked_object *object = object_table_find(&f->table, address);

	return object ? object->id : 0;
}

TEST(an_object_is_found_at_each_of_its_bytes_and_nowhere_else, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, 7, 0x1000, true), 0);
	assert_int_equal(at(f, 0xfff), 0);
	assert_int_equal(at(f, 0x1000), 7);
	assert_int_equal(at(f, 0x10ff), 7);
	assert_int_equal(at(f, 0x1100), 0);
}

TEST(a_number_that_is_known_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(add(f, 7, 0x1000, true), 0);
	assert_int_equal(add(f, 7, 0x5000, true), -EEXIST);
	assert_int_equal(at(f, 0x5000), 0);
}

TEST(objects_beyond_the_limit_are_refused_until_one_dies, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t dead = 5;

	for (uint32_t id = 1; id <= LIMIT; id++)
		assert_int_equal(add(f, id, 0x1000 * (uint64_t)id, true), 0);
	assert_int_equal(add(f, LIMIT + 1, 0x10, true), -ENOSPC);
	apply(f, NULL, 0, &dead, 1);
	assert_int_equal(f->last_dead, 5);
	assert_int_equal(at(f, 0x5000), 0);
	assert_int_equal(add(f, LIMIT + 1, 0x5000, true), 0);
	assert_int_equal(at(f, 0x5000), LIMIT + 1);
	assert_int_equal(f->table.used, LIMIT);
}

TEST(objects_that_swap_places_are_found_at_their_new_ones, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_move moves[] = {{0x2000, 1}, {0x1000, 2}};

	(void)add(f, 1, 0x1000, true);
	(void)add(f, 2, 0x2000, true);
	apply(f, moves, 2, NULL, 0);
	assert_int_equal(at(f, 0x1000), 2);
	assert_int_equal(at(f, 0x2000), 1);
	assert_int_equal(f->table.evicted, 0);
}

TEST(an_object_that_waits_is_placed_where_the_pass_says_or_where_it_was, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_move moves[] = {{0x7000, 1}};

	(void)add(f, 1, 0, true);
	(void)add(f, 2, 0x2000, false);
	(void)add(f, 3, 0, true);
	assert_int_equal(at(f, 0x2000), 0);
	apply(f, moves, 1, NULL, 0);
	assert_int_equal(at(f, 0x7000), 1);
	assert_int_equal(at(f, 0x2000), 2);
	assert_int_equal(f->table.tree.count, 2);
}

TEST(a_newer_object_evicts_what_it_overlaps, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_move moves[] = {{0x9000, 1}};

	(void)add(f, 1, 0x1000, true);
	(void)add(f, 2, 0x1080, true);
	assert_int_equal(at(f, 0x1000), 0);
	assert_int_equal(at(f, 0x1090), 2);
	assert_int_equal(f->table.evicted, 1);
	apply(f, moves, 1, NULL, 0); /* A pass finds it again. */
	assert_int_equal(at(f, 0x9000), 1);
}

TEST(positions_of_unknown_objects_are_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_move moves[] = {{0x1000, 9}, {0x1000, 0}};
	uint32_t dead[] = {1, 1, 8};

	(void)add(f, 1, 0x1000, true);
	apply(f, moves, 2, dead, 3);
	assert_int_equal(f->deaths, 1);
	assert_int_equal(f->unknown, 4);
	assert_int_equal(f->table.count, 0);
}

TEST(addresses_at_both_ends_of_memory_are_no_trouble, set_up, tear_down)
{
	struct fixture *f = *state;
	struct object_move moves[] = {{UINT64_MAX, 1}};

	assert_int_equal(add(f, 1, UINT64_MAX, true), -EINVAL);
	assert_int_equal(add(f, 1, UINT64_MAX - 0xff, true), 0);
	assert_int_equal(at(f, UINT64_MAX), 1);
	apply(f, moves, 1, NULL, 0);
	assert_int_equal(at(f, UINT64_MAX), 0);
	assert_int_equal(at(f, 0), 0);
}

/* Against a plain array: numbers come and go in any order. */
TEST(many_objects_come_and_go, set_up, tear_down)
{
	struct fixture *f = *state;
	static bool alive[500];
	uint64_t random = 1;
	size_t count = 0;

	for (int i = 0; i < 50000; i++) {
		uint32_t id;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		id = 1 + (uint32_t)(random >> 33) % 499;
		if (alive[id])
			apply(f, NULL, 0, &id, 1);
		else
			assert_int_equal(add(f, id, 0x1000 * (uint64_t)id, true), 0);
		alive[id] = !alive[id];
		count += alive[id] ? 1 : -1;
		assert_int_equal(f->table.count, count);
	}
	for (uint32_t id = 1; id < 500; id++)
		assert_int_equal(at(f, 0x1000 * (uint64_t)id), alive[id] ? id : 0);
	assert_int_equal(f->unknown, 0);
}
