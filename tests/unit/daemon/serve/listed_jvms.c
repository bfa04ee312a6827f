#include "tests/unit/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/engine/engine.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/schedule/survey.h"
#include "daemon/serve/listed_jvms.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_findings.h"

static uv_loop_t loop;
static struct engine *engine;

static int set_up(void **state)
{
	(void)state;
	fake_broker = (struct fake_broker){0};
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(engine_new(&engine, &loop, NULL, &engine_limits_usual, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	engine_free(engine);
	loop_finish(&loop);
	return 0;
}

/* As an inspector's answer is unpacked: JVM 42 with all that selectors need. */
static Jxp__JvmList *unpacked_list(void)
{
	char *environment[] = {(char *)"TEAM=payments", (char *)"PASSWORD=secret"};
	char *labels[] = {(char *)"app=payments"};
	Jxp__Jvm jvm = JXP__JVM__INIT, *jvms[] = {&jvm};
	Jxp__JvmList list = JXP__JVM_LIST__INIT, *unpacked;
	uint8_t bytes[1024];

	jvm.pid = 42;
	jvm.name = (char *)"org.shop.Main";
	jvm.state = (char *)"attachable";
	jvm.command = (char *)"java org.shop.Main --password secret";
	jvm.cgroup = (char *)"/kubepods/pod1";
	jvm.environment = environment;
	jvm.n_environment = 2;
	jvm.labels = labels;
	jvm.n_labels = 1;
	jvm.image = (char *)"registry/team/payments:1";
	jvm.cpu_limit = 0.5;
	list.jvms = jvms;
	list.n_jvms = 1;
	assert_true(jxp__jvm_list__get_packed_size(&list) <= sizeof(bytes));
	unpacked = jxp__jvm_list__unpack(NULL, jxp__jvm_list__pack(&list, bytes), bytes);
	assert_non_null(unpacked);
	return unpacked;
}

TEST(what_only_selectors_need_does_not_leave_the_engine, set_up, tear_down)
{
	Jxp__JvmList *list = unpacked_list();
	const Jxp__Jvm *jvm = list->jvms[0];

	listed_jvms_complete(list, engine, NULL);
	assert_string_equal(jvm->name, "org.shop.Main");
	assert_string_equal(jvm->state, "attachable");
	assert_string_equal(jvm->command, "");
	assert_string_equal(jvm->cgroup, "");
	assert_string_equal(jvm->pod, "");
	assert_int_equal(jvm->n_environment, 0);
	assert_int_equal(jvm->n_labels, 0);
	assert_string_equal(jvm->image, "");
	assert_true(jvm->cpu_limit == 0);
	assert_false(list->schedules);
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(a_jvm_with_a_window_is_profiled, set_up, tear_down)
{
	static const struct window_request request = {
	    .kinds = {false, true}, .duration_ns = UINT64_C(60000000000), .budget = 0.01};
	Jxp__JvmList *list = unpacked_list();
	char id[WINDOW_ID_BYTES];
	struct err err;

	assert_int_equal(engine_attach(engine, &(struct window_asker){.sees = PROC_ANY_UID}, 42,
				       &request, &sample_findings, NULL, id, &err),
			 0);
	listed_jvms_complete(list, engine, NULL);
	assert_string_equal(list->jvms[0]->state, "profiled");
	jxp__jvm_list__free_unpacked(list, NULL);
}

/* With rules and without schedules, whoever has looked at the JVM or not. */
TEST(a_jvm_has_the_name_that_rules_give_it, set_up, tear_down)
{
	static struct config_app rule = {.app = (char *)"shop"};
	struct config config;
	struct scheduler *scheduler;
	Jxp__JvmList *list = unpacked_list();
	struct err err;

	config_defaults(&config);
	assert_int_equal(
	    scheduler_new(&scheduler, &loop, engine, NULL, &config, &survey_pace_usual, &err), 0);
	listed_jvms_complete(list, engine, scheduler);
	assert_string_equal(list->jvms[0]->app, "Main"); /* As it calls itself. */
	config.apps = &rule;
	config.app_count = 1;
	listed_jvms_complete(list, engine, scheduler);
	assert_string_equal(list->jvms[0]->app, "shop");
	jxp__jvm_list__free_unpacked(list, NULL);
	scheduler_free(scheduler);
}
