/* NUMA in the text report: how much is remote, from which node to which, and what to do about the
 * allocation sites that it comes from. */
#include <inttypes.h>

#include "daemon/report/numa_advice.h"
#include "daemon/report/object_ranking.h"
#include "daemon/report/text.h"

#define SITES_SHOWN 10

static void matrix(FILE *out, const struct numa_profile *p, const struct numa_topology *t)
{
	double all = 0;

	for (unsigned from = 0; from < t->node_count; from++)
		for (unsigned page = 0; page < t->node_count; page++)
			all += p->matrix[from][page];
	fprintf(out, "%-22s", "accessed from \\ page on");
	for (unsigned page = 0; page < t->node_count; page++)
		fprintf(out, " node %-4u", t->node_id[page]);
	fputc('\n', out);
	for (unsigned from = 0; from < t->node_count; from++) {
		fprintf(out, "  node %-15u", t->node_id[from]);
		for (unsigned page = 0; page < t->node_count; page++)
			fprintf(out, " %8.1f%%",
				100 * estimate_fraction(p->matrix[from][page], all));
		fputc('\n', out);
	}
}

/* "node 0 97%, node 1 3%" */
static void shares(FILE *out, const struct numa_topology *t, const char *label, const double *sums)
{
	const char *separator = " ";
	double all = 0;

	for (unsigned i = 0; i < t->node_count; i++)
		all += sums[i];
	if (all <= 0)
		return;
	fprintf(out, "  %s", label);
	for (unsigned i = 0; i < t->node_count; i++) {
		if (sums[i] <= 0)
			continue;
		fprintf(out, "%snode %u %.0f%%", separator, t->node_id[i], 100 * sums[i] / all);
		separator = ", ";
	}
	fputc('\n', out);
}

static void site(FILE *out, const struct window_result *w, const struct ranked_site *ranked)
{
	const struct numa_site *s = &ranked->numa;
	char advice[NUMA_ADVICE_BYTES];

	fprintf(out, "%5.1f%% remote in %" PRIu64 " samples: %s ",
		100 * numa_site_remote_fraction(s), s->samples,
		strings_get(&w->profile.strings, ranked->sum.class_name));
	if (ranked->sum.node)
		report_text_frame(out, &w->profile, ranked->sum.node);
	fputc('\n', out);
	shares(out, &w->findings.numa, "pages on", s->page_on);
	shares(out, &w->findings.numa, "first touched by", s->first_touch);
	shares(out, &w->findings.numa, "allocated on", s->allocated_on);
	shares(out, &w->findings.numa, "accessed from", s->accessed_from);
	if (numa_advice(s, &w->findings.numa, w->always_pretouch, advice))
		report_text_wrapped(out, advice);
}

int report_text_numa(FILE *out, const struct window_result *w)
{
	const struct numa_profile *p = &w->numa;
	struct object_ranking ranking;
	size_t shown = 0;
	int r;

	if (w->findings.numa.node_count < 2) {
		fputs("NUMA: this machine has one node: there is nothing to measure\n", out);
		return 0;
	}
	if (p->samples > 0)
		fprintf(out,
			"NUMA: %.1f%% of the accesses to the heap are remote (%" PRIu64 " samples",
			100 * numa_remote_fraction(p), p->samples);
	else
		fputs(
		    "NUMA: no access to the heap was sampled whose page could be found (0 samples",
		    out);
	fprintf(out, "; the pages of %" PRIu64 " more could not be found)\n", p->unplaced);
	matrix(out, p, &w->findings.numa);
	if (w->always_pretouch)
		fputs("the heap was touched when the JVM started (AlwaysPreTouch): the first touch "
		      "of its pages tells nothing\n",
		      out);
	else if (!p->touch_traced)
		fputs("first touches were not traced: that takes BPF and CAP_PERFMON\n", out);
	r = object_ranking_init(&ranking, w);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ranking.count && shown < SITES_SHOWN; i++) {
		if (ranking.sites[i].numa.samples == 0)
			continue;
		site(out, w, &ranking.sites[i]);
		shown++;
	}
	object_ranking_release(&ranking);
	return 0;
}
