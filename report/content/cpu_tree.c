#include "report/content/cpu_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/label.h"
#include "compare/side.h"
#include "report/content/names.h"
#include "proto/limits.h"

/* Shown as other characters are that are not replaced, or shown for one that is. */
#define ALIKE " ,"

#define LABEL_BYTES (2 * LIMIT_STRING_BYTES + 2)

static void cleanup_builder(struct subsume_builder **b)
{
	subsume_builder_free(*b);
}
#define _cleanup_builder_ _cleanup_(cleanup_builder)

/* ---------------------------------------------------------------- names */

/* Without what separates frames and counts in collapsed stacks. */
static size_t append(char *label, size_t used, const char *text)
{
	for (; *text && used < LABEL_BYTES; text++)
		label[used++] = label_in_stacks(*text);
	return used;
}

static int name_method(struct subsume_builder *b, const struct profile *p, uint32_t id,
		       uint32_t *out)
{
	struct method_names names = method_names(p, id);
	char label[2 * LABEL_BYTES];
	size_t used;

	if (!names.class_name[0] && !names.name[0])
		return subsume_builder_method(b, METHOD_UNKNOWN, strlen(METHOD_UNKNOWN), out);
	used = append(label, 0, names.class_name);
	used = append(label, used, ".");
	used = append(label, used, names.name);
	/* "a b" and "a_b" would be one. */
	if (strpbrk(names.class_name, ALIKE) || strpbrk(names.name, ALIKE))
		used += (size_t)snprintf(label + used, sizeof(label) - used, "%c%s.%s", '\0',
					 names.class_name, names.name);
	return subsume_builder_method(b, label, used, out);
}

/* ---------------------------------------------------------------- stacks */

/* methods: by method of the profile, its number, or 0. */
static int add_context(struct subsume_builder *b, const struct profile *p,
		       const struct cpu_context *context, uint32_t *methods)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = cct_depth(&p->cct, context->node), at = depth;
	int r = 0;

	for (uint32_t id = context->node; id != 0 && r == 0; id = cct_node(&p->cct, id)->parent) {
		uint32_t method = cct_node(&p->cct, id)->method;

		if (!methods[method])
			r = name_method(b, p, method, &methods[method]);
		path[--at] = methods[method];
	}
	return r < 0 ? r : subsume_builder_add(b, path, depth, cpu_context_sum(context).samples);
}

/* As many ticks as that CPU time would have made. */
static int add_root(struct subsume_builder *b, const struct window_result *w, const char *name,
		    double seen_ns)
{
	double ticks = cpu_profile_ticks_of(&w->cpu, window_result_beside_ns(w, seen_ns));
	uint32_t method;
	int r;

	if (!(ticks >= 0.5))
		return 0;
	r = subsume_builder_method(b, name, strlen(name), &method);
	return r < 0
		   ? r
		   : subsume_builder_add(
			 b, &method, 1, ticks < 0x1p53 ? (uint64_t)rint(ticks) : UINT64_C(1) << 53);
}

static int add_all(struct subsume_builder *b, const struct window_result *w)
{
	const struct profile *p = &w->profile;
	_cleanup_free_ uint32_t *methods = calloc(p->cct.method_count + 1, sizeof(*methods));
	int r = methods ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->cpu.context_count && r == 0; i++)
		r = add_context(b, p, &w->cpu.contexts[i], methods);
	if (r == 0)
		r = add_root(b, w, COMPARE_GC, w->cpu.beside.gc_ns);
	if (r == 0)
		r = add_root(b, w, COMPARE_COMPILERS, w->cpu.beside.jit_ns);
	return r;
}

/* ---------------------------------------------------------------- in preorder */

/* The stack of one node, with methods numbered as they come. */
static int add_stack(struct subsume_builder *b, const struct subsume_tree *from,
		     const uint32_t *stack, size_t depth, uint64_t cost, uint32_t *methods)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	int r = 0;

	for (size_t i = 0; i < depth && r == 0; i++) {
		const char *label = from->methods[stack[i]].label;

		if (!methods[stack[i]])
			r = subsume_builder_method(b, label, strlen(label), &methods[stack[i]]);
		path[i] = methods[stack[i]];
	}
	return r < 0 ? r : subsume_builder_add(b, path, depth, cost);
}

static int add_in_order(struct subsume_builder *b, const struct subsume_tree *from,
			uint64_t *samples)
{
	_cleanup_free_ uint32_t *methods = calloc(from->method_count, sizeof(*methods));
	uint32_t stack[MAX_FRAMES_LIMIT];
	int r = methods ? 0 : -ENOMEM;

	for (size_t n = 1; n < from->node_count && r == 0; n++) {
		size_t depth = from->depth[n];

		stack[depth - 1] = from->method[n]; /* No path of a window is deeper. */
		if (from->cost[n] == 0)
			continue;
		*samples += from->cost[n];
		r = add_stack(b, from, stack, depth, from->cost[n], methods);
	}
	return r;
}

int cpu_tree_init(struct subsume_tree *tree, const struct window_result *w)
{
	_cleanup_builder_ struct subsume_builder *first = subsume_builder_new();
	_cleanup_builder_ struct subsume_builder *second = subsume_builder_new();
	_cleanup_(subsume_tree_release) struct subsume_tree any_order = {0};
	const struct cpu_sum *truncated = &w->cpu.truncated;
	uint64_t samples = 0;
	int r = first && second ? add_all(first, w) : -ENOMEM;

	if (r == 0)
		r = subsume_builder_finish(first, 0, "samples", &any_order);
	if (r == 0)
		r = add_in_order(second, &any_order, &samples);
	if (r < 0)
		return r;
	subsume_builder_truncated(second, truncated->samples, truncated->samples);
	return subsume_builder_finish(second, samples, "samples", tree);
}
