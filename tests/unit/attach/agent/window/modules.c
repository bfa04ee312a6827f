/* What a window leaves in the agent's modules is gone before the next one, and its memory is. */
#include "tests/unit/support/test.h"
#include <errno.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/window/modules.h"
#include "tests/unit/support/agent/blobs.h"
#include "tests/unit/support/agent/fake_methods.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

#define CODE_LOW  UINT64_C(0x7f0000000000)
#define CODE_HIGH (CODE_LOW + (UINT64_C(1) << 20))
#define METHOD    UINT64_C(0x1238)

static uint64_t code_low = CODE_LOW, code_high = CODE_HIGH;
static _Atomic uint32_t tag;
static struct fake_world world;

static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	fake_static("CodeCache", "_low_bound", &code_low);
	fake_static("CodeCache", "_high_bound", &code_high);
	return safe_read_init();
}

static uint32_t context(void)
{
	return context_intern(handlers.contexts, 0, (struct call){.method = 1, .bci = 1});
}

static void prepare(void)
{
	struct err err = {0};

	assert_int_equal(modules_prepare(&err), 0);
}

/* Something in each module that keeps something. */
static void fill(void)
{
	add_compiled(CODE_LOW, 64, METHOD, NULL, 0);
	fake_world_init(&world, "p/A", "run");
	assert_int_equal(
	    method_number(method_table(), &fake_method_layout, fake_address(&world), 0), 1);
	assert_int_equal(class_table_intern("[J"), 1);
	assert_non_null(fixed_object_add(0x1000, &tag));
	context_set_sent(handlers.contexts, context());
}

static void assert_empty(void)
{
	struct code_blob blob;

	assert_false(codemap_find(CODE_LOW, &blob));
	assert_int_equal(method_table()->count, 0);
	assert_null(class_table_signature(1));
	assert_false(context_is_sent(handlers.contexts, context()));
}

TEST(a_window_finds_nothing_of_the_one_before, set_up)
{
	prepare();
	fill();
	prepare();
	assert_empty();
	for (unsigned i = 0; i < FIXED_OBJECTS_MAX; i++)
		assert_non_null(fixed_object_add(0x1000, &tag));
}

TEST(a_handler_that_is_late_still_finds_memory, set_up)
{
	struct code_blob blob;

	prepare();
	fill();
	modules_release();
	assert_false(codemap_find(CODE_LOW, &blob));
	assert_null(class_table_signature(1));
	assert_int_not_equal(context(), 0);
	assert_non_null(thread_at(0));
}

TEST(without_a_code_cache_there_is_no_window, set_up)
{
	struct err err = {0};

	fake_vmstructs_reset();
	assert_int_equal(modules_prepare(&err), -EOPNOTSUPP);
	assert_int_not_equal(err.message[0], '\0');
}
