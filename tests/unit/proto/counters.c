#include "tests/unit/support/test.h"

#include <ctype.h>
#include <string.h>

#include "proto/counters.h"

/* As many rows as counters is checked where the table is made; so none has two. */
TEST(every_counter_has_a_row_and_its_name_of_the_protocol)
{
	const ProtobufCEnumDescriptor *known = &jxp__counter__descriptor;

	for (unsigned i = 0; i < known->n_values; i++) {
		Jxp__Counter counter = (Jxp__Counter)known->values[i].value;
		char name[64] = "";

		if (counter == JXP__COUNTER__COUNTER_MAX)
			continue;
		(void)strncpy(name, known->values[i].name + strlen("COUNTER_"), sizeof(name) - 1);
		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		assert_string_equal(counter_name(counter), name);
	}
}

TEST(what_is_no_counter_is_unknown)
{
	assert_string_equal(counter_name(JXP__COUNTER__COUNTER_MAX), "unknown");
	assert_string_equal(counter_name((Jxp__Counter)-1), "unknown");
}

TEST(stages_have_one_counter_each_and_no_gap)
{
	unsigned stages = 0;

	for (unsigned place = 1; place <= COUNTER_STAGES; place++)
		assert_non_null(counter_of_stage(place));
	assert_null(counter_of_stage(0));
	assert_null(counter_of_stage(COUNTER_STAGES + 1));
	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		stages += counter_table[i].stage.label != NULL;
	assert_int_equal(stages, COUNTER_STAGES);
}

TEST(a_stage_is_named_after_its_counter)
{
	for (unsigned place = 1; place <= COUNTER_STAGES; place++) {
		const struct counter *c = counter_of_stage(place);
		const char *label = c->stage.label;

		if (strncmp(label, "agent_", strlen("agent_")) == 0)
			label += strlen("agent_");
		assert_string_equal(label, c->name);
	}
}

TEST(what_is_lost_is_told_to_people_and_is_a_stage)
{
	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		if (counter_table[i].lost)
			assert_true(counter_table[i].sentence && counter_table[i].stage.label);
}
