#include "daemon/broker/pages.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int broker_pages_nodes(const struct broker_request *request, int16_t nodes[BROKER_PAGES_MAX],
		       struct err *err)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	void *pages[BROKER_PAGES_MAX];
	int status[BROKER_PAGES_MAX];

	for (uint32_t i = 0; i < request->page_count; i++)
		pages[i] = (void *)(uintptr_t)(request->pages[i] & ~(page_bytes - 1));
	if (syscall(SYS_move_pages, request->pid, (unsigned long)request->page_count, pages, NULL,
		    status, 0) < 0)
		return err_set_errno(err, errno, "cannot tell where pages of process %d are",
				     request->pid);
	for (uint32_t i = 0; i < request->page_count; i++)
		nodes[i] = status[i] >= 0 && status[i] <= INT16_MAX ? (int16_t)status[i] : -1;
	return 0;
}
