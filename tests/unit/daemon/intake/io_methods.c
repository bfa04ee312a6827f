#include "tests/unit/support/test.h"

#include "daemon/intake/io_methods.h"

TEST(streams_channels_and_sockets_are_io)
{
	assert_true(io_method("java.io.FileOutputStream", "writeBytes"));
	assert_true(io_method("java.io.RandomAccessFile", "readFully"));
	assert_true(io_method("java.net.SocketOutputStream", "socketWrite0"));
	assert_true(io_method("sun.nio.ch.FileDispatcherImpl", "pwrite0"));
}

TEST(statements_are_by_their_names)
{
	assert_true(io_method("java.sql.Statement", "executeQuery"));
	assert_true(io_method("org.postgresql.jdbc.PgPreparedStatement", "executeUpdate"));
	assert_true(io_method("com.mysql.cj.jdbc.StatementImpl", "executeBatch"));
	assert_false(io_method("org.postgresql.jdbc.PgPreparedStatement", "setInt"));
	assert_false(io_method("org.example.Job", "execute"));
}

TEST(what_fills_buffers_is_none)
{
	assert_false(io_method("java.io.BufferedOutputStream", "write"));
	assert_false(io_method("java.io.ByteArrayInputStream", "read"));
	assert_false(io_method("java.io.FileOutputStream", "<init>"));
	assert_false(io_method("java.nio.ByteBuffer", "put"));
	assert_false(io_method("", ""));
}
