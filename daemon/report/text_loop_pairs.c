/* Loops in the text report's pairs, and pairs in its loops. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>

#include "daemon/report/writer/text_places.h"

/* "the loop of Table.find:22 (#1 of the loops)". */
static void name(FILE *out, const struct profile *p, const struct loop_around *around)
{
	const struct loop_key *key = &around->loop->row->key;

	fputs(around->called ? "what the loop at " : "the loop at ", out);
	report_text_method(out, p, key->method);
	if (key->line > 0)
		fprintf(out, ":%d", key->line);
	else
		fprintf(out, " (bytecode %u)", key->header);
	fprintf(out, "%s (#%zu of the loops)", around->called ? " calls" : "", around->rank + 1);
}

static struct loop_around find(const struct report_model *m, uint32_t node, bool called)
{
	const struct cct *t = &m->window->profile.cct;

	return called ? loop_pairs_context(&m->loop_pairs, t, node)
		      : loop_pairs_frame(&m->loop_pairs, t, node);
}

void report_text_loops_of(FILE *out, const struct report_model *m, const struct pair *pair,
			  bool called, const char *prefix, const char *suffix)
{
	const struct profile *p = &m->window->profile;
	struct loop_around watch = find(m, pair->watch_node, called);
	struct loop_around trap = find(m, pair->trap_node, called);

	if (!watch.loop && !trap.loop)
		return;
	fputs(prefix, out);
	if (watch.loop == trap.loop && watch.called == trap.called) {
		fputs("both in ", out);
		name(out, p, &watch);
	} else {
		if (watch.loop) {
			fputs("the first in ", out);
			name(out, p, &watch);
		}
		if (trap.loop) {
			fprintf(out, "%sthe second in ", watch.loop ? ", " : "");
			name(out, p, &trap);
		}
	}
	fputs(suffix, out);
}

void report_text_loop_pairs(FILE *out, const struct report_model *m, size_t rank)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct loop_waste *w = loop_pairs_waste(&m->loop_pairs, rank, i);

		if (w)
			fprintf(out,
				"   %s here: %.0f%% (%.0f to %.0f%%) of the %" PRIu64
				" %s that were checked\n",
				pair_kinds[i].title, 100 * w->fraction, 100 * w->ci95.low,
				100 * w->ci95.high, w->pairs,
				pair_kinds[i].sampled == PAIR_LOAD ? "loads" : "stores");
	}
}
