#include "daemon/broker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/process/cgroup_cpu.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/perf/events.h"
#include "daemon/broker/perf.h"
#include "daemon/broker/privilege.h"
#include "daemon/inspector/container_record.h"

/* wanted NULL: whichever it is. */
static int identify(pid_t pid, const struct proc_identity *wanted, struct proc_identity *out,
		    struct err *err)
{
	if (proc_identify(pid, out) == 0 && (!wanted || proc_identity_equal(out, wanted)))
		return 0;
	return wanted ? err_set(err, ESRCH, "process %d has ended", pid) : proc_absent(pid, err);
}

/* The node of the page at each of the addresses, or -1 for one that is not present. No page is
 * moved: move_pages(2) with no nodes only asks; it takes the right to ptrace the process, and may
 * wait for the lock of its address space. 0 or -errno. */
static int find_nodes(pid_t pid, const uint64_t *addresses, size_t count, int16_t *nodes,
		      struct err *err)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	void *pages[BROKER_PAGES_MAX];
	int status[BROKER_PAGES_MAX];

	for (size_t i = 0; i < count; i++)
		pages[i] = (void *)(uintptr_t)(addresses[i] & ~(page_bytes - 1));
	if (syscall(SYS_move_pages, pid, (unsigned long)count, pages, NULL, status, 0) < 0)
		return err_set_errno(err, errno, "cannot tell where pages of process %d are",
				     (int)pid);
	for (size_t i = 0; i < count; i++)
		nodes[i] = status[i] >= 0 && status[i] <= INT16_MAX ? (int16_t)status[i] : -1;
	return 0;
}

/* Returns how many descriptors are in fds, or -errno. */
static int call(const struct broker_request *request, struct worker_answer *a, int *fds,
		struct err *err)
{
	switch (request->operation) {
	case BROKER_ATTACH:
		a->reply.cpu_limit = cgroup_cpu_limit("", request->pid);
		return 0;
	case BROKER_PERF_OPEN:
		return broker_perf_open(request, fds, err);
	case BROKER_PAGES:
		return find_nodes(request->pid, request->pages, request->page_count, a->reply.nodes,
				  err);
	default:
		return err_set(err, EINVAL, "operation %u is none of a worker's",
			       request->operation);
	}
}

static int work(const struct worker_question *q, struct worker_answer *a, int *fds, struct err *err)
{
	const struct broker_request *request = &q->request;
	struct proc_identity after;
	int r = identify(request->pid, q->known ? &q->identity : NULL, &a->identity, err);
	int count = r < 0 ? r : call(request, a, fds, err);

	if (count < 0)
		return count;
	/* It may have become another program just before the call. */
	r = identify(request->pid, &a->identity, &after, err);
	if (r < 0) {
		fd_close_all(fds, (size_t)count);
		return r;
	}
	return count;
}

/* container: the target's. */
static bool answer(int socket, const struct worker_question *q,
		   const struct container_names *container)
{
	struct worker_answer a = {
	    .reply = {.operation = q->request.operation, .id = q->request.id}};
	int fds[PERF_DEBUG_REGISTERS] = {-1, -1, -1, -1};
	struct err err = {""};
	int r = work(q, &a, fds, &err);
	ssize_t sent;

	a.reply.error = r < 0 ? -r : 0;
	if (r == 0 && q->request.operation == BROKER_ATTACH)
		a.reply.container = *container;
	a.reply.fds = r > 0 ? (uint32_t)r : 0;
	if (r < 0)
		strcpy(a.reply.message, err.message);
	sent = fd_send(socket, &a, sizeof(a), fds, a.reply.fds);
	fd_close_all(fds, a.reply.fds);
	return sent == (ssize_t)sizeof(a);
}

static bool receive(int fd, struct worker_question *q)
{
	size_t no_fds = 0;

	memset(q, 0, sizeof(*q));
	return fd_recv(fd, q, sizeof(*q), NULL, &no_fds) == (ssize_t)sizeof(*q);
}

int worker_main(int fd)
{
	struct container_names container = {0};
	struct worker_question q;
	struct err err;

	/* Its questions are worth nothing without the one who asked. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* A valid number: cannot fail. */
	if (!receive(fd, &q))
		return EXIT_SUCCESS;
	/* The container runtime's file is root's alone: reading it takes what goes next. That it is
	 * of the process which is attached to, identities in question and answer show. */
	if (q.request.operation == BROKER_ATTACH)
		container_names_of(&container, q.request.pid);
	if (broker_privilege_reduce_worker(&err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	do
		if (!answer(fd, &q, &container))
			return EXIT_FAILURE;
	while (receive(fd, &q));
	return EXIT_SUCCESS; /* The broker needs us no longer. */
}
