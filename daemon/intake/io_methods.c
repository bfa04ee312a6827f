#include "daemon/intake/io_methods.h"

#include <stddef.h>
#include <string.h>

/* How names begin; "" for all. */
static const struct {
	const char *class_name;
	const char *name;
} methods[] = {
    {"java.io.FileInputStream", "read"},
    {"java.io.FileOutputStream", "write"},
    {"java.io.FileDescriptor", "sync"},
    {"java.io.RandomAccessFile", "read"},
    {"java.io.RandomAccessFile", "write"},
    {"java.io.Console", "read"},
    {"java.net.Socket", ""}, /* SocketInputStream, SocketOutputStream, ... */
    {"java.net.DatagramSocket", "receive"},
    {"java.net.DatagramSocket", "send"},
    {"java.nio.channels.", "read"}, /* FileChannel, SocketChannel, Channels, ... */
    {"java.nio.channels.", "write"},
    {"sun.nio.ch.", ""}, /* what implements them, and sockets since JDK 13 */
    {"sun.security.ssl.SSLSocketImpl", ""},
};

/* java.sql.Statement and those who implement it are named like it (PgPreparedStatement,
 * StatementImpl); what they do is all in these. */
static bool runs_statement(const char *class_name, const char *name)
{
	return strstr(class_name, "Statement") && strncmp(name, "execute", strlen("execute")) == 0;
}

bool io_method(const char *class_name, const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strncmp(class_name, methods[i].class_name, strlen(methods[i].class_name)) ==
			0 &&
		    strncmp(name, methods[i].name, strlen(methods[i].name)) == 0)
			return true;
	return runs_statement(class_name, name);
}
