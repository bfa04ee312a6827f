#include "tests/unit/support/test.h"

#include <string.h>

#include "fleet/selector.h"

static const char *const environment[] = {"REGION=eu-west", "EMPTY="};

static const struct jvm_facts h2 = {
    .user = "db",
    .main_class = "org.h2.tools.Server",
    .command = "java -cp h2.jar org.h2.tools.Server -tcp",
    .cgroup = "/system.slice/h2.service",
    .container = "",
    .environment = environment,
    .environment_count = 2,
};

TEST(no_pattern_matches_everything)
{
	const struct config_match any = {0};

	assert_true(selector_matches(&any, &h2));
	assert_true(selector_matches(&any, &(struct jvm_facts){0}));
}

TEST(every_pattern_has_to_match)
{
	struct config_match m = {.user = "db", .main_class = "org.h2.*"};

	assert_true(selector_matches(&m, &h2));
	m.user = "web";
	assert_false(selector_matches(&m, &h2));
	m.user = "d?";
	assert_true(selector_matches(&m, &h2));
	m.cgroup = "*/h2.service";
	assert_true(selector_matches(&m, &h2));
	m.command = "*-tcp";
	assert_true(selector_matches(&m, &h2));
	m.command = "-tcp";
	assert_false(selector_matches(&m, &h2));
}

TEST(what_is_not_known_matches_no_pattern)
{
	const struct config_match in_container = {.container = "*"}, in_pod = {.pod = "*"};

	assert_false(selector_matches(&in_container, &h2));
	assert_false(selector_matches(&in_pod, &h2));
}

TEST(variables_are_found_by_their_whole_names)
{
	char *region[] = {"REGION=eu-*"}, *other[] = {"REGION=us-*"}, *shorter[] = {"REG=*"},
	     *empty[] = {"EMPTY="}, *both[] = {"REGION=*", "EMPTY=x"};
	struct config_match m = {.environment = region, .environment_count = 1};

	assert_true(selector_matches(&m, &h2));
	m.environment = other;
	assert_false(selector_matches(&m, &h2));
	m.environment = shorter;
	assert_false(selector_matches(&m, &h2));
	m.environment = empty;
	assert_true(selector_matches(&m, &h2));
	m = (struct config_match){.environment = both, .environment_count = 2};
	assert_false(selector_matches(&m, &h2));
}
