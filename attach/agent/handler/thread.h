/*
 * Per-thread state of a window, and the table of all of it.
 *
 * Ownership: the fields of a struct thread are written by three parties, each with its own block
 * below. The handler's block belongs to the thread itself, inside the SIGTRAP handler; one that
 * interrupts another does no more than add to nested and touched. The session thread owns opening,
 * closing and recycling; it touches the handler's block only while no event of the thread is open
 * and no handler of it runs.
 *
 * An event names its thread by table index and generation in sig_data, so a late signal of a
 * recycled entry is recognised and ignored.
 */
#ifndef JXPERF_AGENT_HANDLER_THREAD_H
#define JXPERF_AGENT_HANDLER_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/agent/handler/account.h"
#include "attach/agent/ticks/cpu_timer.h"
#include "attach/agent/handler/debug_register.h"
#include "attach/agent/slowdown/slowdown.h"
#include "attach/agent/slowdown/switching.h"
#include "attach/agent/record/ring.h"
#include "attach/agent/reservoir/patience.h"
#include "attach/agent/reservoir/reservoir.h"
#include "attach/agent/ticks/tick_plan.h"
#include "attach/agent/stack/stack.h"
#include "common/perf/events.h"
#include "common/perf/ring.h"
#include "common/random.h"
#include "proto/jxperf.pb-c.h"
#include "proto/limits.h"

#define THREADS_MAX 4096u

/* Sampling events of one thread. */
#define SAMPLING_EVENTS PERF_HARDWARE_EVENTS

/* Roles in sig_data; register i is THREAD_ROLE_REGISTER + i. All sampling events share one: the
 * handler looks at all of them. */
#define THREAD_ROLE_SAMPLING  0u
#define THREAD_ROLE_REGISTER  1u
#define THREAD_ROLE_PROCESS   14u /* no entry's: a tick of the process, in whoever runs */
#define THREAD_ROLE_CALIBRATE 15u

enum thread_state {
	THREAD_FREE,
	THREAD_CLOCK,     /* ticks only; no memory yet, so an idle thread costs little */
	THREAD_WANTED,    /* the handler saw Java code and asks for what samples take */
	THREAD_READY,     /* ring and frames allocated */
	THREAD_FAILED,    /* they could not be: ticks are ignored */
	THREAD_ABANDONED, /* not in use, but a handler may still run in it */
};

/* May samples of accesses be taken? That needs registers, which cost a thread something at each
 * context switch (attach/agent/window/holdings.h). */
enum thread_registers {
	REGISTERS_NONE,
	REGISTERS_ASKED, /* the handler asks for a phase */
	REGISTERS_LENT,  /* a phase: they are open for one sample, */
	REGISTERS_USED,  /* which was taken, */
	REGISTERS_DONE,  /* and is over */
	REGISTERS_HELD,  /* they are open until the thread does something else */
};

/* Memory of a thread that runs Java code; one mapping. */
struct thread_memory {
	struct ring ring;
	struct call calls[MAX_FRAMES_LIMIT]; /* scratch, for contexts */
	struct context_path last;
};

struct thread {
	/* Session thread; handlers read. */
	_Atomic uint32_t state;      /* enum thread_state; the handler moves CLOCK to WANTED */
	_Atomic uint32_t generation; /* 16 bits used */
	_Atomic bool ended;          /* the thread has */
	/* Its handlers return at once: the session thread changes what it has open (thread_hold).
	 */
	_Atomic bool held;
	_Atomic uint8_t registers; /* enum thread_registers; the handler moves it from NONE to
				    * ASKED, and from LENT to USED to DONE */
	pid_t tid;
	/* Above 0: the entry is lent to threads that have none, for a tick
	 * (attach/agent/window/guests.h). Constant while handlers may come; and what it stands for.
	 */
	unsigned guest;
	uint64_t guest_tick_ns;
	int timer;     /* on its CPU clock: what brings the clock sampler's ticks, unless */
	bool clock_on; /* the perf clock does, its one sampling event; or -1 */
	int sampling_fd[SAMPLING_EVENTS];                /* of the sampler */
	struct perf_ring sampling_ring[SAMPLING_EVENTS]; /* hardware samplers; the handler reads */
	int register_fd[PERF_DEBUG_REGISTERS];
	struct thread_memory *memory;
	size_t memory_bytes;
	unsigned max_frames; /* of a context, to MAX_FRAMES_LIMIT */
	uint64_t stack_low;  /* usable stack, [low, high); 0,0 when unknown */
	uint64_t stack_high;
	uint64_t period;      /* of its sampling events */
	bool announced;       /* its Thread message was sent */
	bool fd_reserved;     /* one register's descriptor is kept for it, not opened yet */
	bool short_of_fds;    /* it had fewer registers for that, and was counted */
	uint64_t retry_ns;    /* what could not be opened is not asked for again before */
	uint64_t settled_ns;  /* no record of an earlier time is to come */
	int access_register;  /* for finding accesses to objects, -1: none */
	unsigned burst_first; /* for bursts and traces: so many registers from this one on */
	unsigned burst_registers;
	uint64_t burst_counts[PERF_DEBUG_REGISTERS]; /* of their events when they were closed */
	/* Its phase: when it began, by the clock on the wall and the thread's, what that took the
	 * session thread, and what phases cost of late. */
	uint64_t phase_since_ns, phase_cpu_ns, phase_work_ns;
	double phase_cost_ns;

	/* Handler. */
	_Atomic uint32_t in_handler; /* handlers, one within the other */
	_Atomic uint32_t nested;     /* signals that came in a handler, and are to be counted */
	_Atomic uint32_t touched;    /* registers that they were about: bit per register */
	_Atomic uint64_t wanted_sp;  /* stack pointer at the transition to WANTED */
	struct random random;
	struct tick_plan ticks;
	struct tick_plan phases; /* likewise, where accesses are sampled in phases alone */
	uint64_t
	    phase_after_ns; /* none is asked for before that; session thread, while it is held */
	_Atomic uint64_t phase_period; /* of these; session thread */
	_Atomic bool timer_spent;      /* its timer fired and was not set again */
	struct cpu_sides sides;        /* when the timer last fired, */
	unsigned stops;                /* and so often in a row for no tick that is taken */
	enum cpu_side side;            /* where the tick that is handled found the thread */
	uint64_t kernel_owed_ns; /* CPU time in the kernel that no tick has told yet: perf clock */
	uint64_t event_ns; /* the period that its perf clock has, as far as the handler set it */
	struct switching switching;
	/* For the session thread: switches for each second of CPU time, and the part of that
	 * in the kernel, in thousandths. */
	_Atomic uint32_t switches_per_s, kernel_permille;
	struct reservoir reservoir;
	struct patience patience;
	struct slowdown slowdown;
	struct watchpoint watchpoints[PERF_DEBUG_REGISTERS];
	struct burst burst;
	struct trace trace;
	struct register_reading reading; /* one of the three at a time */
	/* Traces of instances, and of turns, that came to nothing, in a row; of a plan by its
	 * number, roughly. */
	uint8_t traces_in_vain[2][LIMIT_PLANS];
	uint8_t readings_in_vain[LIMIT_PLANS]; /* likewise */
	uint64_t signal_cpu_ns;     /* its CPU time when the signal that is handled came, */
	bool signal_traces;         /* which is of a trace or a reading */
	uint64_t armed_since_ns;    /* its CPU time at the last signal, if that left registers
				     * on; else 0 */
	struct place_memory places; /* of the epoch */
	uint32_t epoch;
	/* By the JVM's count, where epochs are told, and whether the thread ran Java code then. */
	uint32_t counted_epoch;
	bool epoch_in_java;
	struct account account; /* of the signal that is handled */

	/* Handler writes, session thread reads. */
	_Atomic uint64_t counters[JXP__COUNTER__COUNTER_MAX];
};

/*
 * The outermost code of the SIGTRAP handler: what runs while in_handler is still, or again, 0.
 *
 * A watched word that lies below the stack pointer is touched by the handler's own pushes, and the
 * handler that this brings about would take the touch for one of the application's. It sees by
 * in_handler that it is nested, or by the address of the interrupted instruction: so all of this
 * code is in one section, whose ends the linker names.
 */
#define HANDLER_ENTRY __attribute__((section("jxperf_entry")))

extern const char __start_jxperf_entry[] __attribute__((visibility("hidden")));
extern const char __stop_jxperf_entry[] __attribute__((visibility("hidden")));

static inline bool handler_entry_contains(uint64_t ip)
{
	return ip >= (uintptr_t)__start_jxperf_entry && ip < (uintptr_t)__stop_jxperf_entry;
}

static inline void thread_count(struct thread *t, Jxp__Counter counter, uint64_t n)
{
	/* One writer: no need for an atomic read-modify-write. */
	uint64_t old = atomic_load_explicit(&t->counters[counter], memory_order_relaxed);

	atomic_store_explicit(&t->counters[counter], old + n, memory_order_relaxed);
}

/* Does the entry stand for a thread that is profiled? */
static inline bool thread_is_used(const struct thread *t)
{
	uint32_t state = atomic_load(&t->state);

	return state != THREAD_FREE && state != THREAD_ABANDONED;
}

/* Reserves the table once per process. 0 or -ENOMEM. */
int threads_init(void);

/* The entry that sig_data names, or NULL when it is not ours or not current; *role is set with it.
 */
struct thread *thread_of_signal(uint64_t sig_data, unsigned *role);

/* True when sig_data has our mark at all, current or not. */
bool thread_signal_is_ours(uint64_t sig_data);

uint64_t thread_sig_data(const struct thread *t, unsigned role);

/* Of the registers that traces and readings have, the i-th breaks at address; *on becomes how
 * many may. False when it does not, which is counted. */
bool thread_break_at(struct thread *t, unsigned i, uint64_t address, uint8_t *on);
void thread_break_no_more(struct thread *t, unsigned i);

/* None of the first *on does any more. */
void thread_stop_breaks(struct thread *t, uint8_t *on);

/* Ticks of the process have this value. */
uint64_t thread_process_sig_data(void);

/* Session thread: a free entry for tid, prepared and with no event open, or NULL when the table is
 * full. */
struct thread *thread_take(pid_t tid);

/* An entry that is lent passes to the thread tid, or, 0, is nobody's: its tid stays that of the
 * last. Signals from before are late from now on. The caller alone has the entry, and no handler
 * works in it. */
void thread_lend(struct thread *t, pid_t tid);

/* What the entry remembers of another epoch is forgotten. Whoever has the entry alone, or its
 * handler. */
void thread_enter_epoch(struct thread *t, uint32_t epoch);

/* Session thread: keeps handlers of the thread from beginning their work, so that what it has open
 * and what handlers write can be changed. False, and nothing is held, while one is at work. Signals
 * that come meanwhile are lost: what their registers wait for is given up by the next handler, and
 * a timer that fired has to be set again. */
bool thread_hold(struct thread *t);
void thread_let_go(struct thread *t);

/* Session thread: an entry whose events are closed and whose ring was drained becomes free. */
void thread_recycle(struct thread *t);

/* The same for an entry whose handler did not return in time (its thread is stopped by a debugger,
 * say): entry, memory and rings stay as they are until it has returned. */
void thread_abandon(struct thread *t);

/* Allocates ring and frames. 0 or -ENOMEM. */
int thread_allocate(struct thread *t, unsigned max_frames);

/* The entry that stands for the thread now, or NULL. Any thread, and outermost code of the handler:
 * the answer may be old by the time it is used, the entry stays valid memory. */
struct thread *thread_find(pid_t tid);

/* Session thread: notes the ends of threads: their entries are to be retired. */
void threads_sweep(void);

/* Entries that are not free; session thread. */
unsigned threads_in_use(void);

/* Entries 0..threads_used() have been in use at some time of the process. */
unsigned threads_used(void);
struct thread *thread_at(unsigned index);

/* Pushes a record, counting it when the ring is full. Handler only. */
void thread_record(struct thread *t, const struct record *record);

/* The same of records that are of use only together. */
void thread_record_all(struct thread *t, const struct record *records, uint32_t count);

#endif
