#include "daemon/broker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "attach/process/cgroup_cpu.h"
#include "attach/process/pages.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/perf/events.h"
#include "daemon/broker/perf.h"
#include "daemon/broker/privilege.h"

_Static_assert(BROKER_PAGES_MAX == PAGES_MAX, "a request's pages are one question");

/* wanted NULL: whichever it is. */
static int identify(pid_t pid, const struct proc_identity *wanted, struct proc_identity *out,
		    struct err *err)
{
	if (proc_identify(pid, out) == 0 && (!wanted || proc_identity_equal(out, wanted)))
		return 0;
	return wanted ? err_set(err, ESRCH, "process %d has ended", pid) : proc_absent(pid, err);
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
		return pages_nodes(request->pid, request->pages, request->page_count,
				   a->reply.nodes, err);
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

static bool answer(int socket, const struct worker_question *q)
{
	struct worker_answer a = {
	    .reply = {.operation = q->request.operation, .id = q->request.id}};
	int fds[PERF_DEBUG_REGISTERS] = {-1, -1, -1, -1};
	struct err err = {""};
	int r = work(q, &a, fds, &err);
	ssize_t sent;

	a.reply.error = r < 0 ? -r : 0;
	a.reply.fds = r > 0 ? (uint32_t)r : 0;
	if (r < 0)
		strcpy(a.reply.message, err.message);
	sent = fd_send(socket, &a, sizeof(a), fds, a.reply.fds);
	fd_close_all(fds, a.reply.fds);
	return sent == (ssize_t)sizeof(a);
}

int worker_main(int fd)
{
	struct worker_question q;
	struct err err;

	/* Its questions are worth nothing without the one who asked. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* A valid number: cannot fail. */
	if (broker_privilege_reduce_worker(&err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	for (;;) {
		size_t no_fds = 0;

		memset(&q, 0, sizeof(q));
		if (fd_recv(fd, &q, sizeof(q), NULL, &no_fds) != (ssize_t)sizeof(q))
			return EXIT_SUCCESS; /* The broker needs us no longer. */
		if (!answer(fd, &q))
			return EXIT_FAILURE;
	}
}
