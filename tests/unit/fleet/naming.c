#include "tests/unit/support/test.h"

#include <string.h>

#include "fleet/naming.h"

static const char *const environment[] = {"REGION=eu-west", "EMPTY="};
static const char *const labels[] = {"app=pay ments\"\n", "app.kubernetes.io/name=payments",
				     "tier="};

static struct jvm_facts jvm = {
    .user = "db",
    .main_class = "payments.Main",
    .cgroup = "/system.slice/system-payments.slice/payments@blue.service/app",
    .environment = environment,
    .environment_count = 2,
    .image = "registry:5000/team/pay-api:1.2@sha256:0123",
    .labels = labels,
    .label_count = 3,
};

/* By a rule for everything; "" without a name. */
static const char *name(const char *template)
{
	static char app[NAMING_BYTES];
	struct config_app rule = {.app = (char *)template};
	const struct config c = {.apps = &rule, .app_count = 1};

	if (!naming_app(&c, &jvm, app, NULL))
		return "";
	assert_true(app[0]);
	return app;
}

TEST(the_first_rule_that_matches_names_it)
{
	struct config_app apps[] = {
	    {.match = {.user = "web"}, .app = "web"},
	    {.match = {.main_class = "payments.*"}, .app = "pay"},
	    {.match = {.user = "db"}, .app = "database"},
	};
	struct config c = {.apps = apps, .app_count = 3};
	char app[NAMING_BYTES] = "as it was";

	assert_true(naming_app(&c, &jvm, app, NULL));
	assert_string_equal(app, "pay");
	c.app_count = 1;
	strcpy(app, "as it was");
	assert_false(naming_app(&c, &jvm, app, NULL));
	assert_string_equal(app, "as it was");
}

TEST(main_classes_of_one_name_are_told_apart_by_their_packages)
{
	assert_string_equal(name("{main-class}"), "payments.Main");
	jvm.main_class = "orders.Main";
	assert_string_equal(name("{main-class}"), "orders.Main");
	jvm.main_class = "payments.Main";
}

TEST(a_name_comes_from_label_image_unit_and_environment)
{
	assert_string_equal(name("{label:app.kubernetes.io/name}"), "payments");
	assert_string_equal(name("{image}"), "pay-api");
	assert_string_equal(name("{unit}"), "payments_blue");
	assert_string_equal(name("shop-{image}.{env:REGION}"), "shop-pay-api.eu-west");
}

TEST(what_is_said_of_a_jvm_is_made_fit_for_a_label)
{
	char longest[512];

	assert_string_equal(name("{label:app}"), "pay_ments__");
	jvm.main_class = "M\303\266\303\266";
	assert_string_equal(name("{main-class}"), "M____");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	jvm.main_class = longest;
	assert_int_equal(strlen(name("{main-class}")), NAMING_BYTES - 1);
	assert_int_equal(strlen(name("a-{main-class}-{main-class}")), NAMING_BYTES - 1);
	jvm.main_class = "payments.Main";
}

TEST(a_rule_that_lacks_a_value_gives_way_to_the_next)
{
	struct config_app apps[] = {
	    {.app = "a-{label:none}"}, {.app = "{label:tier}"}, {.app = "{env:NONE}"},
	    {.app = "{env:EMPTY}"},    {.app = "{image}"},
	};
	const struct config c = {.apps = apps, .app_count = 5};
	char app[NAMING_BYTES];

	assert_true(naming_app(&c, &jvm, app, NULL));
	assert_string_equal(app, "pay-api");
}

TEST(an_image_or_group_without_a_name_gives_none)
{
	static const char *const images[] = {NULL, "", "sha256:0123", "@sha256:01", "registry/"};
	static const char *const groups[] = {
	    NULL, "", "/", "/user.slice/session-1.scope", "/a/.service", "/service", "/.service"};
	const struct jvm_facts before = jvm;

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		jvm.image = images[i];
		assert_string_equal(name("{image}"), "");
	}
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		jvm.cgroup = groups[i];
		assert_string_equal(name("{unit}"), "");
	}
	jvm = before;
}

/* Whoever runs it could have it called like any service. */
TEST(what_users_and_services_make_themselves_is_no_unit)
{
	static const char *const made[] = {
	    "/user.slice/user-1000.slice/user@1000.service/app.slice/payments.service",
	    "/user.slice/user-1000.slice/session-1.scope/payments.service",
	    "/user.slice/payments.service",
	    "/docker/0123/system.slice/payments.service",
	    "/machine.slice/machine-guest.scope/payload/system.slice/payments.service",
	};
	const struct jvm_facts before = jvm;

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		jvm.cgroup = made[i];
		assert_string_equal(name("{unit}"), "");
	}
	jvm.cgroup = "/system.slice/batch.service/payments.service";
	assert_string_equal(name("{unit}"), "batch");
	jvm = before;
}

TEST(the_rule_that_names_it_gives_its_version)
{
	struct config_app apps[] = {
	    {.match = {.user = "web"}, .app = "web", .version = "0"},
	    {.app = "{label:nothing}", .version = "1"},
	    {.match = {.user = "db"}, .app = "pay", .version = "{env:REGION}.{label:tier}"},
	    {.app = "all", .version = "2"},
	};
	struct config c = {.apps = apps, .app_count = 4};
	char app[NAMING_BYTES], version[NAMING_BYTES] = "as it was";

	/* The label is empty: nobody knows the version, and the rule is still the one. */
	assert_true(naming_app(&c, &jvm, app, version));
	assert_string_equal(app, "pay");
	assert_string_equal(version, "");
	apps[2].version = "1.2-{env:REGION}";
	assert_true(naming_app(&c, &jvm, app, version));
	assert_string_equal(version, "1.2-eu-west");
	apps[2].version = "{label:app}";
	assert_true(naming_app(&c, &jvm, app, version));
	assert_string_equal(version, "pay_ments__");
	apps[2].version = NULL;
	assert_true(naming_app(&c, &jvm, app, version));
	assert_string_equal(version, "");
	strcpy(version, "as it was");
	c.app_count = 1;
	assert_false(naming_app(&c, &jvm, app, version));
	assert_string_equal(version, "as it was");
}
