#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

static void part_of_a_name_is_enough(void **state)
{
	struct err err;
	struct which_jvm jvm;

	(void)state;
	assert_int_equal(
	    which_jvm_match(LIST("org.example.Server", "/opt/app/batch.jar"), "batch", &jvm, &err),
	    0);
	assert_int_equal(jvm.pid, 101);
}

static void a_whole_name_wins_over_one_that_contains_it(void **state)
{
	struct err err;
	struct which_jvm jvm;

	(void)state;
	assert_int_equal(which_jvm_match(LIST("ServerTest", "Server"), "Server", &jvm, &err), 0);
	assert_int_equal(jvm.pid, 101);
}

static void no_match_is_an_error(void **state)
{
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	(void)state;
	assert_int_equal(which_jvm_match(LIST("Server"), "Client", &jvm, &err), -ESRCH);
	assert_non_null(strstr(err.message, "'Client'"));
	assert_int_equal(jvm.pid, 7);
}

static void several_matches_are_listed(void **state)
{
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	(void)state;
	assert_int_equal(
	    which_jvm_match(LIST("FooServer", "Other", "BarServer"), "Server", &jvm, &err),
	    -ENOTUNIQ);
	assert_string_equal(err.message, "'Server' matches 2 JVMs: use the pid of one: 100 "
					 "(FooServer), 102 (BarServer)");
	assert_int_equal(jvm.pid, 7);
}

static void the_same_whole_name_twice_is_ambiguous(void **state)
{
	struct err err;
	struct which_jvm jvm;

	(void)state;
	assert_int_equal(
	    which_jvm_match(LIST("Server", "Server", "ServerTest"), "Server", &jvm, &err),
	    -ENOTUNIQ);
	assert_non_null(strstr(err.message, "matches 2 JVMs"));
}

static void a_long_list_of_candidates_is_cut(void **state)
{
	struct err err;
	struct which_jvm jvm;

	(void)state;
	assert_int_equal(which_jvm_match(LIST("a1", "a2", "a3", "a4", "a5", "a6"), "a", &jvm, &err),
			 -ENOTUNIQ);
	assert_non_null(strstr(err.message, "104 (a5), ..."));
	assert_null(strstr(err.message, "a6"));
}

static void what_only_calls_itself_so_is_not_meant(void **state)
{
	const Jxp__JvmList *list = LIST("Server");
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	(void)state;
	list->jvms[0]->by_name = false;
	assert_int_equal(which_jvm_match(list, "Server", &jvm, &err), -ESRCH);
	assert_non_null(strstr(err.message, "process 100 of user 'ann' calls itself so"));
	assert_int_equal(jvm.pid, 7);
	list = LIST("Server", "Server");
	list->jvms[0]->by_name = false;
	assert_int_equal(which_jvm_match(list, "Server", &jvm, &err), 0);
	assert_int_equal(jvm.pid, 101);
}

static void another_users_whole_name_does_not_win(void **state)
{
	const Jxp__JvmList *list = LIST("org.h2.tools.Server", "h2");
	struct which_jvm jvm = {.pid = 7};
	struct err err;

	(void)state;
	list->jvms[1]->user = (char *)"mallory";
	assert_int_equal(which_jvm_match(list, "h2", &jvm, &err), -ENOTUNIQ);
	assert_non_null(strstr(err.message, "101 (h2 of mallory)"));
	assert_int_equal(jvm.pid, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(part_of_a_name_is_enough),
	    cmocka_unit_test(a_whole_name_wins_over_one_that_contains_it),
	    cmocka_unit_test(no_match_is_an_error),
	    cmocka_unit_test(several_matches_are_listed),
	    cmocka_unit_test(what_only_calls_itself_so_is_not_meant),
	    cmocka_unit_test(another_users_whole_name_does_not_win),
	    cmocka_unit_test(the_same_whole_name_twice_is_ambiguous),
	    cmocka_unit_test(a_long_list_of_candidates_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
