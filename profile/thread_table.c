#include "profile/thread_table.h"

#include <assert.h>

#include "common/utf8.h"
#include "proto/limits.h"

static const struct column columns[] = {
    COLUMN(struct watched_thread, tid),
    COLUMN(struct watched_thread, name),
    COLUMN(struct watched_thread, ticks.samples),
    COLUMN(struct watched_thread, ticks.ns),
    COLUMN(struct watched_thread, kernel.samples),
    COLUMN(struct watched_thread, kernel.ns),
};

static bool thread_is_valid(const void *row)
{
	const struct watched_thread *thread = row;

	return cpu_sum_is_valid(&thread->ticks) && cpu_sum_is_valid(&thread->kernel);
}

static bool has_ticks(const void *row)
{
	const struct watched_thread *thread = row;

	return thread->ticks.samples > 0;
}

const struct table_layout watched_thread_layout = {
    TABLE_COLUMNS(columns),
    .row_size = sizeof(struct watched_thread),
    .key_words = 1,
    .limit = LIMIT_THREADS,
    .is_valid = thread_is_valid,
    .is_kept = has_ticks,
};

void thread_table_release(struct thread_table *t)
{
	row_table_release(&t->table);
}

static int find_or_add(struct thread_table *t, uint32_t tid, struct watched_thread **out)
{
	uint32_t position;
	int r = row_table_add(&t->table, &watched_thread_layout, &tid, &position);

	if (r < 0)
		return r;
	*out = &t->threads[position];
	return 0;
}

int thread_table_update(struct thread_table *t, uint32_t tid, const char *name, bool ended)
{
	struct watched_thread *thread;
	int r = find_or_add(t, tid, &thread);

	if (r < 0)
		return r;
	if (name[0])
		(void)utf8_sanitize(thread->name, sizeof(thread->name),
				    name); /* The cut is meant. */
	thread->ended = ended;
	if (ended)
		for (size_t i = 0; i < PERF_DEBUG_REGISTERS; i++)
			thread->registers[i] = (struct watched_register){0};
	return 0;
}

int thread_table_transition(struct thread_table *t, const struct event_transition *change)
{
	struct watched_register *reg;
	struct watched_thread *thread;
	int r;

	r = find_or_add(t, change->tid, &thread);
	if (r < 0)
		return r;
	if (change->reg == PERF_DEBUG_REGISTERS) {
		thread->traps++;
		return 0;
	}
	assert(change->reg < PERF_DEBUG_REGISTERS);
	reg = &thread->registers[change->reg];
	if (change->type == JXP__TRANSITION__TYPE__ARMED) {
		thread->armed++;
		*reg = (struct watched_register){.kind = (Jxp__Kind)change->kind,
						 .length_bytes = change->length,
						 .address = change->address,
						 .since_ns = change->time_ns};
		return 0;
	}
	if (change->type == JXP__TRANSITION__TYPE__TRAPPED)
		thread->traps++;
	*reg = (struct watched_register){0};
	return 0;
}

int thread_table_tick(struct thread_table *t, const struct event_tick *tick)
{
	const struct cpu_sum sum = {.samples = 1, .ns = (double)tick->cpu_ns};
	struct watched_thread *thread;
	int r = find_or_add(t, tick->tid, &thread);

	if (r < 0)
		return r;
	cpu_sum_add(&thread->ticks, &sum, 1);
	if (cpu_state_in_kernel((Jxp__CpuSample__State)tick->state))
		cpu_sum_add(&thread->kernel, &sum, 1);
	return 0;
}
