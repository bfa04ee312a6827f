#include "tests/unit/support/test.h"

#include "attach/process/connections.h"

/* As Linux 6.18 shows it: the JVM's listener, two connections of it, and others'. */
static const char text[] =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 40001 /tmp/.java_pid42.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 40002 /tmp/.java_pid42.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 02 40003 /tmp/.java_pid42.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 02 40004 /tmp/.java_pid42\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 40005 /tmp/.java_pid421.tmp\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 40006\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 40007 /tmp/.java_pid42.tmp.old\n";

TEST(those_of_the_jvms_socket_are_counted)
{
	struct connections c = connections_in(text, 42);

	assert_int_equal(c.served, 1);
	assert_int_equal(c.waiting, 2);
	c = connections_in(text, 421);
	assert_int_equal(c.served, 1);
	assert_int_equal(c.waiting, 0);
}

TEST(what_is_no_such_text_has_none)
{
	static const char *const texts[] = {"", "\n\n", "Num", "0: 1 2 3",
					    "x: y z w 1 3 5 /tmp/.java_pid42"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct connections c = connections_in(texts[i], 42);

		assert_int_equal(c.served + c.waiting, 0);
	}
}
