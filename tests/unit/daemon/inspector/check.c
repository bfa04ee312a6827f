#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/proc.h"
#include "daemon/inspector/check.h"
#include "proto/helper.h"
#include "tests/unit/support/fake_jvm_fixture.h"
#include "tests/unit/support/tree_fixture.h"

static const struct check_reasons all_there = {.gate = "", .touch = ""};
static const struct check_reasons no_gate = {.gate = "not today", .touch = ""};

static Jxp__CheckResult *result;
static struct err err;

static int setup(void **state)
{
	(void)state;
	result = NULL;
	(void)tree_make();
	tree_add_file("libjvm.so", "x");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	jxp__check_result__free_unpacked(result, NULL);
	tree_remove();
	return 0;
}

static const Jxp__CheckItem *item(const char *name)
{
	for (size_t i = 0; i < result->n_items; i++)
		if (strcmp(result->items[i]->name, name) == 0)
			return result->items[i];
	return NULL;
}

static void assert_item(const char *name, Jxp__CheckItem__Result expected, const char *words)
{
	const Jxp__CheckItem *found = item(name);

	assert_non_null(found);
	assert_int_equal(found->result, expected);
	assert_non_null(strstr(found->detail, words));
}

static void assert_one_line_each(void)
{
	assert_true(result->n_items > 0);
	for (size_t i = 0; i < result->n_items; i++) {
		assert_true(strlen(result->items[i]->detail) > 0);
		assert_null(strchr(result->items[i]->detail, '\n'));
	}
}

static void check_fake(const char *option)
{
	struct fake_jvm fake = {.libraries = {tree_path("libjvm.so")}, .options = {option, "Main"}};
	pid_t pid = fake_jvm_start(&fake);

	assert_int_equal(check_jvm(&result, pid, PROC_ANY_UID,
				   &(struct agent_files){tree_path(""), ""}, NULL, &err),
			 0);
	fake_jvm_end(pid);
}

TEST(the_machine_is_checked_line_by_line, setup, teardown)
{
	static const char *const names[] = {"kernel",
					    "architecture",
					    "user",
					    "processes",
					    "perf permission",
					    "clock event",
					    "debug registers",
					    "hardware sampling",
					    "sampler",
					    "sampling gate",
					    "attach helper",
					    "agent",
					    "watchpoint signals",
					    "numa",
					    "first touches"};

	assert_int_equal(check_machine(&result, tree_path(""), &all_there, &err), 0);
	assert_one_line_each();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(item(names[i]));
}

TEST(the_gate_is_the_agents_where_the_broker_says_why, setup, teardown)
{
	assert_int_equal(check_machine(&result, tree_path(""), &no_gate, &err), 0);
	assert_item("sampling gate", JXP__CHECK_ITEM__RESULT__WARNING, "in the agent");
	assert_item("sampling gate", JXP__CHECK_ITEM__RESULT__WARNING, "not today");
}

TEST(a_bundle_without_helper_and_agent_fails, setup, teardown)
{
	assert_int_equal(check_machine(&result, tree_path(""), &all_there, &err), 0);
	assert_item("attach helper", JXP__CHECK_ITEM__RESULT__FAILED, "reinstall");
	assert_item("agent", JXP__CHECK_ITEM__RESULT__FAILED, "reinstall");
}

TEST(an_agent_that_cannot_be_loaded_fails, setup, teardown)
{
	tree_add_file(AGENT_LIBRARY, "no ELF file");
	assert_int_equal(check_machine(&result, tree_path(""), &all_there, &err), 0);
	assert_item("agent", JXP__CHECK_ITEM__RESULT__FAILED, "cannot be loaded");
}

TEST(a_missing_bundle_fails, setup, teardown)
{
	assert_int_equal(check_machine(&result, "/nonexistent", &all_there, &err), 0);
	assert_item("agent", JXP__CHECK_ITEM__RESULT__FAILED, "/nonexistent");
}

TEST(what_is_no_process_is_an_error, setup, teardown)
{
	assert_int_equal(check_jvm(&result, INT_MAX, PROC_ANY_UID,
				   &(struct agent_files){tree_path(""), ""}, NULL, &err),
			 -ESRCH);
	assert_null(result);
}

TEST(the_first_obstacle_is_the_last_line, setup, teardown)
{
	assert_int_equal(check_jvm(&result, getpid(), PROC_ANY_UID,
				   &(struct agent_files){tree_path(""), ""}, NULL, &err),
			 0);
	assert_int_equal(result->n_items, 2);
	assert_item("JVM", JXP__CHECK_ITEM__RESULT__FAILED, "is not a JVM");
	jxp__check_result__free_unpacked(result, NULL);
	result = NULL;
	check_fake("-XX:+DisableAttachMechanism");
	assert_item("JVM", JXP__CHECK_ITEM__RESULT__OK, "libjvm.so");
	assert_item("attach mechanism", JXP__CHECK_ITEM__RESULT__FAILED, "restart it");
	assert_null(item("attach request"));
	assert_one_line_each();
}

TEST(an_attachable_jvm_is_checked_to_the_end, setup, teardown)
{
	check_fake("-XX:+UseG1GC");
	assert_one_line_each();
	assert_item("JDK", JXP__CHECK_ITEM__RESULT__OK,
		    "version unknown; it is tried, collector G1");
	assert_item("attach request", JXP__CHECK_ITEM__RESULT__OK, "SIGQUIT is caught");
	assert_item("mount namespace", JXP__CHECK_ITEM__RESULT__OK, "same as ours");
	/* There is no helper in that bundle to find a place. */
	assert_item("agent files", JXP__CHECK_ITEM__RESULT__FAILED, "cannot run");
	assert_item("descriptors", JXP__CHECK_ITEM__RESULT__OK, "of 1 threads");
	assert_non_null(item("events"));
}

TEST(too_low_a_descriptor_limit_is_a_warning_with_the_remedy, setup, teardown)
{
	struct fake_jvm fake = {.libraries = {tree_path("libjvm.so")}, .options = {"Main"}};
	pid_t pid = fake_jvm_start(&fake);
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = 8;
	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
	assert_int_equal(check_jvm(&result, pid, PROC_ANY_UID,
				   &(struct agent_files){tree_path(""), ""}, NULL, &err),
			 0);
	fake_jvm_end(pid);
	assert_item("descriptors", JXP__CHECK_ITEM__RESULT__WARNING, "limit 8: the agent takes");
	assert_item("descriptors", JXP__CHECK_ITEM__RESULT__WARNING, "prlimit --pid");
}

int main(void)
{
	fake_jvm_main();
	return tests_run(NULL, NULL);
}
