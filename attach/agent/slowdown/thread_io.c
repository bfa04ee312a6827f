#include "attach/agent/slowdown/thread_io.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number behind a name at *at, which moves on to the next line. */
static bool take_line(const char **at, const char *end, const char *name, uint64_t *value)
{
	size_t length = strlen(name);
	const char *digits;

	*value = 0;
	if ((size_t)(end - *at) < length || memcmp(*at, name, length) != 0)
		return false;
	digits = *at += length;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		*value = *value * 10 + (uint64_t)(**at - '0');
	if (*at == digits || *at == end || **at != '\n')
		return false;
	(*at)++;
	return true;
}

bool thread_io_parse(const char *text, size_t length, uint64_t *bytes)
{
	const char *at = text, *end = text + length;
	uint64_t read, written;

	if (!take_line(&at, end, "rchar: ", &read) || !take_line(&at, end, "wchar: ", &written))
		return false;
	*bytes = read + written;
	return true;
}

/* By system calls: the library's functions are points where a thread may be cancelled. */
bool thread_io_bytes(uint64_t *bytes)
{
	char text[256];
	long length,
	    fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/io", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	length = syscall(SYS_read, fd, text, sizeof(text));
	(void)syscall(SYS_close, fd); /* Carries no data. */
	return length > 0 && thread_io_parse(text, (size_t)length, bytes);
}
