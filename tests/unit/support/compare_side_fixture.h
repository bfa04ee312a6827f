/*
 * Sides of a comparison that tests make by hand: contexts as texts, ticks of 5 ms.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_COMPARE_SIDE_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_COMPARE_SIDE_FIXTURE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare/side.h"

#define FIXTURE_TICK_NS 5e6
#define FIXTURE_NODES   256u
#define FIXTURE_BYTES   8.0

/* Of ten seconds, whose CPU time is so many ticks. */
static inline struct compare_side side_of(unsigned number, double ticks)
{
	struct compare_side s = {.pid = 4242,
				 .elapsed_s = 10,
				 .windows = 1,
				 .whole_ns = ticks * FIXTURE_TICK_NS,
				 .ticks = ticks};

	(void)snprintf(s.name, sizeof(s.name), "%u.json", number);
	(void)snprintf(s.id, sizeof(s.id), "w%u", number);
	(void)snprintf(s.app, sizeof(s.app), "org.example.Main");
	(void)snprintf(s.jdk, sizeof(s.jdk), "17.0.12+7");
	(void)snprintf(s.start, sizeof(s.start), "2026-11-21T08:00:0%u.000Z", number);
	s.methods = calloc(FIXTURE_NODES, sizeof(*s.methods));
	s.nodes = calloc(FIXTURE_NODES, sizeof(*s.nodes));
	s.waste = calloc(FIXTURE_NODES, sizeof(*s.waste));
	assert(s.methods && s.nodes && s.waste);
	return s;
}

static inline uint32_t side_method(struct compare_side *s, const char *name)
{
	for (uint32_t i = 0; i < s->method_count; i++)
		if (s->methods[i] && strcmp(s->methods[i], name) == 0)
			return i + 1;
	assert(s->method_count < FIXTURE_NODES);
	s->methods[s->method_count] = strdup(name);
	assert(s->methods[s->method_count]);
	return (uint32_t)++s->method_count;
}

/* Ticks in a context like "main run fill", outermost first. */
static inline void side_ticks(struct compare_side *s, const char *path, double ticks)
{
	char *copy = strdup(path), *rest = copy;
	uint32_t node = 0;

	if (path[0] == '[') { /* one of the JVM's own threads */
		s->nodes[s->node_count++] = (struct compare_node){
		    .method = side_method(s, path), .ns = ticks * FIXTURE_TICK_NS, .ticks = ticks};
		free(copy);
		return;
	}
	for (char *name = strsep(&rest, " "); name; name = strsep(&rest, " ")) {
		uint32_t method = side_method(s, name), at = 1;

		while (at <= s->node_count &&
		       (s->nodes[at - 1].parent != node || s->nodes[at - 1].method != method))
			at++;
		if (at > s->node_count) {
			assert(s->node_count < FIXTURE_NODES);
			s->nodes[s->node_count++] =
			    (struct compare_node){.parent = node, .method = method};
		}
		node = at;
	}
	s->nodes[node - 1].ticks += ticks;
	s->nodes[node - 1].ns += ticks * FIXTURE_TICK_NS;
	free(copy);
}

/* Pairs that stand for a tick or have 8 bytes each; they count for their kind, too. */
static inline void side_waste(struct compare_side *s, Jxp__Kind kind, const char *method,
			      const char *place, bool spill, double count)
{
	double one = s->unit == COMPARE_CPU ? FIXTURE_TICK_NS : FIXTURE_BYTES;
	struct compare_sums sums = {count * one, count * one * one, count};

	s->waste[s->waste_count++] = (struct compare_waste){.at = {.kind = kind,
								   .method = side_method(s, method),
								   .spill = spill,
								   .name = strdup(place)},
							    .sums = sums};
	s->kinds[kind].asked = true;
	compare_sums_add(&s->kinds[kind].sums, &sums);
}

/* Of a kind so many pairs were checked; no CPU time is known. */
static inline void side_checked(struct compare_side *s, Jxp__Kind kind, double count)
{
	s->unit = COMPARE_CHECKED;
	s->whole_ns = s->ticks = 0;
	s->kinds[kind].asked = true;
	s->kinds[kind].checked = (struct compare_sums){
	    count * FIXTURE_BYTES, count * FIXTURE_BYTES * FIXTURE_BYTES, count};
}

#endif
