#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>

#include "client/ui/routes.h"

/* Parameters of a request, ended by one without a name. */
struct given {
	const char *name, *value;
};

static const char *value_of(void *request, const char *name)
{
	for (const struct given *g = request; g->name; g++)
		if (strcmp(g->name, name) == 0)
			return g->value;
	return NULL;
}

/* The command of a request, its words with a space between them; or the parameter that is wrong,
 * with "!" before it. */
static void assert_command(const char *path, struct given *request, const char *expected)
{
	const struct route *route = route_find(path);
	char *argv[ROUTE_ARGUMENTS_MAX], text[512] = "";
	const char *wrong;

	assert_non_null(route);
	wrong = route_arguments(route, "/s", value_of, request, argv);
	if (wrong)
		(void)snprintf(text, sizeof(text), "!%s", wrong);
	for (size_t i = 0; !wrong && argv[i]; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), i ? " %s" : "%s",
			       argv[i]);
	assert_string_equal(text, expected);
}

TEST(a_path_is_a_command)
{
	assert_command("api/jvms", (struct given[]){{0}}, "jxperfctl --socket /s --json list");
	assert_command("window", (struct given[]){{"window", "w7"}, {0}},
		       "jxperfctl --socket /s report --format html w7");
	assert_command("compare", (struct given[]){{"b", "w2"}, {"a", "w1"}, {0}},
		       "jxperfctl --socket /s diff --format html w1 w2");
	assert_command("periods",
		       (struct given[]){{"app", "shop"}, {"a", "2h..1h"}, {"b", "1h.."}, {0}},
		       "jxperfctl --socket /s diff --format html 2h..1h 1h.. --app shop");
	assert_command("periods",
		       (struct given[]){{"app", "shop"}, {"a", "1h..json"}, {"b", "1h.."}, {0}},
		       "!a");
	assert_null(route_find("api/reload"));
	assert_null(route_find(""));
}

TEST(what_starts_something_is_asked_for_with_post)
{
	assert_true(route_find("api/attach")->changes);
	assert_true(route_find("api/detach")->changes);
	assert_false(route_find("api/jvms")->changes);
	assert_command(
	    "api/attach",
	    (struct given[]){
		{"pid", "42"}, {"duration", "30s"}, {"budget", "1%"}, {"kinds", "cpu"}, {0}},
	    "jxperfctl --socket /s --json attach --background 42 --duration 30s "
	    "--budget 1% --kinds cpu");
}

TEST(a_parameter_is_needed_or_may_be_left_out)
{
	assert_command("window", (struct given[]){{0}}, "!window");
	assert_command("api/windows", (struct given[]){{0}},
		       "jxperfctl --socket /s --json windows");
}

TEST(no_parameter_becomes_another_option_or_another_file)
{
	static const char *const wrong[] = {"",      "-o",          "--socket", "w1 w2", "w1\n",
					    "../w1", "/etc/passwd", "a.json",   "w1;ls"};
	char longest[ROUTE_VALUE_MAX + 2];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_command("window", (struct given[]){{"window", wrong[i]}, {0}}, "!window");
	memset(longest, 'w', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_command("window", (struct given[]){{"window", longest}, {0}}, "!window");
	assert_command("api/windows", (struct given[]){{"app", "-x"}, {0}}, "!app");
	assert_command("api/windows", (struct given[]){{"app", "my app <b>"}, {0}},
		       "jxperfctl --socket /s --json windows --app my app <b>");
	assert_command("api/detach", (struct given[]){{"pid", "1x"}, {0}}, "!pid");
}
