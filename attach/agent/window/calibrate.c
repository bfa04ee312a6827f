#include "attach/agent/window/calibrate.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/handler/thread.h"
#include "common/clock.h"

#define TRAPS 65u /* odd: the median is one of them; about a millisecond in all */

/* Where the breakpoint sits. Not inlined, and not empty, so that calls are not removed. */
static __attribute__((noinline)) void landing(void)
{
	__asm__ volatile("" ::: "memory");
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *costs, unsigned count)
{
	qsort(costs, count, sizeof(costs[0]), compare);
	return costs[count / 2];
}

static uint64_t handler_ns(const struct thread *t)
{
	return atomic_load(&t->counters[JXP__COUNTER__COUNTER_HANDLER_NS]);
}

/* Has the event, which is off, fire each period-th time. */
static int break_at_landing(const struct thread *t, int fd, uint64_t period)
{
	return perf_break_at(fd, (uintptr_t)landing, period,
			     thread_sig_data(t, THREAD_ROLE_CALIBRATE));
}

/* Breakpoints may be there and not fire: some hypervisors hide them. One that does may lose a hit
 * now and then (is_stale in attach/agent/handler/signals.c). */
static bool fires(uint64_t hits, uint64_t of)
{
	return hits > of / 2;
}

static int measure_trap(struct thread *t, int fd, struct calibration *c)
{
	uint64_t costs[TRAPS];
	int r = break_at_landing(t, fd, 1);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < TRAPS; i++) {
		uint64_t handled = handler_ns(t), start = clock_ns(CLOCK_THREAD_CPUTIME_ID),
			 elapsed;

		landing();
		elapsed = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		handled = handler_ns(t) - handled;
		costs[i] = elapsed > handled ? elapsed - handled : 0;
	}
	if (!fires(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), TRAPS))
		return -EOPNOTSUPP;
	c->signals.trap_ns = median(costs, TRAPS);
	return 0;
}

/* Traps of one round: it is over before the scheduler interrupts many. */
#define HITS 64u

/* More than ever come. */
#define NEVER (UINT64_C(1) << 40)

static int measure_hit(struct thread *t, int fd, struct calibration *c)
{
	uint64_t start, before = 0, after = 0;
	int r;

	if (read(fd, &before, sizeof(before)) != (ssize_t)sizeof(before))
		return -EIO;
	r = break_at_landing(t, fd, NEVER);
	if (r < 0)
		return r;
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < HITS; i++)
		landing();
	c->hit_ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / HITS;
	if (read(fd, &after, sizeof(after)) != (ssize_t)sizeof(after))
		return -EIO;
	return fires(after - before, HITS) ? 0 : -EOPNOTSUPP;
}

#define LINE_BYTES 64u
#define SPLITS     1024u /* some microseconds */

static void store_across_a_line(void)
{
	/* Never across a page: that is slow whatever is set. */
	_Alignas(2 * LINE_BYTES) uint8_t lines[2 * LINE_BYTES];

	for (unsigned i = 0; i < SPLITS; i++)
		__asm__ volatile("movq %0, (%1)"
				 :
				 : "r"((uint64_t)i), "r"(lines + LINE_BYTES - 4)
				 : "memory");
}

#define STRING_BYTES 8192u /* what starting such an instruction takes is little beside it */

static void store_a_string(void)
{
	static uint8_t bytes[STRING_BYTES];
	void *to = bytes;
	size_t left = sizeof(bytes);

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(left) : "a"(0) : "memory");
}

#define TRIES 9u /* of which the shortest was not interrupted */

static double shortest_ns(void (*work)(void))
{
	uint64_t shortest = UINT64_MAX;

	for (unsigned try = 0; try < TRIES; try++) {
		uint64_t start = clock_monotonic_ns(), ns;

		work();
		ns = clock_monotonic_ns() - start;
		if (ns < shortest)
			shortest = ns;
	}
	return (double)shortest;
}

/* The event watches what nobody touches, as it was opened. An execution breakpoint would not do:
 * beside one AMD's processors are as fast as without. */
static int measure_registers(struct thread *t, int fd, struct calibration *c)
{
	double splits = shortest_ns(store_across_a_line), string = shortest_ns(store_a_string);
	int r = perf_enable(fd);

	(void)t;
	if (r < 0)
		return r;
	c->registers = slowdown_costs_of((shortest_ns(store_across_a_line) - splits) / SPLITS,
					 string, shortest_ns(store_a_string), STRING_BYTES);
	return 0;
}

static int measure_signal(struct thread *t, int fd, struct calibration *c)
{
	pid_t pid = getpid();
	uint64_t costs[TRAPS];
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = SI_TIMER};

	(void)fd;
	info.si_value.sival_ptr = (void *)thread_sig_data(t, THREAD_ROLE_CALIBRATE);
	for (unsigned i = 0; i < TRAPS; i++) {
		uint64_t handled = handler_ns(t), start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		if (syscall(SYS_rt_tgsigqueueinfo, pid, t->tid, SIGTRAP, &info) < 0)
			return -errno;
		costs[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start - (handler_ns(t) - handled);
	}
	if (!fires(atomic_load(&t->counters[JXP__COUNTER__COUNTER_SIGNALS]), TRAPS))
		return -EOPNOTSUPP;
	/* And as much again for the interrupt that brings it. */
	c->signals.tick_ns = 2 * median(costs, TRAPS);
	return 0;
}

typedef int measurement(struct thread *t, int fd, struct calibration *c);

/* In an entry of the session thread's own, which has SIGTRAP blocked otherwise; with an event, or
 * with none where there is no opener. */
static int measure_here(struct opener *opener, measurement *what, struct calibration *c)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	struct thread *t = thread_take(tid);
	sigset_t traps, before;
	int fd = -1, r;

	if (!t)
		return -ENOMEM;
	atomic_store(&t->state, THREAD_FAILED); /* No sampler looks at it. */
	(void)sigemptyset(&traps);
	(void)sigaddset(&traps, SIGTRAP);
	r = opener
		? opener_breakpoints(opener, tid, 1, thread_sig_data(t, THREAD_ROLE_CALIBRATE), &fd)
		: 0;
	if (r == 0) {
		(void)pthread_sigmask(SIG_UNBLOCK, &traps, &before); /* Valid arguments. */
		r = what(t, fd, c);
		if (fd >= 0)
			(void)perf_disable(fd); /* A forked process may have a copy. */
		fd_close_all(&fd, 1);
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	thread_recycle(t);
	return r;
}

/* One that does not fire may be one whose register a virtual machine has lost for a moment. */
#define EVENTS_TRIED 3u

static int measure_firing(struct opener *opener, measurement *what, struct calibration *c)
{
	int r = -EOPNOTSUPP;

	for (unsigned i = 0; i < EVENTS_TRIED && r == -EOPNOTSUPP; i++)
		r = measure_here(opener, what, c);
	return r;
}

int calibrate_trap(struct opener *opener, struct calibration *c)
{
	return measure_firing(opener, measure_trap, c);
}

int calibrate_hit(struct opener *opener, struct calibration *c)
{
	return measure_firing(opener, measure_hit, c);
}

int calibrate_registers(struct opener *opener, struct calibration *c)
{
	return measure_here(opener, measure_registers, c);
}

int calibrate_signal(struct calibration *c)
{
	return measure_here(NULL, measure_signal, c);
}
