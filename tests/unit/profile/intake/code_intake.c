#include "tests/unit/support/test.h"

#include "profile/intake/code_intake.h"

TEST(streams_channels_and_sockets_are_io)
{
	assert_true(code_intake_is_io("java.io.FileOutputStream", "writeBytes"));
	assert_true(code_intake_is_io("java.io.RandomAccessFile", "readFully"));
	assert_true(code_intake_is_io("java.net.SocketOutputStream", "socketWrite0"));
	assert_true(code_intake_is_io("sun.nio.ch.FileDispatcherImpl", "pwrite0"));
}

TEST(statements_are_by_their_names)
{
	assert_true(code_intake_is_io("java.sql.Statement", "executeQuery"));
	assert_true(code_intake_is_io("org.postgresql.jdbc.PgPreparedStatement", "executeUpdate"));
	assert_true(code_intake_is_io("com.mysql.cj.jdbc.StatementImpl", "executeBatch"));
	assert_false(code_intake_is_io("org.postgresql.jdbc.PgPreparedStatement", "setInt"));
	assert_false(code_intake_is_io("org.example.Job", "execute"));
}

TEST(what_fills_buffers_is_none)
{
	assert_false(code_intake_is_io("java.io.BufferedOutputStream", "write"));
	assert_false(code_intake_is_io("java.io.ByteArrayInputStream", "read"));
	assert_false(code_intake_is_io("java.io.FileOutputStream", "<init>"));
	assert_false(code_intake_is_io("java.nio.ByteBuffer", "put"));
	assert_false(code_intake_is_io("", ""));
}
