#include "daemon/report/content/cpu_findings.h"

#include <math.h>

#include "daemon/profile/estimate.h"

int report_cpu_init(struct report_cpu *c, const struct window_result *w)
{
	const struct cpu_profile *p = &w->cpu;
	struct cpu_sum all = cpu_profile_all(p);
	double gc_ns = window_result_beside_ns(w, p->beside.gc_ns);
	double jit_ns = window_result_beside_ns(w, p->beside.jit_ns);
	double whole = window_result_whole_ns(w), taken = window_result_kernel_taken_ns(w);

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
	return cpu_ranking_init(&c->ranking, w);
}

void report_cpu_release(struct report_cpu *c)
{
	cpu_ranking_release(&c->ranking);
	*c = (struct report_cpu){0};
}
