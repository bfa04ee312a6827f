/* Where the CPU time goes, in text: in which code, in which methods; where that alone was asked
 * for, in which calling contexts. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"

#define OTHER_MIN     0.01 /* of CPU time: less is not worth a line */
#define METHODS_SHOWN 10   /* of each list, beside other parts of a report */

static void part(FILE *out, double fraction, const char *words)
{
	if (fraction > 0)
		fprintf(out, "%5.1f%%  %s\n", 100 * fraction, words);
}

/* Writes what the whole is made of. */
static void whole(FILE *out, const struct report_cpu *c)
{
	fprintf(out,
		"CPU time: %.1f s, told by %" PRIu64
		" samples (of a tick one in the kernel and one outside it)%s\n",
		c->whole_s, c->samples,
		c->beside_known ? ", and what the collector and the compilers used"
				: "; what the collector and the compilers used is not known");
	part(out, c->compiled, "in compiled code");
	part(out, c->interpreted, "in interpreted code");
	part(out, c->native, "in native code that Java code called, and in the JVM for it");
	part(out, c->kernel, "in the kernel, for Java code and other threads");
	part(out, c->gc, "in the collector's threads");
	part(out, c->jit, "in the compilers' threads");
	part(out, c->no_java, "in threads that run no Java code");
	part(out, c->unwalkable, "whose stack the JVM could not tell");
	if (c->other >= OTHER_MIN)
		part(out, c->other, "in threads that were not sampled");
	if (c->truncated > 0 || c->lost > 0)
		fprintf(out,
			"of these, in no method or path below: %.1f%% with stacks cut at their "
			"root, %.1f%% with a lost one\n",
			100 * c->truncated, 100 * c->lost);
}

static void method(FILE *out, const struct report_model *m, const struct ranked_method *r)
{
	double whole_ns = m->cpu.whole_ns;

	fprintf(out, "%5.1f%% %6.1f%% %8" PRIu64 "  ", 100 * estimate_fraction(r->own.ns, whole_ns),
		100 * estimate_fraction(r->total.ns, whole_ns), r->total.samples);
	report_text_method_whole(out, &m->window->profile, r->method);
	fputc('\n', out);
}

static void methods(FILE *out, const struct report_model *m, const char *title,
		    const struct ranked_method *list, size_t count, size_t shown)
{
	fprintf(out, "%s\n%6s %7s %8s  method\n", title, "own", "total", "ticks");
	for (size_t i = 0; i < count && i < shown && !ferror(out); i++)
		method(out, m, &list[i]);
	if (count > shown)
		fprintf(out, "%14s %8s  and %zu more methods\n", "", "", count - shown);
}

static void contexts(FILE *out, const struct report_model *m, size_t limit)
{
	const struct cpu_ranking *r = &m->cpu.ranking;

	for (size_t i = 0; i < r->context_count && i < limit && !ferror(out); i++) {
		struct cpu_sum sum = cpu_context_sum(&r->contexts[i]);

		report_text_rule(out, NULL);
		fprintf(out, "%.1f%% of CPU time, %" PRIu64 " ticks\n",
			100 * estimate_fraction(sum.ns, m->cpu.whole_ns), sum.samples);
		report_text_path(out, &m->window->profile, r->contexts[i].node, NULL, 0);
	}
	report_text_rule(out, NULL);
	if (r->context_count > limit)
		fprintf(out, "%zu more paths are not shown\n", r->context_count - limit);
}

void report_text_cpu(FILE *out, const struct report_model *m, size_t limit)
{
	const struct cpu_ranking *r = &m->cpu.ranking;
	bool alone = m->shown.contexts;
	size_t shown = alone || limit < METHODS_SHOWN ? limit : METHODS_SHOWN;

	whole(out, &m->cpu);
	if (r->by_total_count == 0)
		return;
	fputc('\n', out);
	methods(out, m, "Methods by their own CPU time", r->by_own, r->by_own_count, shown);
	if (!alone)
		return;
	fputc('\n', out);
	methods(out, m, "Methods by the CPU time of all that they called", r->by_total,
		r->by_total_count, shown);
	fputs("\nPaths\n", out);
	contexts(out, m, limit);
}
