/* What handlers look at: the epoch that pauses of the collector count up, and the table of
 * contexts. */
#include "tests/unit/support/test.h"

#include "attach/agent/handler/handlers.h"

TEST(the_epoch_is_odd_during_a_pause_and_rises)
{
	atomic_store(&handlers.epoch, 4);
	handlers_gc_started();
	assert_int_equal(atomic_load(&handlers.epoch), 5);
	handlers_gc_finished();
	assert_int_equal(atomic_load(&handlers.epoch), 6);
}

TEST(a_collection_inside_another_is_one_pause)
{
	atomic_store(&handlers.epoch, 4);
	handlers_gc_started();
	handlers_gc_started();
	assert_int_equal(atomic_load(&handlers.epoch), 5);
	handlers_gc_finished();
	assert_int_equal(atomic_load(&handlers.epoch), 6);
	/* Whatever moved in the rest of the outer one is of another epoch, too. */
	handlers_gc_finished();
	assert_int_equal(atomic_load(&handlers.epoch), 8);
}

TEST(a_pause_whose_beginning_was_not_heard_ends_an_epoch)
{
	atomic_store(&handlers.epoch, 4);
	handlers_gc_finished();
	assert_int_equal(atomic_load(&handlers.epoch), 6);
}

TEST(the_table_of_contexts_stays_where_it_is_and_is_emptied)
{
	struct context_table *table;
	uint32_t id;

	assert_int_equal(handlers_init(), 0);
	table = handlers.contexts;
	id = context_intern(table, 0, (struct call){.method = 12, .bci = 7});
	assert_int_not_equal(id, 0);
	assert_int_equal(context_node(table, id)->bci, 7);
	handlers_release();
	assert_int_equal(context_node(table, id)->bci, 0);
	(void)context_intern(table, 0, (struct call){.method = 12, .bci = 7});
	assert_int_equal(handlers_init(), 0);
	assert_ptr_equal(handlers.contexts, table);
	assert_int_equal(context_node(table, id)->bci, 0);
}
