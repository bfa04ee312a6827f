/* NUMA in the text report: how much is remote, from which node to which, and what to do about the
 * allocation sites that it comes from. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/content/numa_advice.h"
#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"

#define SITES_SHOWN 10

static void matrix(FILE *out, const struct report_numa *n)
{
	const struct numa_topology *t = n->topology;

	fprintf(out, "%-22s", "accessed from \\ page on");
	for (unsigned page = 0; page < t->node_count; page++)
		fprintf(out, " node %-4u", t->node_id[page]);
	fputc('\n', out);
	for (unsigned from = 0; from < t->node_count; from++) {
		fprintf(out, "  node %-15u", t->node_id[from]);
		for (unsigned page = 0; page < t->node_count; page++)
			fprintf(out, " %8.1f%%", 100 * n->matrix[from][page]);
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

static void site(FILE *out, const struct report_model *m, const struct ranked_site *ranked)
{
	const struct numa_topology *t = m->numa.topology;
	const struct profile *p = &m->window->profile;
	const struct numa_site *s = &ranked->numa;
	char advice[NUMA_ADVICE_BYTES];

	fprintf(out, "%5.1f%% remote in %" PRIu64 " samples: %s ",
		100 * numa_site_remote_fraction(s), s->samples,
		strings_get(&p->strings, ranked->sum.class_name));
	if (ranked->sum.node)
		report_text_frame(out, p, ranked->sum.node);
	fputc('\n', out);
	shares(out, t, "pages on", s->page_on);
	shares(out, t, "first touched by", s->first_touch);
	shares(out, t, "allocated on", s->allocated_on);
	shares(out, t, "accessed from", s->accessed_from);
	if (numa_advice(s, t, m->window->always_pretouch, advice))
		report_text_wrapped(out, advice, m->columns);
}

static void sites(FILE *out, const struct report_model *m)
{
	const struct object_ranking *ranking = &m->objects.ranking;
	size_t shown = 0;

	for (size_t i = 0; i < ranking->count && shown < SITES_SHOWN; i++) {
		if (ranking->sites[i].numa.samples == 0)
			continue;
		site(out, m, &ranking->sites[i]);
		shown++;
	}
}

void report_text_numa(FILE *out, const struct report_model *m)
{
	const struct numa_profile *p = &m->window->numa;

	if (!m->numa.measured) {
		fputs("NUMA: this machine has one node: there is nothing to measure\n", out);
		return;
	}
	if (p->samples > 0)
		fprintf(out,
			"NUMA: %.1f%% of the accesses to the heap are remote (%" PRIu64 " samples",
			100 * m->numa.remote_fraction, p->samples);
	else
		fputs(
		    "NUMA: no access to the heap was sampled whose page could be found (0 samples",
		    out);
	fprintf(out, "; the pages of %" PRIu64 " more could not be found)\n", p->unplaced);
	matrix(out, &m->numa);
	if (m->window->always_pretouch)
		fputs("the heap was touched when the JVM started (AlwaysPreTouch): the first touch "
		      "of its pages tells nothing\n",
		      out);
	else if (!p->touch_traced)
		fputs("first touches were not traced: that takes BPF and CAP_PERFMON\n", out);
	sites(out, m);
}
