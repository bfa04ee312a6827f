#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/hosts.h"

static int parse(struct fleet_hosts *h, const char *text, struct err *err)
{
	return fleet_hosts_parse(h, "hosts", text, strlen(text), err);
}

TEST(a_line_is_a_host_an_application_and_a_number)
{
	struct fleet_hosts h;

	assert_int_equal(parse(&h, "# HOST APP COUNT\n\n web-1\tshop  3 \r\nweb-1 cart 1", NULL),
			 0);
	assert_int_equal(h.count, 2);
	assert_string_equal(h.groups[0].host, "web-1");
	assert_string_equal(h.groups[0].app, "cart");
	assert_int_equal(h.groups[0].count, 1);
	assert_string_equal(h.groups[1].app, "shop");
	assert_int_equal(h.groups[1].count, 3);
	assert_int_equal(h.host_count, 1);
	assert_int_equal(h.app_count, 2);
	assert_int_equal(h.jvm_count, 4);
	fleet_hosts_release(&h);
}

TEST(groups_are_sorted_and_the_same_once_more_adds_up)
{
	struct fleet_hosts h;

	assert_int_equal(parse(&h, "b shop 1\na shop 2\nb cart 4\nb shop 8\n", NULL), 0);
	assert_int_equal(h.count, 3);
	assert_string_equal(h.groups[0].host, "a");
	assert_string_equal(h.groups[1].app, "cart");
	assert_int_equal(h.groups[2].count, 9);
	assert_int_equal(h.host_count, 2);
	assert_int_equal(h.app_count, 2);
	assert_int_equal(h.jvm_count, 15);
	assert_int_equal(h.groups[0].app_number, h.groups[2].app_number);
	assert_int_not_equal(h.groups[0].app_number, h.groups[1].app_number);
	fleet_hosts_release(&h);
}

TEST(what_is_wrong_is_named_with_its_line)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
	    {"web-1", "hosts:1: an application"},
	    {"a b 1\nweb-1 shop\n", "hosts:2: an application or its number of JVMs is missing"},
	    {"a b 1\n\n#\nweb-1 shop 3 4\n", "hosts:4: there are more than three words"},
	    {"a b 0", "hosts:1: the number"},
	    {"a b -1", "hosts:1: the number"},
	    {"a b +1", "hosts:1: the number"},
	    {"a b 1x", "hosts:1: the number"},
	    {"a b 0x1", "hosts:1: the number"},
	    {"a b 99999999999999999999", "hosts:1: the number"},
	    {"a b 10000000\na c 1", "hosts:2: that makes more than 10000000 JVMs"},
	    {"", "'hosts' names no host"},
	    {"# only this\n", "'hosts' names no host"},
	};
	struct fleet_hosts h = {.count = 7}, before = h;
	struct err err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&h, cases[i].text, &err), -EINVAL);
		if (!strstr(err.message, cases[i].words) || strchr(err.message, '\n'))
			fail_msg("'%s' does not say '%s'", err.message, cases[i].words);
		assert_memory_equal(&h, &before, sizeof(h));
	}
}

TEST(names_are_short_and_without_nuls)
{
	char line[600];
	struct fleet_hosts h;
	struct err err;

	(void)snprintf(line, sizeof(line), "%0255d shop 1", 0);
	assert_int_equal(parse(&h, line, &err), 0);
	fleet_hosts_release(&h);
	(void)snprintf(line, sizeof(line), "%0256d shop 1", 0);
	assert_int_equal(parse(&h, line, &err), -EINVAL);
	(void)snprintf(line, sizeof(line), "a %0256d 1", 0);
	assert_int_equal(parse(&h, line, &err), -EINVAL);
	assert_int_equal(fleet_hosts_parse(&h, "hosts", "a\0b c 1", 7, &err), -EINVAL);
	assert_non_null(strstr(err.message, "not a text"));
}

TEST(a_file_that_is_not_there_is_named)
{
	struct fleet_hosts h;
	struct err err;

	assert_int_equal(fleet_hosts_load(&h, "/nonexistent/hosts", &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nonexistent/hosts"));
	assert_true(fleet_hosts_load(&h, "/", &err) < 0);
}
