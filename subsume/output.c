#include "subsume/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/json.h"
#include "common/label.h"
#include "subsume/label.h"

/* ---------------------------------------------------------------- text */

/* Callers and patterns with less than this are not worth a line's room. */
#define SHOWN_FRACTION 0.01
#define SHOWN_STEPS    4u /* outwards */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double in_unit(const struct subsume_tree *t, uint64_t cost)
{
	return t->scale > 1 ? (double)cost / (double)t->scale : (double)cost;
}

static void write_label(FILE *out, const struct subsume_summary *s, uint32_t method)
{
	subsume_label_write(out, s->tree->methods[method].label);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Writes what the tree is, and how much of the program it may show. */
static void write_head(FILE *out, const struct subsume_summary *s)
{
	const struct subsume_tree *t = s->tree;
	const struct subsume_analysis *a = s->analysis;

	(void)fprintf(
	    out,
	    "Subsuming methods: %" PRIu32 " of %zu method%s, in %.1f%% of %zu calling context%s\n"
	    "More than %u call%s high, and no other method is always within %u call%s above.\n",
	    a->subsuming_methods, t->method_count, plural(t->method_count),
	    percent(a->subsuming_nodes, t->node_count), t->node_count, plural(t->node_count),
	    a->bounds.height, plural(a->bounds.height), a->bounds.distance,
	    plural(a->bounds.distance));
	if (t->samples > 0)
		(void)fprintf(
		    out,
		    "%" PRIu64 " sample%s, coverage %.1f%%: so many of further samples would come"
		    " where some have been.\nMore samples may show more methods that subsume;"
		    " they take none away.\n",
		    t->samples, plural(t->samples), 100 * s->coverage);
	if (t->truncated > 0 || t->truncated_samples > 0)
		(void)fprintf(out, "Left out: %.15g %s of stacks without their roots\n",
			      in_unit(t, t->truncated), t->unit);
}

static void write_parts(FILE *out, const struct subsume_summary *s, const char *what,
			const struct subsume_part *parts, unsigned count)
{
	for (unsigned i = 0; i < count && (i == 0 || parts[i].fraction >= SHOWN_FRACTION); i++) {
		(void)fprintf(out, "            %-10s %3.0f%%  ", i ? "" : what,
			      100 * parts[i].fraction);
		write_label(out, s, parts[i].method);
		(void)fputc('\n', out);
	}
}

/* The main caller itself is in the list of callers. */
static void write_path(FILE *out, const struct subsume_summary *s, const struct subsume_row *row)
{
	for (unsigned i = 1; i < row->caller_path_count && i < SHOWN_STEPS; i++) {
		(void)fprintf(out, "            %-10s %3.0f%%  ", i > 1 ? "" : "by way of",
			      100 * row->caller_path[i].fraction);
		for (unsigned indent = 1; indent < i; indent++)
			(void)fputs("  ", out);
		write_label(out, s, row->caller_path[i].method);
		(void)fputc('\n', out);
	}
}

/* Tells what a row's method is among the first by, of all methods. */
static const char *first_by(const struct subsume_row *row)
{
	if (!row->in_top_inclusive)
		return "own cost";
	return row->in_top_exclusive ? "own cost, and by inclusive cost" : "inclusive cost";
}

/* Why it subsumes, and what else would have shown it. */
static void write_reason(FILE *out, const struct subsume_summary *s, const struct subsume_row *row)
{
	const struct subsume_facts *f = row->facts;

	(void)fprintf(out, "            height %" PRIu32 ", ", f->height);
	if (f->distance > SUBSUME_DISTANCE_MAX) {
		(void)fprintf(out, "no method always within %u calls above", SUBSUME_DISTANCE_MAX);
	} else {
		(void)fprintf(out, "at most %" PRIu32 " calls below ", f->distance);
		write_label(out, s, f->dominator);
	}
	(void)fprintf(out, "; %" PRIu32 " context%s", f->occurrences, plural(f->occurrences));
	if (row->borderline)
		(void)fputs("; borderline", out);
	if (row->in_top_exclusive || row->in_top_inclusive)
		(void)fprintf(out, "\n            of all methods also among the first by %s",
			      first_by(row));
	(void)fputc('\n', out);
}

static bool is_in(const struct subsume_row *rows, size_t count, uint32_t method)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].method == method)
			return true;
	return false;
}

static void write_row(FILE *out, const struct subsume_summary *s, const struct subsume_row *row,
		      size_t rank)
{
	char interval[32] = "";

	if (row->sampled)
		(void)snprintf(interval, sizeof(interval), "%.1f to %.1f%%",
			       100 * row->induced_ci95[0], 100 * row->induced_ci95[1]);
	(void)fprintf(out, "%3zu. %7.1f%%  %-14s %8.1f%% %8.1f%%  ", rank, 100 * row->induced,
		      interval, 100 * row->inclusive, 100 * row->exclusive);
	write_label(out, s, row->method);
	(void)fputc('\n', out);
}

static void write_details(FILE *out, const struct subsume_summary *s, const struct subsume_row *row)
{
	if (row->method == 0) {
		(void)fputs("            what has no other method that subsumes above it\n", out);
		write_parts(out, s, "made of", row->pattern, row->pattern_count);
		return;
	}
	write_parts(out, s, "called by", row->callers, row->caller_count);
	write_path(out, s, row);
	write_parts(out, s, "made of", row->pattern, row->pattern_count);
	write_reason(out, s, row);
}

/* told: rows whose details stand in another list already. */
static void write_rows(FILE *out, const struct subsume_summary *s, const char *title,
		       const struct subsume_row *rows, size_t count, const struct subsume_row *told,
		       size_t told_count)
{
	(void)fprintf(out, "\n%s\n", title);
	if (count == 0) {
		(void)fputs("none\n", out);
		return;
	}
	(void)fprintf(out, "      induced  %-14s inclusive      own  method\n",
		      rows[0].sampled ? "95% interval" : "");
	for (size_t i = 0; i < count; i++) {
		write_row(out, s, &rows[i], i + 1);
		if (!is_in(told, told_count, rows[i].method))
			write_details(out, s, &rows[i]);
	}
}

void subsume_write_text(FILE *out, const struct subsume_summary *s)
{
	write_head(out, s);
	write_rows(
	    out, s,
	    "By induced cost: a method's own, and that of all it calls, up to the next method "
	    "that subsumes",
	    s->by_induced, s->by_induced_count, NULL, 0);
	write_rows(out, s,
		   "By inclusive cost: all that goes on below a method that subsumes; details that "
		   "stand above are left out",
		   s->by_inclusive, s->by_inclusive_count, s->by_induced, s->by_induced_count);
}

/* ---------------------------------------------------------------- JSON */

static json_t *count_json(uint64_t count)
{
	return json_integer((json_int_t)(count < INT64_MAX ? count : INT64_MAX));
}

/* Costs of whole numbers are integers. */
static json_t *cost_json(const struct subsume_tree *t, uint64_t cost)
{
	return t->scale > 1 ? json_real(in_unit(t, cost)) : count_json(cost);
}

static void put_label(json_t **object, const struct subsume_tree *tree, uint32_t method)
{
	struct label_parts p = subsume_label_parts(tree->methods[method].label);

	json_put(object, "class", json_stringn(p.class_name, p.class_length));
	json_put(object, "method", json_stringn(p.method, p.method_length));
	json_put(object, "descriptor", json_string(p.descriptor));
}

static json_t *label_json(const struct subsume_tree *tree, uint32_t method)
{
	json_t *object = json_object();

	put_label(&object, tree, method);
	return object;
}

static json_t *parts_json(const struct subsume_tree *tree, const struct subsume_part *parts,
			  unsigned count)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < count; i++) {
		json_t *part = label_json(tree, parts[i].method);

		json_put(&part, "fraction", json_real(parts[i].fraction));
		json_push(&array, part);
	}
	return array;
}

/* Both limits times scale; null where costs were counted, and are exact. */
static json_t *interval_json(const struct subsume_row *row, double scale)
{
	if (!row->sampled)
		return json_null();
	return json_interval(row->induced_ci95[0] * scale, row->induced_ci95[1] * scale);
}

static json_t *row_json(const struct subsume_summary *s, const struct subsume_row *row)
{
	const struct subsume_facts *f = row->facts;
	bool far = f->distance > SUBSUME_DISTANCE_MAX;
	json_t *object = json_object();

	put_label(&object, s->tree, row->method);
	json_put(&object, "induced", cost_json(s->tree, f->induced));
	json_put(&object, "induced_ci95", interval_json(row, in_unit(s->tree, s->analysis->total)));
	json_put(&object, "induced_fraction", json_real(row->induced));
	json_put(&object, "induced_fraction_ci95", interval_json(row, 1));
	json_put(&object, "inclusive", cost_json(s->tree, f->inclusive));
	json_put(&object, "inclusive_fraction", json_real(row->inclusive));
	json_put(&object, "exclusive", cost_json(s->tree, f->exclusive));
	json_put(&object, "exclusive_fraction", json_real(row->exclusive));
	json_put(&object, "height", json_integer(f->height));
	json_put(&object, "distance", json_integer(f->distance));
	json_put(&object, "distance_is_more", json_boolean(far));
	json_put(&object, "dominator",
		 far || row->method == 0 ? json_null() : label_json(s->tree, f->dominator));
	json_put(&object, "occurrences", json_integer(f->occurrences));
	json_put(&object, "borderline", json_boolean(row->borderline));
	json_put(&object, "callers", parts_json(s->tree, row->callers, row->caller_count));
	json_put(&object, "caller_path",
		 parts_json(s->tree, row->caller_path, row->caller_path_count));
	json_put(&object, "pattern", parts_json(s->tree, row->pattern, row->pattern_count));
	json_put(&object, "in_top_exclusive", json_boolean(row->in_top_exclusive));
	json_put(&object, "in_top_inclusive", json_boolean(row->in_top_inclusive));
	return object;
}

static json_t *rows_json(const struct subsume_summary *s, const struct subsume_row *rows,
			 size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_push(&array, row_json(s, &rows[i]));
	return array;
}

json_t *subsume_json(const struct subsume_summary *s)
{
	const struct subsume_tree *t = s->tree;
	const struct subsume_analysis *a = s->analysis;
	json_t *object = json_object(), *bounds = json_object();

	json_put(&bounds, "height", json_integer(a->bounds.height));
	json_put(&bounds, "distance", json_integer(a->bounds.distance));
	json_put(&object, "bounds", bounds);
	json_put(&object, "unit", json_string(t->unit));
	json_put(&object, "total", cost_json(t, a->total));
	json_put(&object, "nodes", count_json(t->node_count));
	json_put(&object, "methods", count_json(t->method_count));
	json_put(&object, "subsuming_methods", json_integer(a->subsuming_methods));
	json_put(&object, "subsuming_nodes", count_json(a->subsuming_nodes));
	json_put(&object, "samples", count_json(t->samples)); /* 0: costs were counted */
	json_put(&object, "coverage", json_real(s->coverage));
	json_put(&object, "truncated", cost_json(t, t->truncated));
	json_put(&object, "truncated_samples", count_json(t->truncated_samples));
	json_put(&object, "by_induced", rows_json(s, s->by_induced, s->by_induced_count));
	json_put(&object, "by_inclusive", rows_json(s, s->by_inclusive, s->by_inclusive_count));
	return object;
}

/* ---------------------------------------------------------------- the tree, for a page */

/* What has less is part of its caller. */
#define PAGE_PARTS 20000u

/* By node: the cost of it and all below it; to be freed, or NULL without memory. */
static uint64_t *inclusive_costs(const struct subsume_tree *t)
{
	uint64_t *costs = calloc(t->node_count + 1, sizeof(*costs));
	uint64_t below[SUBSUME_DEPTH_MAX + 2] = {0}; /* by depth: of the children seen so far */

	for (size_t n = t->node_count; costs && n-- > 0;) {
		unsigned depth = t->depth[n];

		costs[n] = t->cost[n] + below[depth + 1];
		below[depth + 1] = 0;
		below[depth] += costs[n];
	}
	return costs;
}

json_t *subsume_tree_json(const struct subsume_tree *t)
{
	_cleanup_free_ uint64_t *inclusive = inclusive_costs(t);
	json_t *labels = json_array(), *parents = json_array(), *methods = json_array();
	json_t *costs = json_array();
	uint64_t least, others = t->node_count > 0 ? t->cost[0] : 0;
	size_t path[SUBSUME_DEPTH_MAX + 1] = {0}; /* by depth: the number in the page */
	size_t count = 0;

	if (!inclusive || !labels)
		return json_unless(-1, labels);
	least = t->node_count > 0 ? inclusive[0] / PAGE_PARTS : 0;
	for (size_t m = 1; m < t->method_count; m++)
		labels = json_appended(labels, json_string(t->methods[m].label));
	for (size_t n = 1; n < t->node_count; n++) {
		unsigned depth = t->depth[n];
		size_t parent = path[depth - 1];

		if (inclusive[n] > least) {
			parents = json_appended(parents, count_json(parent));
			methods = json_appended(methods, json_integer(t->method[n]));
			costs = json_appended(costs, json_real(in_unit(t, t->cost[n])));
			path[depth] = ++count;
			continue;
		}
		/* All that is below it comes next, and is too little as well. */
		path[depth] = parent;
		if (parent == 0)
			others += t->cost[n];
		else
			(void)json_real_set(json_array_get(costs, parent - 1),
					    json_real_value(json_array_get(costs, parent - 1)) +
						in_unit(t, t->cost[n]));
	}
	if (others > 0) {
		labels = json_appended(labels, json_string("(others)"));
		parents = json_appended(parents, json_integer(0));
		methods = json_appended(methods, count_json(json_array_size(labels)));
		costs = json_appended(costs, json_real(in_unit(t, others)));
	}
	return json_pack("{s:o, s:o, s:o, s:[o]}", "methods", labels, "parent", parents, "method",
			 methods, "costs", costs);
}

/* ---------------------------------------------------------------- collapsed */

static void cleanup_builder(struct subsume_builder **b)
{
	subsume_builder_free(*b);
}

/* Each cost to the path of those above it that subsume, the virtual root left out. Several paths
 * may become one. numbers are those of the methods in the new tree. */
static int add_reduced(const struct subsume_summary *s, const uint32_t *numbers,
		       struct subsume_builder *b)
{
	const struct subsume_tree *t = s->tree;
	uint32_t path[SUBSUME_DEPTH_MAX];
	uint16_t lengths[SUBSUME_DEPTH_MAX + 1] = {0}; /* of path, at the node of that depth */
	int r = 0;

	for (size_t n = 0; n < t->node_count && r == 0; n++) {
		unsigned depth = t->depth[n];

		lengths[depth] = depth ? lengths[depth - 1] : 0;
		if (n > 0 && s->analysis->owner[n] == n)
			path[lengths[depth]++] = numbers[t->method[n]];
		if (t->cost[n] > 0)
			r = subsume_builder_add(b, path, lengths[depth], t->cost[n]);
	}
	return r;
}

/* A method by its label without the characters that separate fields: "a b" and "a_b" are two, which
 * what is behind the NUL says. */
static int plain_method(struct subsume_builder *b, const char *label, uint32_t *method)
{
	/* What is shown of a name may be longer than names may be. */
	size_t length = strnlen(label, SUBSUME_NAME_MAX);
	_cleanup_free_ char *name = malloc(2 * length + 1);

	if (!name)
		return -ENOMEM;
	for (size_t i = 0; i < length; i++)
		name[i] = label_in_stacks(label[i]);
	name[length] = '\0';
	memcpy(name + length + 1, label, length);
	/* One that has no room behind it is told from others by itself. */
	return subsume_builder_method(
	    b, name, 2 * length + 1 <= SUBSUME_NAME_MAX ? 2 * length + 1 : length, method);
}

static int reduce(const struct subsume_summary *s, struct subsume_tree *out)
{
	const struct subsume_tree *t = s->tree;
	_cleanup_(cleanup_builder) struct subsume_builder *b = subsume_builder_new();
	_cleanup_free_ uint32_t *numbers = calloc(t->method_count, sizeof(*numbers));
	int r = b && numbers ? 0 : -ENOMEM;

	for (size_t m = 1; m < t->method_count && r == 0; m++)
		if (s->analysis->methods[m].subsumes)
			r = plain_method(b, t->methods[m].label, &numbers[m]);
	if (r == 0)
		r = add_reduced(s, numbers, b);
	return r < 0 ? r : subsume_builder_finish(b, t->samples, t->unit, out);
}

/* "12", or, of a scale of ten or more, "12.5". */
static void write_cost(FILE *out, uint64_t scale, uint64_t cost)
{
	uint64_t rest = scale > 1 ? cost % scale : 0;

	(void)fprintf(out, "%" PRIu64, scale > 1 ? cost / scale : cost);
	if (rest > 0)
		(void)fputc('.', out);
	for (uint64_t place = scale / 10; rest > 0; rest %= place, place /= 10)
		(void)fputc('0' + (int)(rest / place), out);
	(void)fputc('\n', out);
}

int subsume_write_collapsed(FILE *out, const struct subsume_summary *s)
{
	uint32_t path[SUBSUME_DEPTH_MAX + 1];
	struct subsume_tree reduced = {0};
	int r = reduce(s, &reduced);

	for (size_t n = 0; n < reduced.node_count; n++) {
		unsigned depth = reduced.depth[n];

		path[depth] = reduced.method[n];
		if (reduced.cost[n] == 0)
			continue;
		/* The virtual root has a name only where it stands alone. */
		for (unsigned d = depth ? 1 : 0; d <= depth; d++) {
			(void)fputs(reduced.methods[path[d]].label, out);
			(void)fputc(d < depth ? ';' : ' ', out);
		}
		write_cost(out, s->tree->scale, reduced.cost[n]);
	}
	subsume_tree_release(&reduced);
	return r;
}
