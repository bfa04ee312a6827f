#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/http/http_address.h"

TEST(addresses_that_are_not_numeric_are_refused)
{
	static const char *const bad[] = {
	    "",        "127.0.0.1",       ":80",   "127.0.0.1:", "host:80",    "1.2.3:x",
	    "[::1:80", "127.0.0.1:99999", "[]:80", "[:80",       "300.1.1.1:1"};
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_address_check(bad[i], &err) != -EINVAL)
			fail_msg("'%s' was accepted", bad[i]);
	assert_int_equal(http_address_check("0.0.0.0:9779", &err), 0);
	assert_int_equal(http_address_check("[::1]:0", &err), 0);
	assert_int_equal(http_address_check("localhost:9779", &err), 0);
}

TEST(port_0_is_shown_as_the_one_that_was_found)
{
	char text[HTTP_ADDRESS_BYTES], again[HTTP_ADDRESS_BYTES];
	struct err err;
	int fd = http_address_listen("localhost:0", &err);

	assert_true(fd >= 0);
	http_address_of(fd, text);
	assert_int_equal(strncmp(text, "127.0.0.1:", strlen("127.0.0.1:")), 0);
	assert_string_not_equal(text, "127.0.0.1:0");
	assert_int_equal(http_address_listen(text, &err), -EADDRINUSE);
	(void)close(fd);
	fd = http_address_listen(text, &err); /* At once. */
	assert_true(fd >= 0);
	http_address_of(fd, again);
	assert_string_equal(again, text);
	(void)close(fd);
}
