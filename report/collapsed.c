/* Collapsed stacks, one line a pair, as flame graph tools read them: the kind, the first access's
 * path root first, its instruction behind the leaf, "--", the second access's path, then wasteful
 * bytes. For objects one line a site: "objects", the allocation's path, the class, then what
 * accesses to its objects cost, in the unit of the metric. For ticks (kind cpu) one line a stack:
 * "cpu", the path by method, how many ticks; without that first frame where they are all that there
 * is, so that others read them as they read any profile. */
#include "report/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/label.h"
#include "report/content/names.h"
#include "proto/limits.h"
#include "subsume/output.h"

/* Writes text with the characters that separate fields replaced. Stops, as all loops here do, when
 * the report has become too long. */
static void plain(FILE *out, const char *text)
{
	for (; *text && !ferror_unlocked(out); text++)
		fputc_unlocked(label_in_stacks(*text), out);
}

static void frame(FILE *out, const struct profile *p, uint32_t id)
{
	struct method_names names = frame_names(p, id);

	if (!names.known) {
		fputs(METHOD_UNKNOWN, out);
		return;
	}
	plain(out, names.class_name);
	fputc('.', out);
	plain(out, names.name);
}

static void path(FILE *out, const struct profile *p, uint32_t leaf)
{
	uint32_t nodes[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		nodes[depth++] = id; /* The tree admits no deeper path. */
	if (depth == 0)
		fputs(";" METHOD_UNKNOWN, out);
	while (depth > 0 && !ferror(out)) {
		fputc(';', out);
		frame(out, p, nodes[--depth]);
	}
}

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction)
{
	path(out, p, leaf);
	fputs("_[", out);
	plain(out, strings_get(&p->strings, instruction));
	fputc(']', out);
}

static void kind_lines(FILE *out, const struct profile *p, const struct report_kind *k,
		       size_t limit)
{
	for (size_t i = 0; i < k->pairs.count && i < limit && !ferror(out); i++) {
		const struct pair *pair = &k->pairs.pairs[i].sum;

		fputs(k->kind->name, out);
		access_path(out, p, pair->watch_node, pair->watch_instruction);
		fputs(";--", out);
		access_path(out, p, pair->trap_node, pair->trap_instruction);
		fprintf(out, " %" PRIu64 "\n", pair->wasteful_bytes);
	}
}

/* Sites that nothing was seen to access have no width. */
static void object_lines(FILE *out, const struct profile *p, const struct object_ranking *ranking,
			 size_t limit)
{
	for (size_t i = 0; i < ranking->count && i < limit && !ferror(out); i++) {
		const struct object_site *site = &ranking->sites[i].sum;

		if (site->metric < 0.5)
			break;
		fputs("objects", out);
		path(out, p, site->node);
		fputs(";[", out);
		plain(out, strings_get(&p->strings, site->class_name));
		fprintf(out, "] %.0f\n", site->metric);
	}
}

static int compare_costs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return DESCENDING(x, y);
}

/* Tells what a stack has to have at least to be among limit of them. 0 or -ENOMEM. */
static int least_cost(const struct subsume_tree *tree, size_t limit, uint64_t *least)
{
	_cleanup_free_ uint64_t *costs = NULL;

	*least = 1;
	if (limit >= tree->node_count)
		return 0;
	if (limit == 0) {
		*least = UINT64_MAX;
		return 0;
	}
	costs = malloc(tree->node_count * sizeof(*costs));
	if (!costs)
		return -ENOMEM;
	memcpy(costs, tree->cost, tree->node_count * sizeof(*costs));
	qsort(costs, tree->node_count, sizeof(*costs), compare_costs);
	if (costs[limit - 1] > 1)
		*least = costs[limit - 1];
	return 0;
}

/* In preorder: who reads them again makes the same tree (report/content/cpu_tree.h). */
static int tick_lines(FILE *out, const struct subsume_tree *tree, const char *first, size_t limit)
{
	uint32_t stack[MAX_FRAMES_LIMIT];
	uint64_t least;
	size_t listed = 0;
	int r = least_cost(tree, limit, &least);

	for (size_t n = 1; n < tree->node_count && r == 0 && listed < limit && !ferror(out); n++) {
		size_t depth = tree->depth[n];
		const char *before = first;

		stack[depth - 1] = tree->method[n]; /* No path of a window is deeper. */
		if (tree->cost[n] < least)
			continue;
		for (size_t i = 0; i < depth; i++) {
			fprintf(out, "%s%s", before, tree->methods[stack[i]].label);
			before = ";";
		}
		fprintf(out, " %" PRIu64 "\n", tree->cost[n]);
		listed++;
	}
	return r;
}

/* Does the report have ticks alone? */
static bool only_ticks(const struct report_model *m)
{
	return m->shown.contexts || window_result_profiles_cpu_alone(m->window);
}

int report_collapsed_write(FILE *out, const struct report_model *m, size_t pairs)
{
	const struct profile *p = &m->window->profile;

	for (size_t i = 0; i < m->kind_count && m->shown.pairs; i++)
		kind_lines(out, p, &m->kinds[i], pairs);
	object_lines(out, p, &m->objects.ranking, pairs);
	if (m->subsuming.analysed)
		return subsume_write_collapsed(out, &m->subsuming.summary);
	if (!m->subsuming.made)
		return 0;
	return tick_lines(out, &m->subsuming.tree, only_ticks(m) ? "" : "cpu;", pairs);
}
