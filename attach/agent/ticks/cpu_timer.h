/*
 * A POSIX timer on the CPU clock of one thread, which sends that thread SIGTRAP; or of the process.
 *
 * It costs nothing at a context switch, where an open perf event does (docs/measurements.md), and
 * it counts the kernel's time for the thread, too. The kernel looks at it at the scheduler's tick,
 * and sends the signal on the way back to user mode (CONFIG_POSIX_CPU_TIMERS_TASK_WORK, which x86
 * has since 5.10; kernel/time/posix-cpu-timers.c): no system call is cut short. It is gone with the
 * thread, is not inherited by fork and does not survive exec. Each takes one of the user's
 * RLIMIT_SIGPENDING (attach/agent/window/allowance.h).
 *
 * A timer fires once and is set again by the handler that it brought. Plain system calls: glibc's
 * functions allocate.
 */
#ifndef JXPERF_AGENT_TICKS_CPU_TIMER_H
#define JXPERF_AGENT_TICKS_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A timer, not set, on the clock of a thread of this process; its signals bring sig_data. A number,
 * or -errno: -EAGAIN where RLIMIT_SIGPENDING is reached, -EINVAL when the thread has ended. */
int cpu_timer_create(pid_t tid, uint64_t sig_data);

/* The same on the clock of the process: the signal comes to the thread that runs when it fires,
 * from Linux 6.4 on, unless that has it blocked. */
int cpu_timer_create_for_process(uint64_t sig_data);

/* Has it fire once the thread has used cpu_ns more of CPU time, above 0: at the first tick of the
 * scheduler that finds it running then. 0 or -errno, -ESRCH when the thread has
 * ended, whoever has its number now. Async-signal-safe. Not by a point of time: one
 * that has passed fires in here. */
int cpu_timer_set(int timer, uint64_t cpu_ns);

/* Is it to fire? Not once it did, nor where the thread has ended. */
bool cpu_timer_is_set(int timer);

/* No signal arises after it; one that is pending is delivered. Of -1 nothing. */
void cpu_timer_delete(int timer);

/* Which side of the kernel's border the scheduler's ticks found this thread on since it began, in
 * ns: whole ticks, as getrusage(2) has them before it scales them to the CPU time.
 * Async-signal-safe. */
enum cpu_side { CPU_UNKNOWN, CPU_USER, CPU_KERNEL };

struct cpu_sides {
	uint64_t user_ns, kernel_ns;
};
void cpu_timer_sides(struct cpu_sides *sides);

/* Tells how long the scheduler's tick lasts: CONFIG_HZ, by the resolution of the coarse clocks. */
uint64_t cpu_timer_scheduler_tick_ns(void);

#endif
