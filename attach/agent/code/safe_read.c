#include "attach/agent/code/safe_read.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/proc.h"

#define PAGE_BYTES 4096u

/* The process's; handlers read with them. */
static pid_t self;
static int memory_fd = -1;
static bool filtered; /* system calls are: only read(2) and its like are to be used */

static bool works(void)
{
	static const char probe = 1;
	char copy = 0;

	return safe_read((uintptr_t)&probe, &copy, 1) && copy == probe;
}

int safe_read_init(void)
{
	self = getpid();
	/* A seccomp filter may kill where it forbids; opening a file of one's own is never
	 * forbidden to a JVM. */
	filtered = proc_self_has_seccomp_filter();
	if (!filtered && works())
		return 0;
	filtered = true;
	memory_fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (memory_fd < 0)
		return -errno;
	if (!works()) {
		safe_read_release();
		return -EPERM;
	}
	return 0;
}

void safe_read_release(void)
{
	if (memory_fd >= 0)
		(void)close(memory_fd); /* Read-only. */
	memory_fd = -1;
}

static ssize_t read_once(uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

	/* Also after it was closed: a handler of the last window may still run. */
	if (filtered)
		return pread(memory_fd, to, size, (off_t)address);
	return syscall(SYS_process_vm_readv, self, &local, 1UL, &remote, 1UL, 0UL);
}

bool safe_read(uint64_t address, void *to, size_t size)
{
	return read_once(address, to, size) == (ssize_t)size;
}

static bool read_each(const struct safe_part *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!safe_read(parts[i].address, parts[i].to, parts[i].size))
			return false;
	return true;
}

bool safe_read_parts(const struct safe_part *parts, unsigned count)
{
	struct iovec local[SAFE_PARTS_MAX], remote[SAFE_PARTS_MAX];
	size_t bytes = 0;

	if (filtered || count > SAFE_PARTS_MAX)
		return read_each(parts, count);
	for (unsigned i = 0; i < count; i++) {
		local[i] = (struct iovec){parts[i].to, parts[i].size};
		remote[i] = (struct iovec){(void *)(uintptr_t)parts[i].address, parts[i].size};
		bytes += parts[i].size;
	}
	return syscall(SYS_process_vm_readv, self, local, (unsigned long)count, remote,
		       (unsigned long)count, 0UL) == (ssize_t)bytes;
}

size_t safe_read_some(uint64_t address, void *to, size_t size)
{
	size_t first = PAGE_BYTES - (address & (PAGE_BYTES - 1));

	if (safe_read(address, to, size))
		return size;
	/* A transfer fails whole when its last page is missing: try what lies before it. */
	return size > first && safe_read(address, to, first) ? first : 0;
}
