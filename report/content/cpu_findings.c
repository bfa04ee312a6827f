#include "report/content/cpu_findings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "profile/estimate.h"

/* ---------------------------------------------------------------- order */

static int compare_sums(const struct cpu_sum *a, const struct cpu_sum *b)
{
	return ORDER(DESCENDING(a->ns, b->ns), DESCENDING(a->samples, b->samples));
}

static int compare_own(const void *a, const void *b)
{
	const struct ranked_method *x = a, *y = b;

	return ORDER(compare_sums(&x->own, &y->own), ASCENDING(x->method, y->method));
}

static int compare_total(const void *a, const void *b)
{
	const struct ranked_method *x = a, *y = b;

	return ORDER(compare_sums(&x->total, &y->total), ASCENDING(x->method, y->method));
}

static int compare_contexts(const void *a, const void *b)
{
	const struct cpu_context *x = a, *y = b;
	struct cpu_sum x_sum = cpu_context_sum(x), y_sum = cpu_context_sum(y);

	return ORDER(compare_sums(&x_sum, &y_sum), ASCENDING(x->node, y->node));
}

/* ---------------------------------------------------------------- methods */

/* seen: by method, the last context that was counted for its total. */
static void count_context(const struct cct *t, const struct cpu_context *context, uint32_t number,
			  struct ranked_method *methods, uint32_t *seen)
{
	struct cpu_sum sum = cpu_context_sum(context);

	cpu_sum_add(&methods[cct_node(t, context->node)->method].own, &sum, 1);
	for (uint32_t id = context->node; id != 0; id = cct_node(t, id)->parent) {
		uint32_t method = cct_node(t, id)->method;

		if (seen[method] == number)
			continue;
		seen[method] = number;
		cpu_sum_add(&methods[method].total, &sum, 1);
	}
}

/* Only those with ticks stay, in the order of compare. */
static size_t rank(struct ranked_method *methods, size_t count, bool own,
		   int (*compare)(const void *, const void *))
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if ((own ? methods[i].own.samples : methods[i].total.samples) > 0)
			methods[kept++] = methods[i];
	if (kept > 0)
		qsort(methods, kept, sizeof(*methods), compare);
	return kept;
}

static int rank_methods(struct cpu_ranking *r, const struct window_result *w)
{
	const struct cct *t = &w->profile.cct;
	size_t count = t->method_count + 1;
	_cleanup_free_ uint32_t *seen = calloc(count, sizeof(*seen));

	r->by_total = calloc(count, sizeof(*r->by_total));
	if (!seen || !r->by_total)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		r->by_total[i].method = (uint32_t)i;
	for (size_t i = 0; i < w->cpu.context_count; i++)
		count_context(t, &w->cpu.contexts[i], (uint32_t)i + 1, r->by_total, seen);
	if (array_copy(&r->by_own, r->by_total, count, sizeof(*r->by_own)) < 0)
		return -ENOMEM;
	r->by_own_count = rank(r->by_own, count, true, compare_own);
	r->by_total_count = rank(r->by_total, count, false, compare_total);
	return 0;
}

/* ---------------------------------------------------------------- contexts */

static int rank_contexts(struct cpu_ranking *r, const struct window_result *w)
{
	_cleanup_(cpu_profile_release) struct cpu_profile sums = {0};
	_cleanup_free_ uint32_t *paths = NULL;
	int error = cct_paths(&w->profile.cct, &paths);

	for (size_t i = 0; i < w->cpu.context_count && error == 0; i++) {
		struct cpu_context context = w->cpu.contexts[i];

		context.node = paths[context.node];
		error = cpu_profile_add_context(&sums, &context, 1);
	}
	if (error < 0)
		return error;
	r->contexts = TAKE_PTR(sums.contexts);
	r->context_count = sums.context_count;
	if (r->context_count > 0)
		qsort(r->contexts, r->context_count, sizeof(*r->contexts), compare_contexts);
	return 0;
}

/* ---------------------------------------------------------------- threads */

static int compare_threads(const void *a, const void *b)
{
	const struct watched_thread *x = a, *y = b;

	return ORDER(compare_sums(&x->ticks, &y->ticks), ASCENDING(x->tid, y->tid));
}

/* Only those with ticks, without what was ours of their time in the kernel: it is no part of the
 * whole. Nobody knows whose of it was, so each has the part that it has of all time there. */
static int rank_threads(struct cpu_ranking *r, const struct window_result *w)
{
	const struct thread_table *t = &w->threads;
	double taken =
	    estimate_fraction(window_result_kernel_taken_ns(w), cpu_profile_kernel(&w->cpu).ns);

	r->threads = calloc(t->count + 1, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		struct watched_thread *thread = &r->threads[r->thread_count];

		if (t->threads[i].ticks.samples == 0)
			continue;
		*thread = t->threads[i];
		thread->ticks.ns -= taken * thread->kernel.ns;
		thread->kernel.ns -= taken * thread->kernel.ns;
		r->thread_count++;
	}
	qsort(r->threads, r->thread_count, sizeof(*r->threads), compare_threads);
	return 0;
}

static int cpu_ranking_init(struct cpu_ranking *r, const struct window_result *w)
{
	int error;

	*r = (struct cpu_ranking){0};
	error = rank_methods(r, w);
	if (error == 0)
		error = rank_contexts(r, w);
	if (error == 0)
		error = rank_threads(r, w);
	return error;
}

/* ---------------------------------------------------------------- the whole */

int report_cpu_init(struct report_cpu *c, const struct window_result *w)
{
	const struct cpu_profile *p = &w->cpu;
	struct cpu_sum all = cpu_profile_all(p);
	double gc_ns = window_result_beside_ns(w, p->beside.gc_ns);
	double jit_ns = window_result_beside_ns(w, p->beside.jit_ns);
	double whole = window_result_whole_ns(w), taken = window_result_kernel_taken_ns(w);
	int r;

	*c = (struct report_cpu){0};
	if (!w->request.kinds[JXP__KIND__KIND_CPU] || all.samples == 0)
		return 0;
	c->taken = true;
	c->beside_known = p->beside.span_ns > 0;
	c->samples = all.samples;
	c->whole_ns = whole;
	c->whole_s = window_result_whole_s(w);
	c->compiled = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__COMPILED].ns, whole);
	c->interpreted =
	    estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__INTERPRETED].ns, whole);
	c->native = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__NATIVE].ns, whole);
	c->kernel = estimate_fraction(cpu_profile_kernel(p).ns - taken, whole);
	c->no_java = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__NO_JAVA].ns, whole);
	c->unwalkable = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__UNKNOWN].ns, whole);
	c->gc = estimate_fraction(gc_ns, whole);
	c->jit = estimate_fraction(jit_ns, whole);
	c->other = estimate_fraction(fmax(whole - (all.ns - taken) - gc_ns - jit_ns, 0), whole);
	c->truncated = estimate_fraction(p->truncated.ns, whole);
	c->lost = estimate_fraction(window_result_outside_ns(w), whole);
	r = cpu_ranking_init(&c->ranking, w);
	if (r < 0)
		report_cpu_release(c);
	return r;
}

void report_cpu_release(struct report_cpu *c)
{
	free(c->ranking.by_own);
	free(c->ranking.by_total);
	free(c->ranking.contexts);
	free(c->ranking.threads);
	*c = (struct report_cpu){0};
}
