#include "attach/agent/method/method_table.h"

#include <errno.h>

#include "attach/agent/code/reserved.h"
#include "common/mix.h"

/* A probe sequence longer than this means that the table is as good as full. */
#define MAX_PROBES 64u

static struct method_table *the_table;

int method_table_init(void)
{
	if (!the_table)
		the_table = reserve_memory(METHOD_TABLE_BYTES);
	if (!the_table)
		return -ENOMEM;
	method_table_release();
	return 0;
}

struct method_table *method_table(void)
{
	return the_table;
}

void method_table_release(void)
{
	empty_memory(the_table, METHOD_TABLE_BYTES);
}

static _Atomic uint32_t *slot_of(struct method_table *t, uint64_t method, unsigned probe)
{
	return &t->slots[(mix(method) + probe) % METHOD_SLOTS];
}

static struct known_method *known(struct method_table *t, uint32_t number)
{
	return &t->methods[number - 1];
}

/* One that was looked at in this epoch. */
static uint32_t find_in_epoch(struct method_table *t, uint64_t method, uint32_t epoch)
{
	for (unsigned i = 0; i < MAX_PROBES; i++) {
		uint32_t number = atomic_load_explicit(slot_of(t, method, i), memory_order_acquire);

		if (!number)
			break;
		if (known(t, number)->method == method &&
		    atomic_load_explicit(&known(t, number)->epoch, memory_order_relaxed) == epoch)
			return number;
	}
	return 0;
}

/* One that was looked at in another epoch. */
static uint32_t find(struct method_table *t, const struct method_layout *layout, uint64_t method)
{
	for (unsigned i = 0; i < MAX_PROBES; i++) {
		uint32_t number = atomic_load_explicit(slot_of(t, method, i), memory_order_acquire);

		if (!number)
			break;
		if (known(t, number)->method == method &&
		    method_is_still(layout, method_of_number(t, number)))
			return number;
	}
	return 0;
}

/* One that is what was copied. */
static uint32_t find_same(struct method_table *t, const struct method_copy *copy)
{
	for (unsigned i = 0; i < MAX_PROBES; i++) {
		uint32_t number =
		    atomic_load_explicit(slot_of(t, copy->look.method, i), memory_order_acquire);

		if (!number)
			break;
		if (method_copies_are_same(method_of_number(t, number), copy))
			return number;
	}
	return 0;
}

/* The first of so many that are taken; max when there are not so many left. */
static uint32_t take(_Atomic uint32_t *used, uint32_t count, uint32_t max)
{
	uint32_t first = atomic_load_explicit(used, memory_order_relaxed);

	do {
		if (count > max - first)
			return max;
	} while (!atomic_compare_exchange_weak_explicit(
	    used, &first, first + count, memory_order_acquire, memory_order_relaxed));
	return first;
}

/* Where nobody took any behind them. Whoever takes them next writes there after what was read. */
static void untake(_Atomic uint32_t *used, uint32_t first, uint32_t count)
{
	uint32_t end = first + count;

	(void)atomic_compare_exchange_strong_explicit(used, &end, first, memory_order_release,
						      memory_order_relaxed);
}

/* Makes a number be found; the one that is, where another thread was first. 0: no slot is left. */
static uint32_t publish(struct method_table *t, uint32_t number)
{
	const struct method_copy *copy = method_of_number(t, number);

	for (unsigned i = 0; i < MAX_PROBES; i++) {
		_Atomic uint32_t *slot = slot_of(t, copy->look.method, i);
		uint32_t there = 0;

		if (atomic_compare_exchange_strong_explicit(
			slot, &there, number, memory_order_acq_rel, memory_order_acquire))
			return number;
		if (method_copies_are_same(method_of_number(t, there), copy))
			return there;
	}
	return 0;
}

static uint32_t count_full(struct method_table *t)
{
	atomic_fetch_add_explicit(&t->full, 1, memory_order_relaxed);
	return 0;
}

static uint32_t count_unread(struct method_table *t)
{
	atomic_fetch_add_explicit(&t->unread, 1, memory_order_relaxed);
	return 0;
}

/* Gives a copy a number. */
static uint32_t add_copy(struct method_table *t, uint64_t method, uint32_t copy, uint32_t epoch)
{
	uint32_t index = take(&t->count, 1, METHODS_MAX), number;

	if (index == METHODS_MAX)
		return count_full(t);
	t->methods[index].method = method;
	t->methods[index].copy = copy;
	atomic_store_explicit(&t->methods[index].epoch, epoch, memory_order_relaxed);
	number = publish(t, index + 1);
	return number ? number : count_full(t);
}

static uint32_t add(struct method_table *t, const struct method_layout *layout,
		    const struct method_look *look, uint32_t epoch)
{
	uint32_t words =
	    (uint32_t)((method_copy_bytes(look) + sizeof(t->arena[0]) - 1) / sizeof(t->arena[0]));
	uint32_t at = take(&t->used, words, METHOD_ARENA_WORDS), number;

	if (at == METHOD_ARENA_WORDS)
		return count_full(t);
	if (!method_copy(layout, look, (struct method_copy *)&t->arena[at])) {
		untake(&t->used, at, words);
		return count_unread(t);
	}
	number = find_same(t, (const struct method_copy *)&t->arena[at]);
	if (number) {
		untake(&t->used, at, words);
		return number;
	}
	number = add_copy(t, look->method, at, epoch);
	if (!number)
		untake(&t->used, at, words);
	return number;
}

uint32_t method_number(struct method_table *t, const struct method_layout *layout, uint64_t method,
		       uint32_t epoch)
{
	uint32_t number = epoch ? find_in_epoch(t, method, epoch) : 0;
	struct method_look look;

	if (number)
		return number;
	number = find(t, layout, method);
	if (number) {
		atomic_store_explicit(&known(t, number)->epoch, epoch, memory_order_relaxed);
		return number;
	}
	return method_look(layout, method, &look) ? add(t, layout, &look, epoch) : count_unread(t);
}

void method_set_compiled(struct method_table *t, uint32_t number)
{
	atomic_store_explicit(&known(t, number)->compiled, true, memory_order_relaxed);
}

bool method_is_compiled(const struct method_table *t, uint32_t number)
{
	return atomic_load_explicit(&t->methods[number - 1].compiled, memory_order_relaxed);
}

const struct method_copy *method_of_number(const struct method_table *t, uint32_t number)
{
	return (const struct method_copy *)&t->arena[t->methods[number - 1].copy];
}
