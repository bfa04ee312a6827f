#include "daemon/profile/thread_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/utf8.h"
#include "daemon/container/hash.h"
#include "proto/limits.h"

void thread_table_release(struct thread_table *t)
{
	free(t->threads);
	hash_index_release(&t->index);
	*t = (struct thread_table){0};
}

int thread_table_copy(struct thread_table *to, const struct thread_table *from)
{
	*to = (struct thread_table){.count = from->count, .capacity = from->count};
	return array_copy(&to->threads, from->threads, from->count, sizeof(*from->threads));
}

size_t thread_table_memory_bytes(const struct thread_table *t)
{
	return t->capacity * sizeof(*t->threads) + t->index.capacity * sizeof(*t->index.slots);
}

static bool tid_matches(const void *table, uint32_t position, const void *key)
{
	const struct thread_table *t = table;

	return t->threads[position].tid == *(const uint32_t *)key;
}

static int find_or_add(struct thread_table *t, uint32_t tid, struct watched_thread **out)
{
	uint32_t hash = hash_ids(&tid, 1);
	uint32_t position;
	int r;

	if (hash_index_find(&t->index, hash, tid_matches, t, &tid, &position)) {
		*out = &t->threads[position];
		return 0;
	}
	if (t->count >= LIMIT_THREADS)
		return -ENOSPC;
	r = array_reserve(&t->threads, &t->capacity, t->count + 1, sizeof(*t->threads));
	if (r < 0)
		return r;
	r = hash_index_insert(&t->index, hash, (uint32_t)t->count);
	if (r < 0)
		return r;
	*out = &t->threads[t->count++];
	**out = (struct watched_thread){.tid = tid};
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
