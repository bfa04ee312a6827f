#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "daemon/inspector/jvm_list.h"
#include "tests/unit/support/fake_jvm_fixture.h"
#include "tests/unit/support/tree_fixture.h"

static const struct startup with_variables = {{"", ""}, "HOME,TEAM", "/podinfo/labels", -1};
static const struct startup without_variables = {{"", ""}, "", "", -1};

static pid_t jvm;

static int setup(void **state)
{
	struct fake_jvm fake = {.options = {"-XX:+UseSerialGC", "-jar", "/srv/app.jar", "a\tb"},
				.environment = "TEAM=payments"};

	(void)state;
	(void)tree_make();
	tree_add_file("libjvm.so", "x");
	fake.libraries[0] = tree_path("libjvm.so");
	jvm = fake_jvm_start(&fake);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_jvm_end(jvm);
	tree_remove();
	return 0;
}

static const Jxp__Jvm *find(const Jxp__JvmList *list)
{
	for (size_t i = 0; i < list->n_jvms; i++)
		if (list->jvms[i]->pid == (uint32_t)jvm)
			return list->jvms[i];
	return NULL;
}

TEST(a_jvm_is_listed_with_what_is_known_of_it, setup, teardown)
{
	const Jxp__Jvm *found;
	Jxp__JvmList *list;
	struct err err;

	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, "", false, &with_variables, &err), 0);
	found = find(list);
	assert_non_null(found);
	assert_string_equal(found->name, "app.jar");
	assert_string_equal(found->gc, "Serial");
	assert_string_equal(found->jdk, "");
	assert_string_equal(found->container, "");
	assert_true(strlen(found->user) > 0);
	assert_string_equal(found->state, "attachable by pid");
	assert_false(found->by_name);
	assert_true(found->attachable);
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(a_jvm_is_listed_with_what_selectors_tell_it_by, setup, teardown)
{
	const Jxp__Jvm *found;
	Jxp__JvmList *list;
	uint64_t ticks;
	struct err err;

	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, "", false, &with_variables, &err), 0);
	found = find(list);
	assert_non_null(found);
	assert_int_equal(proc_start_time(jvm, &ticks), 0);
	assert_int_equal(found->start_ticks, ticks);
	assert_int_equal(found->uid, geteuid());
	assert_string_equal(found->command, "java -XX:+UseSerialGC -jar /srv/app.jar a?b");
	assert_int_equal(found->n_environment, 1);
	assert_string_equal(found->environment[0], "TEAM=payments");
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(no_variable_is_shown_that_may_not_be_looked_at, setup, teardown)
{
	const Jxp__Jvm *found;
	Jxp__JvmList *list;
	struct err err;

	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, "", false, &without_variables, &err), 0);
	found = find(list);
	assert_non_null(found);
	assert_int_equal(found->n_environment, 0);
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(the_list_of_a_user_has_that_users_processes_only, setup, teardown)
{
	Jxp__JvmList *list;
	struct err err;

	assert_int_equal(jvm_list_new(&list, geteuid(), "", false, &without_variables, &err), 0);
	assert_non_null(find(list));
	for (size_t i = 0; i < list->n_jvms; i++)
		assert_int_equal(list->jvms[i]->uid, geteuid());
	jxp__jvm_list__free_unpacked(list, NULL);
	assert_int_equal(jvm_list_new(&list, geteuid() + 1, "", false, &without_variables, &err),
			 0);
	assert_null(find(list));
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(a_list_of_some_has_no_others, setup, teardown)
{
	char only[64];
	Jxp__JvmList *list;
	struct err err;

	(void)snprintf(only, sizeof(only), "%d,%d", (int)getpid(), (int)jvm);
	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, only, false, &without_variables, &err),
			 0);
	assert_int_equal(list->n_jvms, 1);
	assert_non_null(find(list));
	jxp__jvm_list__free_unpacked(list, NULL);
	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, "1,x", false, &without_variables, &err),
			 0);
	assert_int_equal(list->n_jvms, 0);
	jxp__jvm_list__free_unpacked(list, NULL);
}

TEST(jvms_that_there_is_no_room_for_are_counted, setup, teardown)
{
	static char same[(JVM_LIST_MAX + 3) * sizeof("2147483647,")];
	char *end = same;
	Jxp__JvmList *list;
	struct err err;

	for (int i = 0; i < JVM_LIST_MAX + 3; i++)
		end += sprintf(end, "%s%d", i ? "," : "", jvm);
	assert_int_equal(jvm_list_new(&list, PROC_ANY_UID, same, false, &without_variables, &err),
			 0);
	assert_int_equal(list->n_jvms, JVM_LIST_MAX);
	assert_int_equal(list->left_out, 3);
	jxp__jvm_list__free_unpacked(list, NULL);
}

int main(void)
{
	fake_jvm_main();
	return tests_run(NULL, NULL);
}
