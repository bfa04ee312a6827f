#include "daemon/broker/gate_trial.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/perf/events.h"

static volatile sig_atomic_t signals;

static void on_sigtrap(int number)
{
	(void)number;
	signals++;
}

/* An event that every page fault of this thread raises, with the gate on it. */
static int open_event(const struct broker_gate *g)
{
	struct perf_event_attr attr;
	_cleanup_close_ int fd = -1;
	int r;

	perf_attr_clock(&attr, 1, 0);
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	fd = perf_open(&attr, 0);
	if (fd < 0)
		return fd;
	r = broker_gate_attach(g, fd);
	return r < 0 ? r : TAKE_FD(fd);
}

/* One fault with the event enabled. Returns how many signals it raised, or -errno. */
static int fault(int event)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (page == MAP_FAILED)
		return -errno;
	signals = 0;
	r = perf_enable(event);
	if (r == 0) {
		*page = 1;
		r = perf_disable(event);
	}
	(void)munmap((void *)page, size); /* Our own mapping: cannot fail. */
	return r < 0 ? r : signals;
}

/* The handler is there: whatever the event does is survived. */
static int faults(struct broker_gate *g, int event, struct err *err)
{
	struct gate_limits limits = {.interval_ns = 1, .burst_ns = NS_PER_S};
	struct gate_counts counts = {0};
	int dropped, passed, r = broker_gate_set(g, getpid(), &limits);

	if (r < 0)
		return err_set_errno(err, -r, "cannot set up the BPF gate");
	dropped = fault(event);
	limits.window_end_ns = UINT64_MAX;
	r = broker_gate_set(g, getpid(), &limits);
	passed = r < 0 ? r : fault(event);
	if (dropped < 0 || passed < 0)
		return err_set_errno(err, dropped < 0 ? -dropped : -passed,
				     "cannot try the BPF gate");
	broker_gate_remove(g, getpid(), &counts);
	if (counts.samples[GATE_UNKNOWN] > 0)
		return err_set(err, EOPNOTSUPP,
			       "jxperfd is in a process id namespace of its own; run it in the "
			       "host's for a BPF gate");
	if (dropped > 0 || counts.samples[GATE_WINDOW_OVER] == 0)
		return err_set(err, EOPNOTSUPP,
			       "the kernel sends signals for samples that BPF drops; upgrade to "
			       "6.10 or newer");
	if (passed == 0 || counts.samples[GATE_PASSED] == 0)
		return err_set(err, EOPNOTSUPP, "the kernel drops samples that BPF lets pass");
	return 0;
}

int broker_gate_trial(struct broker_gate *g, struct err *err)
{
	struct sigaction action = {.sa_handler = on_sigtrap}, before;
	_cleanup_close_ int event = open_event(g);
	int r;

	if (event < 0)
		return err_set_errno(err, -event, "cannot put the BPF gate on an event");
	if (sigaction(SIGTRAP, &action, &before) < 0)
		return err_set_errno(err, errno, "cannot handle SIGTRAP");
	r = faults(g, event, err);
	broker_gate_remove(g, getpid(), NULL);
	(void)sigaction(SIGTRAP, &before, NULL); /* As it came from there. */
	return r;
}
