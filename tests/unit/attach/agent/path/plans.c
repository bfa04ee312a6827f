/* Plans as handlers find them. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <stdatomic.h>

#include "attach/agent/path/plans.h"

static int forget(void **state)
{
	(void)state;
	plans_clear();
	return 0;
}

static struct loop_plan plan_of(uint64_t code)
{
	struct loop_plan plan = {.code = code, .start = code, .count = LIMIT_PLAN_PLACES};

	for (unsigned i = 0; i < LIMIT_PLAN_PLACES; i++)
		plan.places[i] = (uint32_t)code;
	return plan;
}

TEST(a_plan_is_found_by_the_number_of_its_code, forget)
{
	const struct loop_plan plans[] = {plan_of(7), plan_of(9)};
	struct loop_plan found;

	plans_set(plans, 2);
	assert_int_equal(plans_count(), 2);
	assert_false(plans_read(0, 9, &found));
	assert_true(plans_read(1, 9, &found));
	assert_memory_equal(&found, &plans[1], sizeof(found));
	plans_clear();
	assert_int_equal(plans_count(), 0);
}

TEST(a_plan_of_more_than_there_is_room_for_is_none, forget)
{
	struct loop_plan plan = plan_of(7), found;

	plan.load_count = LIMIT_PLAN_LOADS;
	plan.scalar_count = LIMIT_PLAN_SCALARS;
	plan.turn_input_count = LIMIT_PLAN_TURN_INPUTS;
	plans_set(&plan, 1);
	assert_true(plans_read(0, 7, &found));
	plan.turn_input_count++;
	plans_set(&plan, 1);
	assert_false(plans_read(0, 7, &found));
	plan.turn_input_count = 0;
	plan.load_count++;
	plans_set(&plan, 1);
	assert_false(plans_read(0, 7, &found));
}

#define FITS(code, bytes) \
	plan_input_fits((const uint8_t *)(code), sizeof(code) - 1, 0x1000, bytes, &insn)

TEST(an_input_is_what_an_instruction_loads)
{
	struct insn insn;

	assert_true(FITS("\x03\x04\x8f", 4)); /* add eax, [rdi + 4 * rcx] */
	assert_false(FITS("\x03\x04\x8f", 8));
	assert_false(FITS("\x03\x04", 4));                     /* cut short */
	assert_true(FITS("\x0f\xb6\x0f", 1));                  /* movzx ecx, byte [rdi] */
	assert_true(FITS("\x39\x0f", 4));                      /* cmp [rdi], ecx */
	assert_true(FITS("\xc5\xfe\x6f\x07", 32));             /* vmovdqu ymm0, [rdi] */
	assert_false(FITS("\x89\x0f", 4));                     /* mov [rdi], ecx */
	assert_false(FITS("\x8d\x0f", 4));                     /* lea ecx, [rdi] */
	assert_false(FITS("\x8b\x0d\x10\x00\x00\x00", 4));     /* mov ecx, [rip + 16] */
	assert_false(FITS("\x8b\x0c\x25\x00\x10\x00\x00", 4)); /* mov ecx, [0x1000] */
	assert_false(FITS("\x64\x8b\x0f", 4));                 /* mov ecx, fs:[rdi] */
	assert_false(FITS("\x67\x8b\x0f", 4));                 /* mov ecx, [edi] */
	assert_false(FITS("\xf3\xa4", 1));                     /* rep movsb */
	assert_false(FITS("\xc4\xe2\x7d\x2c\x0f", 32));        /* vmaskmovps ymm1, ymm0, [rdi] */
	assert_false(FITS("\xff\xc9", 4));                     /* dec ecx */
	assert_false(FITS("\x0f\x01\x07", 10));                /* sgdt [rdi] */
}

static _Atomic bool over;

/* The same code, with other numbers each time. */
static void *replace(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !atomic_load(&over); i++) {
		struct loop_plan plan = plan_of(i);

		plan.code = 1;
		plans_set(&plan, 1);
	}
	return NULL;
}

TEST(a_plan_is_read_whole_or_not_at_all, forget)
{
	unsigned read = 0;
	pthread_t writer;

	atomic_store(&over, false);
	assert_int_equal(pthread_create(&writer, NULL, replace, NULL), 0);
	while (read < 10000) {
		struct loop_plan plan;

		if (!plans_read(0, 1, &plan))
			continue;
		read++;
		for (unsigned i = 0; i < LIMIT_PLAN_PLACES; i++)
			assert_int_equal(plan.places[i], (uint32_t)plan.start);
	}
	atomic_store(&over, true);
	assert_int_equal(pthread_join(writer, NULL), 0);
}
