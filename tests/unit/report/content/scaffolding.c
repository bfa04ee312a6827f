#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/content/scaffolding.h"

static void assert_group(const char *class_name, const char *method, const char *group)
{
	const struct scaffolding *found = scaffolding_find(class_name, method);

	assert_string_equal(found ? found->group : "none", group);
}

TEST(frames_that_only_call_are_scaffolding)
{
	assert_group("java.lang.Thread", "run", "thread entry");
	assert_group("java.lang.Thread", "runWith", "thread entry");
	assert_group("java.lang.VirtualThread$VThreadContinuation$1", "run", "thread entry");
	assert_group("jdk.internal.vm.Continuation", "enterSpecial", "thread entry");
	assert_group("java.util.concurrent.ForkJoinWorkerThread", "run", "java.util.concurrent");
	assert_group("java.util.concurrent.ForkJoinPool$WorkQueue", "topLevelExec",
		     "java.util.concurrent");
	assert_group("java.util.concurrent.ThreadPoolExecutor$Worker", "run",
		     "java.util.concurrent");
	assert_group("java.util.concurrent.Executors$RunnableAdapter", "call",
		     "java.util.concurrent");
	assert_group("java.lang.reflect.Method", "invoke", "reflection");
	assert_group("jdk.internal.reflect.DirectMethodHandleAccessor", "invoke", "reflection");
	assert_group("com.sun.proxy.$Proxy12", "save", "reflection");
	assert_group("java.lang.invoke.LambdaForm$MH/0x00007f2a0c0", "invoke", "lambdas");
	assert_group("org.example.Main$$Lambda$14/0x00007f2a0c0", "apply", "lambdas");
}

TEST(what_does_something_is_none)
{
	assert_null(scaffolding_find("java.lang.Thread", "sleep"));
	assert_null(scaffolding_find("java.lang.ThreadLocal", "get"));
	assert_null(scaffolding_find("java.util.concurrent.ConcurrentHashMap", "putVal"));
	assert_null(scaffolding_find("org.example.Main", "run"));
	assert_null(scaffolding_find("", ""));
}

/* The list that docs/architecture.md has for people. */
TEST(the_list_is_documented)
{
	static char text[1u << 20];
	FILE *file = fopen("docs/architecture.md", "re");
	size_t size;

	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	assert_int_equal(fclose(file), 0);
	for (size_t i = 0; i < SCAFFOLDING_ROWS; i++) {
		const struct scaffolding *s = &scaffolding_table[i];
		char words[128];

		(void)snprintf(words, sizeof(words), "`%s%s%s`", s->class_name,
			       s->method ? "." : "", s->method ? s->method : "");
		if (!strstr(text, words))
			fail_msg("docs/architecture.md does not have %s", words);
	}
}
