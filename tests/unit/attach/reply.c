#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>

#include "attach/reply.h"
#include "proto/helper.h"

#define LIBRARY "/opt/jxperf/libjxperf-agent.so"

/* Answers recorded from JVMs; `path` stands for the library that was asked for. */
static const struct {
	const char *jdk;
	const char *text;
	int result;
	const char *says;
} recorded[] = {
    {"8", "0\n0\n", 0, NULL},
    {"8", "0\n101\n", -EBUSY, "already being profiled"},
    {"8", "-1\n", -EREMOTEIO, "it gave no reason"},
    {"11, 17, 21, 25", "0\nreturn code: 0\n", 0, NULL},
    {"11, 17, 21, 25", "0\nreturn code: 102\n", -EINVAL, "does not understand this daemon"},
    {"11, 17",
     "-1\n/x.so was not loaded.\n/x.so: cannot open shared object file: No such file or "
     "directory\n",
     -ELIBACC, "could not load '" LIBRARY "': /x.so was not loaded. /x.so: cannot open shared"},
    {"21, 25",
     "0\n/x.so was not loaded.\n/x.so: cannot open shared object file: No such file or directory\n",
     -ELIBACC, "cannot open shared object file: No such file or directory"},
    {"11, 17", "-1\nAgent_OnAttach is not available in /x.so\n", -ELIBACC, "found no agent in"},
    {"21, 25", "0\nAgent_OnAttach is not available in /x.so\n", -ELIBACC, "found no agent in"},
    {"17",
     "-1\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch "
     "target "
     "VM.",
     -EPERM, "-XX:-EnableDynamicAgentLoading: restart it"},
    {"25",
     "0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch target "
     "VM.\n",
     -EPERM, "-XX:-EnableDynamicAgentLoading: restart it"},
    {"25", "0\nDynamic agent loading is only permitted in the live phase\n", -EINPROGRESS,
     "still starting"},
    {"8, 11, 17, 21", "101\n", -EREMOTEIO, "refused to load the agent (101)"},
    {"all", "-1\nOperation load not recognized!", -EREMOTEIO, "Operation load not recognized!"},
    {"25", "", -ECONNRESET, "without an answer"},
};

TEST(answers_of_all_jdks_are_understood)
{
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++) {
		struct err err = {"untouched"};
		int r = reply_parse(recorded[i].text, strlen(recorded[i].text), 42, LIBRARY, &err);

		assert_int_equal(r, recorded[i].result);
		if (r == 0)
			assert_string_equal(err.message, "untouched");
		else
			assert_non_null(strstr(err.message, recorded[i].says));
	}
}

TEST(each_result_of_the_agent_has_its_own_sentence)
{
	static const struct {
		const char *text;
		int result;
	} results[] = {
	    {"0\nreturn code: 101\n", -EBUSY},        {"0\nreturn code: 102\n", -EINVAL},
	    {"0\nreturn code: 103\n", -ENOTSUP},      {"0\nreturn code: 104\n", -ENOMEM},
	    {"0\nreturn code: -7\n", -EREMOTEIO},     {"0\nreturn code: 105\n", -EINPROGRESS},
	    {"0\nreturn code: 106\n", -ECONNREFUSED}, {"0\nreturn code: 107\n", -EINPROGRESS},
	};
	char seen[sizeof(results) / sizeof(results[0])][ERR_MESSAGE_MAX];

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct err err;

		assert_int_equal(
		    reply_parse(results[i].text, strlen(results[i].text), 42, LIBRARY, &err),
		    results[i].result);
		assert_non_null(strstr(err.message, "42"));
		strcpy(seen[i], err.message);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(seen[i], seen[j]);
	}
}

TEST(what_is_not_an_answer_is_called_so)
{
	static const struct {
		const char *text;
		size_t size;
	} texts[] = {
	    {"HTTP/1.1 400\r\n", 14},
	    {"\n", 1},
	    {"0x\n", 3},
	    {"--\n", 3},
	    {"0", 1},
	    {"0\nreturn code: x", 15},
	    {"\0\0\0\0", 4},
	    {"99999999999999999999999\n", 24},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct err err;

		assert_int_equal(reply_parse(texts[i].text, texts[i].size, 42, LIBRARY, &err),
				 -EPROTO);
		assert_non_null(strstr(err.message, "not understood"));
	}
}

TEST(what_the_jvm_says_is_quoted_on_one_clean_line)
{
	static const char text[] = "-1\nX was not loaded.\n\tbad\033[31m\xff and\0 more\n";
	struct err err;

	assert_int_equal(reply_parse(text, sizeof(text) - 1, 42, LIBRARY, &err), -ELIBACC);
	assert_non_null(strstr(err.message, "X was not loaded.  bad?[31m? and  more"));
	assert_null(strchr(err.message, '\n'));
}

TEST(an_endless_answer_is_cut)
{
	static char text[REPLY_MAX_BYTES * 2];
	struct err err;

	memset(text, 'x', sizeof(text));
	text[0] = '7';
	text[1] = '\n';
	assert_int_equal(reply_parse(text, sizeof(text), 42, LIBRARY, &err), -EREMOTEIO);
}
