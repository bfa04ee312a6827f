#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buffer.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/questions/inspections.h"
#include "daemon/questions/jar_versions.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"

static uv_loop_t loop;
static struct inspections *inspections;
static struct jar_versions *all;
static const struct jar_versions_jvm first = {.pid = 42, .start_ticks = 1000, .user = PROC_ANY_UID};

static int set_up(void **state)
{
	(void)state;
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&loop), 0);
	inspections = inspections_new(&loop, NULL);
	all = jar_versions_new(inspections);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jar_versions_free(all);
	inspections_free(inspections);
	loop_finish(&loop);
	return 0;
}

static void on_told(void *arg, const char *version)
{
	char *told = arg;

	assert_string_equal(told, "");
	strcpy(told, version);
}

static void send_answer(int inspector, const Jxp__Jvm *jvm)
{
	Jxp__ControlReply reply = JXP__CONTROL_REPLY__INIT;
	Jxp__JvmList list = JXP__JVM_LIST__INIT;
	Jxp__Jvm *jvms[] = {(Jxp__Jvm *)jvm};
	struct buffer out;

	list.jvms = jvms;
	list.n_jvms = 1;
	reply.body_case = JXP__CONTROL_REPLY__BODY_JVMS;
	reply.jvms = &list;
	buffer_init(&out, FRAME_HEADER_BYTES + FRAME_MAX_REPLY);
	assert_int_equal(frame_append(&out, &reply.base, FRAME_MAX_REPLY), 0);
	assert_int_equal(fd_write_all(inspector, buffer_head(&out), buffer_length(&out)), 0);
	buffer_release(&out);
}

/* What an inspector says of the JVM that is asked for, with its end. */
static void answer(enum jar_result result, const char *version)
{
	Jxp__Jvm jvm = JXP__JVM__INIT;
	int inspector = fake_broker_connect_inspector_of_some();

	jvm.pid = (uint32_t)fake_broker.some[0];
	jvm.start_ticks = 1000;
	jvm.jar_result = result;
	jvm.jar_version = (char *)version;
	send_answer(inspector, &jvm);
	(void)close(inspector);
	loop_settle(&loop);
}

static void end_without_answer(void)
{
	(void)close(fake_broker_connect_inspector_of_some());
	loop_settle(&loop);
}

TEST(who_asks_is_told_when_it_is_known, set_up, tear_down)
{
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, told);
	assert_int_equal(fake_broker.some_count, 1);
	assert_int_equal(fake_broker.some[0], 42);
	assert_true(fake_broker.asks_jars);
	assert_string_equal(told, "");
	answer(JAR_FOUND, "1.2");
	assert_string_equal(told, "1.2");
	assert_int_equal(jar_versions_count(all, JAR_FOUND), 1);
}

TEST(a_jvm_is_asked_about_once, set_up, tear_down)
{
	const struct jar_versions_jvm later = {
	    .pid = 42, .start_ticks = 2000, .user = PROC_ANY_UID};
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_FOUND, "1.2");
	told[0] = '\0';
	jar_versions_ask(all, &first, on_told, told);
	assert_string_equal(told, "1.2");
	assert_int_equal(fake_broker.some_id, 0);
	/* Another one that has its pid is another JVM. */
	jar_versions_ask(all, &later, on_told, told);
	assert_int_not_equal(fake_broker.some_id, 0);
}

TEST(what_has_no_version_is_not_asked_again, set_up, tear_down)
{
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_NO_VERSION, "");
	jar_versions_ask(all, &first, on_told, told);
	assert_int_equal(fake_broker.some_id, 0);
	assert_string_equal(told, "");
}

TEST(what_could_not_be_found_is_tried_some_times, set_up, tear_down)
{
	static const enum jar_result results[JAR_VERSIONS_TRIES] = {JAR_NOT_IN_USE, JAR_UNTOLD,
								    JAR_UNREADABLE};
	char told[JAR_VERSION_BYTES] = "";

	for (int i = 0; i < JAR_VERSIONS_TRIES; i++) {
		jar_versions_ask(all, &first, on_told, told);
		if (results[i] == JAR_UNTOLD)
			end_without_answer();
		else
			answer(results[i], "");
		assert_int_equal(jar_versions_count(all, results[i]), 1);
	}
	jar_versions_ask(all, &first, on_told, told);
	assert_int_equal(fake_broker.some_id, 0);
	assert_string_equal(told, "");
}

TEST(a_window_that_has_ended_is_not_told_and_the_next_one_is, set_up, tear_down)
{
	char gone[JAR_VERSION_BYTES] = "", told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, gone);
	jar_versions_forget(all, gone);
	jar_versions_forget(NULL, gone);
	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_FOUND, "1.2");
	assert_string_equal(gone, "");
	assert_string_equal(told, "1.2");
}

TEST(it_has_the_characters_that_versions_have, set_up, tear_down)
{
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_FOUND, "1.2+build 7-\xc3\xa4");
	assert_string_equal(told, "1.2_build_7-__");
}

TEST(an_inspectors_word_is_not_taken_for_granted, set_up, tear_down)
{
	static const char too_long[] =
	    "1234567890123456789012345678901234567890123456789012345678901234";
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_RESULTS + 5, "1.2");
	assert_int_equal(jar_versions_count(all, JAR_UNTOLD), 1);
	jar_versions_ask(all, &first, on_told, told);
	answer(JAR_FOUND, too_long);
	assert_int_equal(jar_versions_count(all, JAR_NO_VERSION), 1);
	assert_string_equal(told, "");
}

TEST(an_answer_about_another_process_is_none, set_up, tear_down)
{
	const struct jar_versions_jvm other = {.pid = 43, .start_ticks = 999, .user = PROC_ANY_UID};
	char told[JAR_VERSION_BYTES] = "";

	jar_versions_ask(all, &other, on_told, told);
	answer(JAR_FOUND, "1.2"); /* Which started at 1000. */
	assert_string_equal(told, "");
	assert_int_equal(jar_versions_count(all, JAR_UNTOLD), 1);
}

TEST(of_too_many_the_oldest_is_forgotten, set_up, tear_down)
{
	char told[JAR_VERSION_BYTES] = "";

	for (int i = 0; i <= JAR_VERSIONS_MAX; i++) {
		const struct jar_versions_jvm jvm = {
		    .pid = 42 + i, .start_ticks = 1000, .user = PROC_ANY_UID};

		told[0] = '\0';
		jar_versions_ask(all, &jvm, on_told, told);
		answer(JAR_FOUND, "1.2");
	}
	told[0] = '\0';
	jar_versions_ask(all, &first, on_told, told);
	assert_int_not_equal(fake_broker.some_id, 0);
	answer(JAR_FOUND, "1.3");
	assert_string_equal(told, "1.3");
}

TEST(each_result_has_a_name_of_its_own, NULL)
{
	for (unsigned i = 0; i < JAR_RESULTS; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(jar_versions_result_name((enum jar_result)i),
						jar_versions_result_name((enum jar_result)j));
}
