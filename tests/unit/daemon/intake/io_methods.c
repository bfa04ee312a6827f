#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/intake/io_methods.h"

static void streams_channels_and_sockets_are_io(void **state)
{
	(void)state;
	assert_true(io_method("java.io.FileOutputStream", "writeBytes"));
	assert_true(io_method("java.io.RandomAccessFile", "readFully"));
	assert_true(io_method("java.net.SocketOutputStream", "socketWrite0"));
	assert_true(io_method("sun.nio.ch.FileDispatcherImpl", "pwrite0"));
}

static void statements_are_by_their_names(void **state)
{
	(void)state;
	assert_true(io_method("java.sql.Statement", "executeQuery"));
	assert_true(io_method("org.postgresql.jdbc.PgPreparedStatement", "executeUpdate"));
	assert_true(io_method("com.mysql.cj.jdbc.StatementImpl", "executeBatch"));
	assert_false(io_method("org.postgresql.jdbc.PgPreparedStatement", "setInt"));
	assert_false(io_method("org.example.Job", "execute"));
}

static void what_fills_buffers_is_none(void **state)
{
	(void)state;
	assert_false(io_method("java.io.BufferedOutputStream", "write"));
	assert_false(io_method("java.io.ByteArrayInputStream", "read"));
	assert_false(io_method("java.io.FileOutputStream", "<init>"));
	assert_false(io_method("java.nio.ByteBuffer", "put"));
	assert_false(io_method("", ""));
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
