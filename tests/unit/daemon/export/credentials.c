#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/export/credentials.h"
#include "tests/unit/support/tree_fixture.h"

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct credentials));
	(void)tree_make();
	return *state ? 0 : -1;
}

static int tear_down(void **state)
{
	tree_remove();
	free(*state);
	return 0;
}

/* A file with size bytes of text. */
static const char *file(const char *text, size_t size)
{
	static char path[256];
	FILE *out;

	(void)snprintf(path, sizeof(path), "%s", tree_path("secret"));
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
	return path;
}

TEST(a_password_is_the_first_line_of_its_file, set_up, tear_down)
{
	struct credentials *c = *state;
	struct err err;

	assert_int_equal(credentials_read(c, file("open sesame\r\nmore", 17), "", &err), 0);
	assert_string_equal(c->password, "open sesame");
	assert_int_equal(c->header_count, 0);
	credentials_wipe(c);
	assert_string_equal(c->password, "");
}

TEST(what_is_no_password_is_told_without_it, set_up, tear_down)
{
	static char longer[2 * CREDENTIALS_PASSWORD_BYTES];
	struct credentials *c = *state;
	struct err err;

	assert_int_equal(credentials_read(c, file("", 0), "", &err), -EINVAL);
	assert_int_equal(credentials_read(c, file("a\x1b[1m", 5), "", &err), -EINVAL);
	assert_null(strchr(err.message, '\x1b'));
	assert_int_equal(credentials_read(c, file("sesame\0x", 8), "", &err), -EINVAL);
	assert_null(strstr(err.message, "sesame"));
	memset(longer, 'x', sizeof(longer));
	assert_int_equal(credentials_read(c, file(longer, sizeof(longer)), "", &err), -EMSGSIZE);
	assert_null(strstr(err.message, "xxx"));
	assert_int_equal(credentials_read(c, "/nowhere/at/all", "", &err), -ENOENT);
	assert_non_null(strstr(err.message, "cannot read '/nowhere/at/all'"));
}

TEST(headers_are_lines_of_name_and_value, set_up, tear_down)
{
	static const char text[] = "# token\nAuthorization: Bearer abc\r\n\nX-Scope-OrgID: 7\n";
	struct credentials *c = *state;
	struct err err;

	assert_int_equal(credentials_read(c, "", file(text, sizeof(text) - 1), &err), 0);
	assert_int_equal(c->header_count, 2);
	assert_string_equal(c->headers[0], "Authorization: Bearer abc");
	assert_string_equal(c->headers[1], "X-Scope-OrgID: 7");
}

TEST(lines_that_are_no_headers_are_told_by_their_number, set_up, tear_down)
{
	static const char *const wrong[] = {"X: 1\nsecret\n", "X: 1\nsec ret: 1\n",
					    "X: 1\n: secret\n", "X: 1\nsecret:  \n",
					    "X: 1\nsecret: a\x01\n"};
	struct credentials *c = *state;
	struct err err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(credentials_read(c, "", file(wrong[i], strlen(wrong[i])), &err),
				 -EINVAL);
		assert_non_null(strstr(err.message, "line 2, is not 'Name: value'"));
		assert_null(strstr(err.message, "ret:"));
	}
}
