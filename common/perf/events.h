/*
 * The perf events jxperf opens, and the siginfo they raise. Shared by the agent, which opens them
 * for its own threads where it may, and by the broker, which opens them where the agent may not.
 *
 * All are per-thread, user-mode only, close-on-exec, and deliver a synchronous SIGTRAP to the
 * thread that caused them (perf_event_attr.sigtrap, Linux 5.13; kernel/events/core.c,
 * perf_sigtrap). They are created disabled. sig_data comes back in siginfo and tells the events
 * apart.
 */
#ifndef JXPERF_COMMON_PERF_EVENTS_H
#define JXPERF_COMMON_PERF_EVENTS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/perf_event.h>
#include <sys/types.h>

/* Debug registers of x86-64 (DR0-DR3). */
#define PERF_DEBUG_REGISTERS 4

/* si_code of a SIGTRAP raised by perf (TRAP_PERF in include/uapi/asm-generic/siginfo.h). */
#define PERF_TRAP_CODE 6

/* si_perf_flags: the signal was queued while SIGTRAP was blocked, so the context is not the trap's.
 */
#define PERF_TRAP_FLAG_ASYNC 1u

/* A timer that counts the thread's CPU time and fires every period_ns nanoseconds of it. */
void perf_attr_clock(struct perf_event_attr *attr, uint64_t period_ns, uint64_t sig_data);

/* Which accesses a hardware sampling event counts. */
enum perf_access {
	PERF_ACCESS_ANY, /* operations of every type: the record's data source tells which */
	PERF_ACCESS_LOADS,
	PERF_ACCESS_STORES,
};

/* A hardware sampling event as one machine encodes it (machine/pmu.h chooses it). */
struct perf_hardware_event {
	uint32_t type;
	uint32_t precise_ip;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	bool user_only; /* the PMU, or its driver, can leave the kernel out */
	enum perf_access access;
};

/* The most such events a window uses: one for loads, one for stores. */
#define PERF_HARDWARE_EVENTS 2

/* Every record of a hardware sampling event holds these. */
#define PERF_HARDWARE_SAMPLE_TYPE                                                 \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)

/* Fires every period counted operations, with one record each in the event's ring
 * (common/perf/ring.h). */
void perf_attr_hardware(struct perf_event_attr *attr, const struct perf_hardware_event *event,
			uint64_t period, uint64_t sig_data);

/* A breakpoint in one debug register. type is HW_BREAKPOINT_X, _W or _RW of linux/hw_breakpoint.h,
 * length 1, 2, 4 or 8 bytes (execution: sizeof(long)) and address aligned to it. Every attribute
 * but type, address and length is constant, as PERF_EVENT_IOC_MODIFY_ATTRIBUTES demands. */
void perf_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t address,
			  uint32_t length, uint64_t sig_data);

/* Opens attr for one thread. Returns a descriptor that the caller owns, or -errno. */
int perf_open(const struct perf_event_attr *attr, pid_t tid);

/* Async-signal-safe controls of an open event: 0 or -errno. */
int perf_enable(int fd);
int perf_disable(int fd);
int perf_modify(int fd, const struct perf_event_attr *attr);
int perf_set_period(int fd, uint64_t period); /* in the unit of the event */

/* Has an event of perf_attr_breakpoint, which is off, fire each period-th time that execution comes
 * to address: 0 or -errno. */
int perf_break_at(int fd, uint64_t address, uint64_t period, uint64_t sig_data);

/* Puts a BPF program on an event, for good: it decides which samples go on (bpf/gate.h). 0; -EEXIST
 * when it has one already; another -errno. */
int perf_set_gate(int fd, int program_fd);

/* The part of the kernel's siginfo that belongs to si_code PERF_TRAP_CODE
 * (include/uapi/asm-generic/siginfo.h); glibc before 2.38 does not declare it. */
struct perf_siginfo {
	int32_t signo;
	int32_t error;
	int32_t code;
	int32_t pad;
	uint64_t address;
	uint64_t data;
	uint32_t type;
	uint32_t flags;
};
_Static_assert(offsetof(struct perf_siginfo, data) == 24, "kernel layout of si_perf_data");

/* Meaningful only where si_code is PERF_TRAP_CODE. Inline: they run where nothing may be called
 * (attach/agent/handler/thread.h). */
static inline uint64_t perf_siginfo_data(const siginfo_t *info)
{
	return ((const struct perf_siginfo *)(const void *)info)->data;
}

static inline bool perf_siginfo_async(const siginfo_t *info)
{
	return ((const struct perf_siginfo *)(const void *)info)->flags & PERF_TRAP_FLAG_ASYNC;
}

#endif
