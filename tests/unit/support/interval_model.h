/*
 * An interval tree and beside it the simplest thing that does the same, a list that is searched
 * from end to end. Every operation is done on both and what they say is compared; what differs
 * aborts. For the unit test and the fuzzer.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_INTERVAL_MODEL_H
#define JXPERF_TESTS_UNIT_SUPPORT_INTERVAL_MODEL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/container/interval_tree.h"

struct model_interval {
	uint64_t start, last;
	uint32_t object, node;
	bool moving; /* out of the list while a batch is applied */
};

struct interval_model {
	struct interval_tree tree;
	struct model_interval *list;
	uint32_t count, limit, next_object;
	uint8_t *evictions; /* by object: as the tree reported less as the list says */
	uint32_t object_room;
};

#define MUST(condition)                                                                       \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)

static inline void model_on_evicted(void *context, uint32_t object)
{
	struct interval_model *m = context;

	MUST(object < m->next_object);
	m->evictions[object]++;
}

/* Objects are numbered as they are inserted, up to objects of them. */
static inline void model_init(struct interval_model *m, uint32_t limit, uint32_t objects)
{
	*m = (struct interval_model){.limit = limit, .object_room = objects};
	m->list = calloc((size_t)limit + 1, sizeof(*m->list));
	m->evictions = calloc((size_t)objects + 1, 1);
	MUST(m->list && m->evictions);
	interval_tree_init(&m->tree, limit, model_on_evicted, m);
}

static inline void model_release(struct interval_model *m)
{
	interval_tree_release(&m->tree);
	free(m->list);
	free(m->evictions);
}

static inline uint32_t model_find_node(const struct interval_model *m, uint32_t node)
{
	uint32_t i = 0;

	while (i < m->count && m->list[i].node != node)
		i++;
	return i;
}

static inline void model_drop(struct interval_model *m, uint32_t i)
{
	m->list[i] = m->list[--m->count];
}

static inline void model_evict_overlapped(struct interval_model *m, uint64_t start, uint64_t last)
{
	for (uint32_t i = m->count; i-- > 0;)
		if (!m->list[i].moving && start <= m->list[i].last && m->list[i].start <= last) {
			m->evictions[m->list[i].object]--;
			model_drop(m, i);
		}
}

/* The evictions are the same and the counts are; the cheap part of model_check. */
static inline void model_check_evictions(const struct interval_model *m)
{
	MUST(m->tree.count == m->count);
	for (uint32_t i = 0; i < m->next_object; i++)
		MUST(m->evictions[i] == 0);
}

/* The tree's own invariants, and that it holds exactly what the list does. Returns the depth. */
static inline uint32_t model_check(const struct interval_model *m)
{
	const struct interval_node *nodes = m->tree.nodes, *n;
	struct {
		uint32_t node, depth;
	} *stack = calloc((size_t)m->count + 2, sizeof(*stack));
	uint32_t at = m->tree.root, depth = 0, deepest = 0, top = 0, seen = 0, unused = 0;
	const struct interval_node *previous = NULL;

	MUST(stack != NULL);
	while (at != INTERVAL_NONE || top > 0) {
		for (; at != INTERVAL_NONE; at = nodes[at].left) {
			MUST(top <= m->count && at <= m->tree.used && at < m->tree.capacity);
			stack[top].node = at;
			stack[top++].depth = ++depth;
		}
		n = &nodes[stack[--top].node];
		depth = stack[top].depth;
		deepest = depth > deepest ? depth : deepest;
		MUST(++seen <= m->count);
		MUST(n->start <= n->last && (!previous || previous->last < n->start));
		/* What a node says of the gap behind it is no more than the gap. */
		MUST(!previous || previous->state <= n->start - previous->last - 1);
		MUST(n->state <= INT32_MAX && n->last + n->state >= n->last);
		previous = n;
		at = n->right;
	}
	free(stack);
	for (at = m->tree.free; at != INTERVAL_NONE; at = nodes[at].left) {
		MUST(++unused <= m->tree.used);
		MUST(nodes[at].state == UINT32_MAX); /* It is not handed out. */
	}
	MUST(seen == m->count && seen + unused == m->tree.used);
	MUST(m->tree.count <= m->limit && m->tree.capacity <= (uint64_t)m->limit + 1);
	for (uint32_t i = 0; i < m->count; i++) {
		MUST(m->list[i].node <= m->tree.used);
		n = &nodes[m->list[i].node];
		MUST(n->object == m->list[i].object && n->start == m->list[i].start &&
		     n->last == m->list[i].last);
	}
	model_check_evictions(m);
	return deepest;
}

/* Returns what interval_tree_insert does; the object gets the next number. */
static inline int model_insert(struct interval_model *m, uint64_t start, uint64_t size)
{
	uint32_t object = m->next_object, node = 12345;
	uint64_t last = start + size - 1;
	int r;

	MUST(object < m->object_room);
	m->next_object++;
	r = interval_tree_insert(&m->tree, start, size, object, &node);
	if (size == 0 || last < start) {
		MUST(r == -EINVAL && node == 12345);
		return r;
	}
	model_evict_overlapped(m, start, last);
	if (m->count == m->limit) {
		MUST(r == -ENOSPC && node == 12345);
		return r;
	}
	MUST(r == 0 && model_find_node(m, node) == m->count);
	m->list[m->count++] =
	    (struct model_interval){.start = start, .last = last, .object = object, .node = node};
	return 0;
}

static inline void model_remove(struct interval_model *m, uint32_t node)
{
	uint32_t i = model_find_node(m, node);
	int r = interval_tree_remove(&m->tree, node);

	MUST(r == (i < m->count ? 0 : -ENOENT));
	if (i < m->count)
		model_drop(m, i);
}

/* Whether an interval contains the address. */
static inline bool model_stab(struct interval_model *m, uint64_t address)
{
	const struct interval_node *n = interval_tree_stab(&m->tree, address);
	uint32_t i = 0;

	while (i < m->count && (address < m->list[i].start || address > m->list[i].last))
		i++;
	MUST((n != NULL) == (i < m->count));
	MUST(!n || (n->object == m->list[i].object && n->start == m->list[i].start &&
		    n->last == m->list[i].last));
	/* What was noted is the same answer. */
	MUST(interval_tree_stab(&m->tree, address) == n);
	return n != NULL;
}

static inline bool model_moves_again(const struct interval_move *moves, uint32_t count, uint32_t i)
{
	for (uint32_t j = i + 1; j < count; j++)
		if (moves[j].node == moves[i].node)
			return true;
	return false;
}

static inline void model_relocate(struct interval_model *m, const struct interval_move *moves,
				  uint32_t move_count, const uint32_t *dead, uint32_t dead_count)
{
	uint32_t at;

	interval_tree_relocate(&m->tree, moves, move_count, dead, dead_count);
	for (uint32_t i = 0; i < dead_count; i++) {
		at = model_find_node(m, dead[i]);
		if (at < m->count)
			model_drop(m, at);
	}
	for (uint32_t i = 0; i < move_count; i++) {
		at = model_find_node(m, moves[i].node);
		if (at < m->count)
			m->list[at].moving = true;
	}
	for (uint32_t i = 0; i < move_count; i++) {
		uint64_t start = moves[i].start, last;

		at = model_find_node(m, moves[i].node);
		if (at == m->count || model_moves_again(moves, move_count, i))
			continue;
		last = start + (m->list[at].last - m->list[at].start);
		if (last < start) {
			m->evictions[m->list[at].object]--;
			model_drop(m, at);
			continue;
		}
		model_evict_overlapped(m, start, last);
		at = model_find_node(m, moves[i].node);
		m->list[at].start = start;
		m->list[at].last = last;
		m->list[at].moving = false;
	}
}

#endif
