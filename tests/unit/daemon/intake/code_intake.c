#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/intake/code_intake.h"

static void streams_channels_and_sockets_are_io(void **state)
{
	(void)state;
	assert_true(code_intake_is_io("java.io.FileOutputStream", "writeBytes"));
	assert_true(code_intake_is_io("java.io.RandomAccessFile", "readFully"));
	assert_true(code_intake_is_io("java.net.SocketOutputStream", "socketWrite0"));
	assert_true(code_intake_is_io("sun.nio.ch.FileDispatcherImpl", "pwrite0"));
}

static void statements_are_by_their_names(void **state)
{
	(void)state;
	assert_true(code_intake_is_io("java.sql.Statement", "executeQuery"));
	assert_true(code_intake_is_io("org.postgresql.jdbc.PgPreparedStatement", "executeUpdate"));
	assert_true(code_intake_is_io("com.mysql.cj.jdbc.StatementImpl", "executeBatch"));
	assert_false(code_intake_is_io("org.postgresql.jdbc.PgPreparedStatement", "setInt"));
	assert_false(code_intake_is_io("org.example.Job", "execute"));
}

static void what_fills_buffers_is_none(void **state)
{
	(void)state;
	assert_false(code_intake_is_io("java.io.BufferedOutputStream", "write"));
	assert_false(code_intake_is_io("java.io.ByteArrayInputStream", "read"));
	assert_false(code_intake_is_io("java.io.FileOutputStream", "<init>"));
	assert_false(code_intake_is_io("java.nio.ByteBuffer", "put"));
	assert_false(code_intake_is_io("", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(streams_channels_and_sockets_are_io),
	    cmocka_unit_test(statements_are_by_their_names),
	    cmocka_unit_test(what_fills_buffers_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
