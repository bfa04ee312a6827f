#include "attach/agent/handler/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/reserved.h"
#include "common/clock.h"
#include "common/perf/events.h"

#define SIG_DATA_MARK   UINT64_C(0x4a58) /* "JX" */
#define GENERATION_MASK 0xffffu

/* Global because a signal brings nothing but an entry's number. */
static struct thread *table;
/* Whose entries they are, 0 for none: looked through for one tid in handlers, so it is dense. */
static _Atomic pid_t tids[THREADS_MAX];
static unsigned in_use;       /* session thread alone */
static _Atomic unsigned used; /* written by the session thread, read in handlers too */

int threads_init(void)
{
	if (!table)
		table = reserve_memory(THREADS_MAX * sizeof(struct thread));
	return table ? 0 : -ENOMEM;
}

uint64_t thread_sig_data(const struct thread *t, unsigned role)
{
	uint64_t generation = atomic_load_explicit(&t->generation, memory_order_relaxed);

	return SIG_DATA_MARK << 48 | generation << 32 | (uint64_t)(t - table) << 8 | role;
}

bool thread_break_at(struct thread *t, unsigned i, uint64_t address, uint8_t *on)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	unsigned reg = t->burst_first + i;

	if (i >= *on)
		*on = (uint8_t)(i + 1);
	if (perf_break_at(t->register_fd[reg], address, 1,
			  thread_sig_data(t, THREAD_ROLE_REGISTER + reg)) == 0)
		return true;
	thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
	return false;
}

void thread_break_no_more(struct thread *t, unsigned i)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);

	if (perf_disable(t->register_fd[t->burst_first + i]) < 0)
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
}

void thread_stop_breaks(struct thread *t, uint8_t *on)
{
	for (unsigned i = 0; i < *on; i++)
		thread_break_no_more(t, i);
	*on = 0;
}

HANDLER_ENTRY uint64_t thread_process_sig_data(void)
{
	return SIG_DATA_MARK << 48 | UINT64_C(0xffffff) << 8 | THREAD_ROLE_PROCESS;
}

HANDLER_ENTRY bool thread_signal_is_ours(uint64_t sig_data)
{
	return sig_data >> 48 == SIG_DATA_MARK;
}

HANDLER_ENTRY struct thread *thread_of_signal(uint64_t sig_data, unsigned *role)
{
	uint32_t index = (uint32_t)(sig_data >> 8) & 0xffffffu;
	struct thread *t;

	if (!thread_signal_is_ours(sig_data) || index >= THREADS_MAX)
		return NULL;
	t = &table[index];
	if (atomic_load_explicit(&t->generation, memory_order_acquire) !=
	    ((sig_data >> 32) & GENERATION_MASK))
		return NULL;
	*role = (unsigned)(sig_data & 0xff);
	return t;
}

static void release_memory(struct thread *t)
{
	if (t->memory)
		(void)munmap(t->memory, t->memory_bytes); /* Our own mapping: cannot fail. */
	t->memory = NULL;
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		perf_ring_unmap(&t->sampling_ring[i]);
}

/* A handler that enters an abandoned entry from now on finds another generation. */
static bool is_vacant(const struct thread *t)
{
	uint32_t state = atomic_load(&t->state);

	return state == THREAD_FREE ||
	       (state == THREAD_ABANDONED && atomic_load(&t->in_handler) == 0);
}

struct thread *thread_take(pid_t tid)
{
	struct thread *t = NULL;

	for (unsigned i = 0; in_use < used && i < used && !t; i++)
		if (atomic_load_explicit(&tids[i], memory_order_relaxed) == 0 &&
		    is_vacant(&table[i]))
			t = &table[i];
	if (!t && used < THREADS_MAX)
		t = &table[atomic_fetch_add(&used, 1)];
	if (!t)
		return NULL;
	release_memory(t);
	in_use++;
	t->tid = tid;
	t->guest = 0;
	t->timer = -1;
	t->clock_on = false;
	for (unsigned i = 0; i < SAMPLING_EVENTS; i++)
		t->sampling_fd[i] = -1;
	memset(t->sampling_ring, 0, sizeof(t->sampling_ring));
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		t->register_fd[i] = -1;
	/* Classes have other numbers in each window. */
	memset(&t->places, 0, sizeof(t->places));
	t->epoch_in_java = false;
	t->announced = false;
	t->fd_reserved = false;
	t->short_of_fds = false;
	t->retry_ns = 0;
	t->access_register = -1;
	t->burst_first = t->burst_registers = 0;
	memset(&t->burst, 0, sizeof(t->burst));
	memset(&t->trace, 0, sizeof(t->trace));
	memset(t->traces_in_vain, 0, sizeof(t->traces_in_vain));
	memset(&t->reading, 0, sizeof(t->reading));
	memset(t->readings_in_vain, 0, sizeof(t->readings_in_vain));
	t->signal_traces = false;
	t->armed_since_ns = 0;
	memset(&t->ticks, 0, sizeof(t->ticks));
	memset(&t->phases, 0, sizeof(t->phases));
	t->phase_period = t->phase_after_ns = 0;
	memset(&t->sides, 0, sizeof(t->sides));
	t->side = CPU_UNKNOWN;
	t->stops = 0;
	t->kernel_owed_ns = 0;
	t->event_ns = 0;
	memset(&t->switching, 0, sizeof(t->switching));
	atomic_store(&t->switches_per_s, 0);
	atomic_store(&t->kernel_permille, 0);
	atomic_store(&t->timer_spent, false);
	atomic_store(&t->held, false);
	atomic_store(&t->registers, REGISTERS_NONE);
	memset(&t->slowdown, 0, sizeof(t->slowdown));
	patience_init(&t->patience);
	memset(t->burst_counts, 0, sizeof(t->burst_counts));
	t->stack_low = t->stack_high = 0;
	memset(t->watchpoints, 0, sizeof(t->watchpoints));
	memset((void *)t->counters, 0, sizeof(t->counters));
	random_seed(&t->random, clock_monotonic_ns() ^ (uint64_t)tid << 32);
	atomic_store(&t->nested, 0);
	atomic_store(&t->touched, 0);
	atomic_store(&t->ended, false);
	atomic_store(&t->generation, (atomic_load(&t->generation) + 1) & GENERATION_MASK);
	atomic_store(&t->state, THREAD_CLOCK);
	atomic_store(&tids[t - table], tid);
	return t;
}

void thread_lend(struct thread *t, pid_t tid)
{
	atomic_store(&t->generation, (atomic_load(&t->generation) + 1) & GENERATION_MASK);
	if (tid)
		t->tid = tid;
	atomic_store(&tids[t - table], tid);
}

HANDLER_ENTRY struct thread *thread_find(pid_t tid)
{
	unsigned end = atomic_load_explicit(&used, memory_order_acquire);

	for (unsigned i = 0; i < end; i++)
		if (atomic_load_explicit(&tids[i], memory_order_relaxed) == tid &&
		    thread_is_used(&table[i]) && !atomic_load(&table[i].ended))
			return &table[i];
	return NULL;
}

void threads_sweep(void)
{
	for (unsigned i = 0; i < used; i++) {
		struct thread *t = &table[i];
		uint64_t cpu_ns;

		if (thread_is_used(t) && !t->guest && !clock_thread_ns(t->tid, &cpu_ns))
			atomic_store(&t->ended, true);
	}
}

void thread_abandon(struct thread *t)
{
	/* Its handler goes on with memory and rings: neither is taken away or given to another
	 * thread. */
	atomic_store(&t->generation, (atomic_load(&t->generation) + 1) & GENERATION_MASK);
	atomic_store(&tids[t - table], 0);
	in_use--;
	atomic_store(&t->state, THREAD_ABANDONED);
}

void thread_recycle(struct thread *t)
{
	/* Late signals compare generations; taking the entry again changes it. */
	atomic_store(&t->generation, (atomic_load(&t->generation) + 1) & GENERATION_MASK);
	release_memory(t);
	atomic_store(&tids[t - table], 0);
	in_use--;
	atomic_store(&t->state, THREAD_FREE);
}

void thread_enter_epoch(struct thread *t, uint32_t epoch)
{
	if (t->epoch != epoch)
		place_forget(&t->places);
	t->epoch = epoch;
}

bool thread_hold(struct thread *t)
{
	/* Sequentially consistent with the handler, which enters first and looks after. */
	atomic_store(&t->held, true);
	if (atomic_load(&t->in_handler) == 0)
		return true;
	atomic_store(&t->held, false);
	return false;
}

void thread_let_go(struct thread *t)
{
	atomic_store(&t->held, false);
}

int thread_allocate(struct thread *t, unsigned max_frames)
{
	size_t bytes = sizeof(struct thread_memory);
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	t->memory = p;
	t->memory_bytes = bytes;
	t->max_frames = max_frames;
	ring_init(&t->memory->ring);
	return 0;
}

unsigned threads_in_use(void)
{
	return in_use;
}

unsigned threads_used(void)
{
	return used;
}

struct thread *thread_at(unsigned index)
{
	return &table[index];
}

void thread_record_all(struct thread *t, const struct record *records, uint32_t count)
{
	if (!ring_push_all(&t->memory->ring, records, count))
		thread_count(t, JXP__COUNTER__COUNTER_RING_FULL, count);
}

void thread_record(struct thread *t, const struct record *record)
{
	thread_record_all(t, record, 1);
}
