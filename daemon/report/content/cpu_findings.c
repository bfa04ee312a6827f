#include "daemon/report/content/cpu_findings.h"

#include "daemon/profile/estimate.h"

double report_cpu_beside_ns(const struct window_result *w, double seen_ns)
{
	return seen_ns * estimate_fraction((double)window_result_elapsed_ns(w),
					   (double)w->cpu.beside.span_ns);
}

double report_cpu_whole_ns(const struct window_result *w)
{
	return cpu_profile_all(&w->cpu).ns + report_cpu_beside_ns(w, w->cpu.beside.gc_ns) +
	       report_cpu_beside_ns(w, w->cpu.beside.jit_ns);
}

/* What is in no context, though it has one. */
static double outside_contexts(const struct cpu_profile *p)
{
	double ns = cpu_profile_code(p).ns - p->truncated.ns;

	for (size_t i = 0; i < p->context_count; i++)
		ns -= cpu_context_sum(&p->contexts[i]).ns;
	return ns > 0 ? ns : 0;
}

int report_cpu_init(struct report_cpu *c, const struct window_result *w)
{
	const struct cpu_profile *p = &w->cpu;
	struct cpu_sum all = cpu_profile_all(p);
	double gc_ns = report_cpu_beside_ns(w, p->beside.gc_ns);
	double jit_ns = report_cpu_beside_ns(w, p->beside.jit_ns);
	double whole = report_cpu_whole_ns(w);

	*c = (struct report_cpu){0};
	if (!w->request.cpu || all.samples == 0)
		return 0;
	c->taken = true;
	c->beside_known = p->beside.span_ns > 0;
	c->samples = all.samples;
	c->whole_ns = whole;
	c->compiled = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__COMPILED].ns, whole);
	c->interpreted =
	    estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__INTERPRETED].ns, whole);
	c->native = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__NATIVE].ns, whole);
	c->no_java = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__NO_JAVA].ns, whole);
	c->unwalkable = estimate_fraction(p->states[JXP__CPU_SAMPLE__STATE__UNKNOWN].ns, whole);
	c->gc = estimate_fraction(gc_ns, whole);
	c->jit = estimate_fraction(jit_ns, whole);
	c->truncated = estimate_fraction(p->truncated.ns, whole);
	c->lost = estimate_fraction(outside_contexts(p), whole);
	return cpu_ranking_init(&c->ranking, w);
}

void report_cpu_release(struct report_cpu *c)
{
	cpu_ranking_release(&c->ranking);
	*c = (struct report_cpu){0};
}
