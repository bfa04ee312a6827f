#include "attach/process/pages.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int pages_nodes(pid_t pid, const uint64_t *addresses, size_t count, int16_t nodes[PAGES_MAX],
		struct err *err)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	void *pages[PAGES_MAX];
	int status[PAGES_MAX];

	for (size_t i = 0; i < count; i++)
		pages[i] = (void *)(uintptr_t)(addresses[i] & ~(page_bytes - 1));
	if (syscall(SYS_move_pages, pid, (unsigned long)count, pages, NULL, status, 0) < 0)
		return err_set_errno(err, errno, "cannot tell where pages of process %d are",
				     (int)pid);
	for (size_t i = 0; i < count; i++)
		nodes[i] = status[i] >= 0 && status[i] <= INT16_MAX ? (int16_t)status[i] : -1;
	return 0;
}
