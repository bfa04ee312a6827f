#include "tests/unit/support/test.h"

#include "common/cleanup.h"
#include "tests/unit/support/interval_model.h"

#define OBJECT 77u

static uint64_t random_state;

/* xorshift64*: the same sequence everywhere. */
static uint64_t random_below(uint64_t bound)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * UINT64_C(2685821657736338717) >> 16) % bound;
}

struct evictions {
	uint32_t count;
	uint32_t last_object;
};

static void on_evicted(void *context, uint32_t object)
{
	struct evictions *e = context;

	e->count++;
	e->last_object = object;
}

/* ---------------------------------------------------------------- one behaviour each */

TEST(an_interval_contains_its_first_and_last_byte_and_no_other)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	const struct interval_node *n;
	uint32_t node;

	interval_tree_init(&t, 10, NULL, NULL);
	assert_null(interval_tree_stab(&t, 0));
	assert_int_equal(interval_tree_insert(&t, 1000, 16, OBJECT, &node), 0);
	assert_null(interval_tree_stab(&t, 999));
	assert_null(interval_tree_stab(&t, 1016));
	n = interval_tree_stab(&t, 1000);
	assert_non_null(n);
	assert_int_equal(n->object, OBJECT);
	assert_ptr_equal(interval_tree_stab(&t, 1015), n);
	assert_ptr_equal(n, &t.nodes[node]);
}

TEST(both_ends_of_the_address_space_can_be_covered)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, 10, NULL, NULL);
	assert_int_equal(interval_tree_insert(&t, 0, 1, 1, &node), 0);
	assert_int_equal(interval_tree_insert(&t, UINT64_MAX, 1, 2, &node), 0);
	assert_int_equal(interval_tree_stab(&t, 0)->object, 1);
	assert_int_equal(interval_tree_stab(&t, UINT64_MAX)->object, 2);
	assert_null(interval_tree_stab(&t, 1));
	assert_null(interval_tree_stab(&t, UINT64_MAX - 1));
	/* All of it but the first byte. */
	assert_int_equal(interval_tree_insert(&t, 1, UINT64_MAX, 3, &node), 0);
	assert_int_equal(t.count, 2);
	assert_int_equal(interval_tree_stab(&t, UINT64_MAX)->object, 3);
}

TEST(an_empty_or_wrapping_interval_is_refused_and_changes_nothing)
{
	struct evictions e = {0};
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node = 5;

	interval_tree_init(&t, 10, on_evicted, &e);
	assert_int_equal(interval_tree_insert(&t, 100, 8, OBJECT, &node), 0);
	node = 5;
	assert_int_equal(interval_tree_insert(&t, 100, 0, 1, &node), -EINVAL);
	assert_int_equal(interval_tree_insert(&t, 0, 0, 1, &node), -EINVAL);
	assert_int_equal(interval_tree_insert(&t, UINT64_MAX, 2, 1, &node), -EINVAL);
	assert_int_equal(interval_tree_insert(&t, 100, UINT64_MAX, 1, &node), -EINVAL);
	assert_int_equal(node, 5);
	assert_int_equal(e.count, 0);
	assert_int_equal(t.count, 1);
}

TEST(a_new_interval_evicts_all_that_it_overlaps_and_reports_each)
{
	struct evictions e = {0};
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node[5];

	interval_tree_init(&t, 10, on_evicted, &e);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(interval_tree_insert(&t, 100 + 10 * i, 10, i, &node[i]), 0);
	assert_int_equal(e.count, 0); /* Neighbours do not overlap. */
	assert_int_equal(interval_tree_insert(&t, 119, 2, 4, &node[4]), 0);
	assert_int_equal(e.count, 2);
	assert_int_equal(t.count, 3);
	assert_int_equal(interval_tree_stab(&t, 119)->object, 4);
	assert_null(interval_tree_stab(&t, 118));
	assert_null(interval_tree_stab(&t, 121));
	assert_int_equal(interval_tree_stab(&t, 109)->object, 0);
	assert_int_equal(interval_tree_stab(&t, 130)->object, 3);
}

TEST(above_the_limit_an_interval_is_refused_but_what_it_overlaps_is_stale)
{
	struct evictions e = {0};
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node = 0;

	interval_tree_init(&t, 2, on_evicted, &e);
	assert_int_equal(interval_tree_insert(&t, 100, 10, 0, &node), 0);
	assert_int_equal(interval_tree_insert(&t, 200, 10, 1, &node), 0);
	assert_int_equal(interval_tree_insert(&t, 300, 10, 2, &node), -ENOSPC);
	assert_int_equal(interval_tree_insert(&t, 205, 10, 3, &node), 0); /* In place of 1. */
	assert_int_equal(e.count, 1);
	assert_int_equal(e.last_object, 1);
	assert_int_equal(t.count, 2);

	interval_tree_release(&t);
	interval_tree_init(&t, 0, on_evicted, &e);
	assert_int_equal(interval_tree_insert(&t, 1, 1, 0, &node), -ENOSPC);
	assert_null(t.nodes);
}

TEST(ids_of_no_node_are_refused)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, 10, NULL, NULL);
	assert_int_equal(interval_tree_remove(&t, INTERVAL_NONE), -ENOENT);
	assert_int_equal(interval_tree_remove(&t, 1), -ENOENT);
	assert_int_equal(interval_tree_insert(&t, 100, 10, OBJECT, &node), 0);
	assert_int_equal(interval_tree_remove(&t, node + 1), -ENOENT);
	assert_int_equal(interval_tree_remove(&t, UINT32_MAX), -ENOENT);
	assert_int_equal(interval_tree_remove(&t, node), 0);
	assert_int_equal(interval_tree_remove(&t, node), -ENOENT);
	assert_null(interval_tree_stab(&t, 100));
}

/* A sliding compaction: each object moves to where the one before it was. */
TEST(objects_may_move_to_where_others_were)
{
	enum { COUNTS = 3, OBJECTS_MAX = 300 };
	static const uint32_t counts[COUNTS] = {2, 20, OBJECTS_MAX}; /* One by one, and rebuilt. */
	struct interval_move moves[OBJECTS_MAX];

	for (uint32_t c = 0; c < COUNTS; c++) {
		struct interval_model m;

		model_init(&m, OBJECTS_MAX, OBJECTS_MAX);
		for (uint32_t i = 0; i < counts[c]; i++)
			assert_int_equal(model_insert(&m, 1000 + UINT64_C(16) * i, 16), 0);
		for (uint32_t i = 0; i < counts[c]; i++) /* The last one first. */
			moves[i] = (struct interval_move){
			    .node = m.list[counts[c] - 1 - i].node,
			    .start = m.list[counts[c] - 1 - i].start - 16,
			};
		model_relocate(&m, moves, counts[c], NULL, 0);
		assert_int_equal(m.tree.count, counts[c]);
		(void)model_check(&m);
		assert_true(model_stab(&m, 1000 - 16));
		assert_false(model_stab(&m, 1000 + UINT64_C(16) * (counts[c] - 1)));
		model_release(&m);
	}
}

TEST(a_large_batch_leaves_a_perfectly_balanced_tree)
{
	enum { OBJECTS = 1000, PERFECT_DEPTH = 10 };
	struct interval_move moves[OBJECTS];
	struct interval_model m;

	model_init(&m, OBJECTS, OBJECTS);
	for (uint32_t i = 0; i < OBJECTS; i++)
		assert_int_equal(model_insert(&m, 8 + UINT64_C(8) * i, 8), 0);
	assert_int_equal(model_check(&m), OBJECTS); /* As deep as it gets. */
	for (uint32_t i = 0; i < OBJECTS; i++)
		moves[i] = (struct interval_move){.node = m.list[i].node,
						  .start = (UINT64_C(1) << 40) - 8 * i};
	model_relocate(&m, moves, OBJECTS, NULL, 0);
	assert_int_equal(model_check(&m), PERFECT_DEPTH);
	model_release(&m);
}

/* Only the first one is not on a multiple of 16, and the second one is the lowest. */
TEST(nodes_are_put_in_order_by_all_bits_in_which_addresses_differ)
{
	enum { OBJECTS = 1000, PERFECT_DEPTH = 10 };
	struct interval_move moves[OBJECTS];
	struct interval_model m;

	model_init(&m, OBJECTS, OBJECTS);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		assert_int_equal(model_insert(&m, 8 + UINT64_C(8) * i, 8), 0);
		moves[i] = (struct interval_move){.node = m.list[i].node,
						  .start = 1024 + UINT64_C(16) * i};
	}
	moves[0].start = 1032;
	moves[1].start = 1024;
	model_relocate(&m, moves, OBJECTS, NULL, 0);
	assert_int_equal(m.count, OBJECTS);
	assert_int_equal(model_check(&m), PERFECT_DEPTH);
	model_release(&m);
}

TEST(the_dead_are_gone_and_not_reported_even_if_they_also_moved)
{
	enum { OBJECTS = 200 };
	struct interval_move moves[OBJECTS];
	uint32_t dead[OBJECTS];

	for (uint32_t count = 10; count <= OBJECTS; count += OBJECTS - 10) {
		struct interval_model m;

		model_init(&m, OBJECTS, OBJECTS);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(model_insert(&m, 64 * (i + UINT64_C(1)), 32), 0);
		for (uint32_t i = 0; i < count; i++) {
			moves[i] = (struct interval_move){.node = m.list[i].node,
							  .start = m.list[i].start + 8};
			dead[i] = m.list[i / 2].node; /* Half of them, twice. */
		}
		model_relocate(&m, moves, count, dead, count);
		assert_int_equal(m.count, count / 2);
		(void)model_check(&m);
		model_release(&m);
	}
}

TEST(of_moves_to_one_place_the_last_wins)
{
	enum { OBJECTS = 200 };
	struct interval_move moves[OBJECTS];

	for (uint32_t count = 10; count <= OBJECTS; count += OBJECTS - 10) {
		struct interval_model m;

		model_init(&m, OBJECTS, OBJECTS);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(model_insert(&m, 64 * (i + UINT64_C(1)), 32), 0);
		for (uint32_t i = 0; i < count; i++)
			moves[i] = (struct interval_move){.node = m.list[i].node,
							  .start = 1000000 + i % 16};
		model_relocate(&m, moves, count, NULL, 0);
		assert_int_equal(m.tree.count, 1);
		assert_int_equal(interval_tree_stab(&m.tree, 1000020)->object, count - 1);
		(void)model_check(&m);
		model_release(&m);
	}
}

TEST(a_move_beyond_the_address_space_evicts)
{
	enum { OBJECTS = 200 };
	struct interval_move moves[OBJECTS];

	for (uint32_t count = 10; count <= OBJECTS; count += OBJECTS - 10) {
		struct interval_model m;

		model_init(&m, OBJECTS, OBJECTS);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(model_insert(&m, 64 * (i + UINT64_C(1)), 32), 0);
		for (uint32_t i = 0; i < count; i++)
			moves[i] = (struct interval_move){.node = m.list[i].node,
							  .start = UINT64_MAX - 30 * (i % 3)};
		model_relocate(&m, moves, count, NULL, 0);
		assert_int_equal(m.tree.count, 1); /* Those 60 below the end overlap. */
		(void)model_check(&m);
		model_release(&m);
	}
}

/* ---------------------------------------------------------------- what was noted of look-ups */

enum { ROW = 100, PITCH = 64, SIZE = 32 };

/* Intervals of SIZE bytes, PITCH apart, and every byte and gap between them has been looked up, so
 * that all that can be noted is. The root is the last one. */
static void fill_row(struct interval_tree *t, uint32_t *nodes)
{
	interval_tree_init(t, 2 * ROW, NULL, NULL);
	for (uint32_t i = 0; i < ROW; i++)
		assert_int_equal(interval_tree_insert(t, PITCH * (1 + i), SIZE, i, &nodes[i]), 0);
	for (uint64_t at = PITCH; at < PITCH * (ROW + 1); at++)
		(void)interval_tree_stab(t, at);
}

TEST(what_was_found_is_not_found_once_it_is_removed)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t nodes[ROW];

	fill_row(&t, nodes);
	for (uint32_t i = 0; i < ROW; i += 2)
		assert_int_equal(interval_tree_remove(&t, nodes[i]), 0);
	for (uint64_t at = PITCH; at < PITCH * (ROW + 1); at++)
		assert_int_equal(interval_tree_stab(&t, at) != NULL,
				 (at / PITCH - 1) % 2 == 1 && at % PITCH < SIZE);
}

TEST(an_id_that_is_used_again_does_not_answer_for_the_old_place)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t nodes[ROW], again;

	fill_row(&t, nodes);
	assert_int_equal(interval_tree_remove(&t, nodes[7]), 0);
	assert_int_equal(interval_tree_insert(&t, 1 << 20, SIZE, OBJECT, &again), 0);
	assert_int_equal(again, nodes[7]);
	assert_null(interval_tree_stab(&t, PITCH * 8));
	assert_int_equal(interval_tree_stab(&t, 1 << 20)->object, OBJECT);
}

TEST(an_interval_is_found_where_nothing_was_found_before)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t nodes[ROW], node;

	fill_row(&t, nodes);
	/* Inside gaps that are noted, at one of their ends and all over them. */
	assert_int_equal(interval_tree_insert(&t, PITCH * 10 + SIZE + 8, 8, OBJECT, &node), 0);
	assert_int_equal(interval_tree_insert(&t, PITCH * 20 + SIZE, 8, OBJECT, &node), 0);
	assert_int_equal(interval_tree_insert(&t, PITCH * 30 + SIZE, SIZE, OBJECT, &node), 0);
	(void)interval_tree_stab(&t, PITCH); /* None of them is the root. */
	assert_null(interval_tree_stab(&t, PITCH * 10 + SIZE + 7));
	assert_int_equal(interval_tree_stab(&t, PITCH * 10 + SIZE + 8)->object, OBJECT);
	assert_int_equal(interval_tree_stab(&t, PITCH * 10 + SIZE + 15)->object, OBJECT);
	assert_null(interval_tree_stab(&t, PITCH * 10 + SIZE + 16));
	assert_int_equal(interval_tree_stab(&t, PITCH * 20 + SIZE)->object, OBJECT);
	assert_null(interval_tree_stab(&t, PITCH * 20 + SIZE + 8));
	assert_int_equal(interval_tree_stab(&t, PITCH * 31 - 1)->object, OBJECT);
	assert_int_equal(interval_tree_stab(&t, PITCH * 31)->object, 30);
}

/* count of the row, from the lowest on, move behind it. */
static void move_and_look_again(uint32_t count)
{
	_cleanup_(interval_tree_release) struct interval_tree t;
	struct interval_move moves[ROW];
	uint32_t nodes[ROW];

	fill_row(&t, nodes);
	for (uint32_t i = 0; i < count; i++)
		moves[i] = (struct interval_move){.start = PITCH * (1 + ROW + i), .node = nodes[i]};
	interval_tree_relocate(&t, moves, count, NULL, 0);
	for (uint64_t at = PITCH; at < PITCH * (1 + ROW + count); at++) {
		const struct interval_node *n = interval_tree_stab(&t, at);
		uint64_t place = at / PITCH - 1;

		assert_int_equal(n != NULL, place >= count && at % PITCH < SIZE);
		assert_true(!n || n->object == place % ROW);
	}
}

TEST(objects_that_moved_are_found_where_they_are)
{
	move_and_look_again(5);   /* One by one. */
	move_and_look_again(ROW); /* By rebuilding. */
}

TEST(a_gap_of_gigabytes_is_empty_to_its_end)
{
	const uint64_t far = UINT64_C(1) << 40;
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, 10, NULL, NULL);
	assert_int_equal(interval_tree_insert(&t, 16, 16, 1, &node), 0);
	assert_int_equal(interval_tree_insert(&t, far, 16, 2, &node), 0);
	for (int round = 0; round < 2; round++) {
		assert_null(interval_tree_stab(&t, 32));
		assert_null(interval_tree_stab(&t, UINT64_C(5) << 30));
		assert_null(interval_tree_stab(&t, far - 1));
		assert_null(interval_tree_stab(&t, far + 16));
		assert_null(interval_tree_stab(&t, UINT64_MAX));
		assert_null(interval_tree_stab(&t, 0));
		assert_int_equal(interval_tree_stab(&t, 16)->object, 1);
		assert_int_equal(interval_tree_stab(&t, far)->object, 2);
	}
}

/* ---------------------------------------------------------------- properties */

/* An address in a space small enough that intervals meet, with the ends of all addresses in it. */
static uint64_t random_address(uint64_t space, unsigned int unit)
{
	uint64_t address = random_below(space) << unit;

	switch (random_below(16)) {
	case 0:
		return UINT64_MAX - address;
	case 1:
		return address << 40; /* A heap of more than 32 bits. */
	default:
		return address;
	}
}

static uint32_t random_node(const struct interval_model *m)
{
	if (m->count == 0 || random_below(16) == 0)
		return (uint32_t)random_below(m->tree.used + 3); /* May be one of no node. */
	return m->list[random_below(m->count)].node;
}

static void random_batch(struct interval_model *m, uint64_t space, unsigned int unit)
{
	uint32_t move_count = (uint32_t)random_below(2 * m->count + 2);
	uint32_t dead_count = (uint32_t)random_below(m->count / 4 + 2);
	_cleanup_free_ struct interval_move *moves = calloc(move_count + 1, sizeof(*moves));
	_cleanup_free_ uint32_t *dead = calloc(dead_count + 1, sizeof(*dead));

	assert_non_null(moves);
	assert_non_null(dead);
	if (random_below(2) == 0)
		move_count /= 16; /* One by one. */
	for (uint32_t i = 0; i < move_count; i++)
		moves[i] = (struct interval_move){.start = random_address(space, unit),
						  .node = random_node(m)};
	for (uint32_t i = 0; i < dead_count; i++)
		dead[i] = random_node(m);
	model_relocate(m, moves, move_count, dead, dead_count);
}

static void random_operation(struct interval_model *m, uint64_t space, unsigned int unit)
{
	switch (random_below(64)) {
	case 0:
		random_batch(m, space, unit);
		break;
	case 1 ... 9:
		model_remove(m, random_node(m));
		break;
	case 10 ... 35:
		(void)model_insert(m, random_address(space, unit), random_below(24) << unit);
		break;
	default:
		(void)model_stab(m, random_address(space, unit) + random_below(3) - 1);
	}
}

TEST(any_sequence_of_operations_does_what_a_list_does)
{
	enum { SEEDS = 60, OPERATIONS = 4000 };
	static const uint64_t spaces[] = {64, 1000, 20000, UINT64_C(1) << 40};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct interval_model m;

		random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
		model_init(&m, (uint32_t)(20 + 10 * seed), OPERATIONS);
		for (uint32_t i = 0; i < OPERATIONS; i++) {
			random_operation(&m, spaces[seed % 4], seed % 8 < 4 ? 3 : 0);
			if (i % 16 == 0)
				(void)model_check(&m);
		}
		(void)model_check(&m);
		model_release(&m);
	}
}

/* ---------------------------------------------------------------- what a lying JVM may try */

/* A million intervals in order make a tree a million deep; whoever recursed would need a stack. */
TEST(a_tree_as_deep_as_it_has_nodes_needs_no_stack)
{
	enum { NODES = 1000000 };
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, NODES, NULL, NULL);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(interval_tree_insert(&t, UINT64_C(16) * i, 16, i, &node), 0);
	assert_int_equal(interval_tree_stab(&t, 0)->object, 0); /* The deepest one. */
	for (uint32_t i = 0; i < NODES; i += 7)
		assert_int_equal(interval_tree_stab(&t, UINT64_C(16) * i + 3)->object, i);
}

TEST(ten_million_allocations_stay_within_the_limit)
{
	enum { LIMIT = 10000, ALLOCATIONS = 10000000 };
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node, refused = 0;

	interval_tree_init(&t, LIMIT, NULL, NULL);
	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		int r = interval_tree_insert(&t, UINT64_C(24) * i, 24, i, &node);

		assert_true(r == 0 || r == -ENOSPC);
		refused += r == -ENOSPC;
	}
	assert_int_equal(refused, ALLOCATIONS - LIMIT);
	assert_int_equal(t.count, LIMIT);
	assert_int_equal(t.capacity, LIMIT + 1);
}

TEST(a_million_overlapping_intervals_evict_each_other)
{
	enum { LIMIT = 10000, ALLOCATIONS = 1000000 };
	struct evictions e = {0};
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, LIMIT, on_evicted, &e);
	random_state = 3;
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		assert_int_equal(interval_tree_insert(&t, random_below(LIMIT) * 8, 64, i, &node),
				 0);
	assert_int_equal(e.count + t.count, ALLOCATIONS);
	assert_true(t.capacity <= LIMIT + 1);
}

TEST(a_million_intervals_take_at_most_88_bytes_each)
{
	enum { NODES = 1000000, SCRATCH_BYTES = 16, BYTES_MAX = 88 };
	_cleanup_(interval_tree_release) struct interval_tree t;
	uint32_t node;

	interval_tree_init(&t, UINT32_MAX, NULL, NULL);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_int_equal(interval_tree_insert(&t, UINT64_C(16) * i, 16, i, &node), 0);
		if (i >= 200)
			assert_true(interval_tree_memory_bytes(&t) / t.count + SCRATCH_BYTES <=
				    BYTES_MAX);
	}
}
