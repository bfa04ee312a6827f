#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "daemon/inspector/check_look.h"
#include "proto/helper.h"

/* What a check says comes from a child; that a process which hangs is named is shown by
 * tests/e2e/hostile_looks.py, since it takes a file system that does not answer. */

TEST(what_the_child_found_is_handed_on)
{
	Jxp__CheckResult *result = NULL;
	struct err err;

	assert_int_equal(check_look(&result, getpid(), PROC_ANY_UID,
				    &(struct agent_files){"/nonexistent", ""}, &err),
			 0);
	assert_true(result->n_items >= 2);
	assert_string_equal(result->items[0]->name, "process");
	assert_string_equal(result->items[1]->name, "JVM");
	assert_int_equal(result->items[1]->result, JXP__CHECK_ITEM__RESULT__FAILED);
	assert_non_null(strstr(result->items[1]->detail, "is not a JVM"));
	jxp__check_result__free_unpacked(result, NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* No child is left. */
	assert_int_equal(errno, ECHILD);
}

TEST(the_childs_error_comes_with_its_number_and_words)
{
	Jxp__CheckResult *result = NULL;
	struct err err;

	assert_int_equal(check_look(&result, INT_MAX, PROC_ANY_UID,
				    &(struct agent_files){"/nonexistent", ""}, &err),
			 -ESRCH);
	assert_non_null(strstr(err.message, "no process has the pid"));
	assert_null(result);
}
