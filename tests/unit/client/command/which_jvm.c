#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "client/command/which_jvm.h"

#define JVMS_MAX 10

/* A list of JVMs with these names and the pids 100, 101, ... */
static const Jxp__JvmList *make_list(const char *const *names)
{
	static Jxp__Jvm jvms[JVMS_MAX];
	static Jxp__Jvm *pointers[JVMS_MAX];
	static Jxp__JvmList list;

	jxp__jvm_list__init(&list);
	for (; names[list.n_jvms]; list.n_jvms++) {
		jxp__jvm__init(&jvms[list.n_jvms]);
		jvms[list.n_jvms].pid = 100 + (uint32_t)list.n_jvms;
		jvms[list.n_jvms].name = (char *)names[list.n_jvms];
		jvms[list.n_jvms].user = (char *)"ann";
		jvms[list.n_jvms].by_name = true;
		pointers[list.n_jvms] = &jvms[list.n_jvms];
	}
	list.jvms = pointers;
	return &list;
}

#define LIST(...) make_list((const char *const[]){__VA_ARGS__, NULL})

TEST(part_of_a_name_is_enough)
{
	struct err err;
	struct which_jvm jvm;

	assert_int_equal(
	    which_jvm_match(LIST("org.example.Server", "/opt/app/batch.jar"), "batch", &jvm, &err),
	    0);
	assert_int_equal(jvm.pid, 101);
}

TEST(a_whole_name_wins_over_one_that_contains_it)
{
	struct err err;
	struct which_jvm jvm;

	assert_int_equal(which_jvm_match(LIST("ServerTest", "Server"), "Server", &jvm, &err), 0);
	assert_int_equal(jvm.pid, 101);
}

TEST(a_pod_is_meant_by_its_name_with_or_without_its_namespace)
{
	static const char *const texts[] = {"shop/pay-0", "pay-0"}, *const others[] = {
									"pay", "other/pay-0",
									"/pay-0"};
	const Jxp__JvmList *list = LIST("payments.Main", "Batch");
	struct which_jvm jvm;
	struct err err;

	list->jvms[1]->pod_name = (char *)"pay-0";
	list->jvms[1]->pod_namespace = (char *)"shop";
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(which_jvm_match(list, texts[i], &jvm, &err), 0);
		assert_int_equal(jvm.pid, 101);
	}
	assert_int_equal(which_jvm_match(list, others[0], &jvm, &err), 0);
	assert_int_equal(jvm.pid, 100);
	for (size_t i = 1; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(which_jvm_match(list, others[i], &jvm, &err), -ESRCH);
}

TEST(no_match_is_an_error)
{
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	assert_int_equal(which_jvm_match(LIST("Server"), "Client", &jvm, &err), -ESRCH);
	assert_non_null(strstr(err.message, "'Client'"));
	assert_int_equal(jvm.pid, 7);
}

TEST(several_matches_are_listed)
{
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	assert_int_equal(
	    which_jvm_match(LIST("FooServer", "Other", "BarServer"), "Server", &jvm, &err),
	    -ENOTUNIQ);
	assert_string_equal(err.message, "'Server' matches 2 JVMs: use the pid of one: 100 "
					 "(FooServer), 102 (BarServer)");
	assert_int_equal(jvm.pid, 7);
}

TEST(the_same_whole_name_twice_is_ambiguous)
{
	struct err err;
	struct which_jvm jvm;

	assert_int_equal(
	    which_jvm_match(LIST("Server", "Server", "ServerTest"), "Server", &jvm, &err),
	    -ENOTUNIQ);
	assert_non_null(strstr(err.message, "matches 2 JVMs"));
}

TEST(a_long_list_of_candidates_is_cut)
{
	struct err err;
	struct which_jvm jvm;

	assert_int_equal(which_jvm_match(LIST("a1", "a2", "a3", "a4", "a5", "a6"), "a", &jvm, &err),
			 -ENOTUNIQ);
	assert_non_null(strstr(err.message, "104 (a5), ..."));
	assert_null(strstr(err.message, "a6"));
}

TEST(what_only_calls_itself_so_is_not_meant)
{
	const Jxp__JvmList *list = LIST("Server");
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	list->jvms[0]->by_name = false;
	assert_int_equal(which_jvm_match(list, "Server", &jvm, &err), -ESRCH);
	assert_non_null(strstr(err.message, "process 100 of user 'ann' calls itself so"));
	assert_int_equal(jvm.pid, 7);
	list = LIST("Server", "Server");
	list->jvms[0]->by_name = false;
	assert_int_equal(which_jvm_match(list, "Server", &jvm, &err), 0);
	assert_int_equal(jvm.pid, 101);
}

TEST(another_users_whole_name_does_not_win)
{
	const Jxp__JvmList *list = LIST("org.h2.tools.Server", "h2");
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	list->jvms[1]->user = (char *)"mallory";
	assert_int_equal(which_jvm_match(list, "h2", &jvm, &err), -ENOTUNIQ);
	assert_non_null(strstr(err.message, "101 (h2 of mallory)"));
	assert_int_equal(jvm.pid, 7);
}
