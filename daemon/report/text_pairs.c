/* Pairs in the text report: the fractions of all kinds, then each kind's most wasteful pairs. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>

#include "daemon/report/text_writer.h"
#include "proto/words.h"

static void fractions(FILE *out, const struct report_model *m)
{
	fprintf(out, "%-14s %9s   %-17s %14s %14s %16s\n", "kind", "fraction", "95% interval",
		"wasteful bytes", "checked bytes", "JVM's own bytes");
	for (size_t i = 0; i < m->kind_count; i++) {
		const struct report_kind *k = &m->kinds[i];
		char fraction[16] = "-", interval[32];

		if (k->application->count > 0)
			(void)snprintf(fraction, sizeof(fraction), "%.1f%%", 100 * k->fraction);
		(void)snprintf(interval, sizeof(interval), "%.1f%% to %.1f%%", 100 * k->ci95.low,
			       100 * k->ci95.high);
		fprintf(out, "%-14s %9s   %-17s %14" PRIu64 " %14" PRIu64 " %16" PRIu64 "\n",
			k->kind->title, fraction, interval, k->application->wasteful_bytes,
			k->application->checked_bytes, k->jvm->checked_bytes);
	}
	fputs("JVM's own: accesses to the virtual machine's memory, kept apart from the "
	      "fractions.\n",
	      out);
}

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction)
{
	const char *text = strings_get(&p->strings, instruction);

	report_text_path(out, p, leaf, text[0] ? text : "[instruction unknown]");
}

static void pair(FILE *out, const struct profile *p, const struct pair_kind *kind,
		 const struct ranked_pair *ranked, size_t rank)
{
	const struct pair *sum = &ranked->sum;

	report_text_rule(out, NULL);
	fprintf(out,
		"#%zu  %.1f%% of checked bytes: %" PRIu64 " wasteful bytes in %" PRIu64
		" of %" PRIu64 " pairs, %s",
		rank, 100 * ranked->fraction, sum->wasteful_bytes, sum->wasteful_count, sum->count,
		name_of_region((Jxp__Region)sum->region));
	if (ranked->variants > 1)
		fprintf(out, "; the first of %zu instruction pairs is shown", ranked->variants);
	fputc('\n', out);
	access_path(out, p, sum->watch_node, sum->watch_instruction);
	report_text_rule(out, kind->separator);
	access_path(out, p, sum->trap_node, sum->trap_instruction);
}

static void pairs_of_kind(FILE *out, const struct profile *p, const struct report_kind *k,
			  size_t limit)
{
	size_t shown = k->pairs.count < limit ? k->pairs.count : limit;

	fprintf(out, "\n%s\n", k->kind->heading);
	for (size_t i = 0; i < shown && !ferror(out); i++)
		pair(out, p, k->kind, &k->pairs.pairs[i], i + 1);
	if (shown > 0)
		report_text_rule(out, NULL);
	if (k->pairs.count == 0)
		fputs("none found\n", out);
	else if (shown < k->pairs.count)
		fprintf(out, "%zu more pairs are not shown\n", k->pairs.count - shown);
}

void report_text_pairs(FILE *out, const struct report_model *m, size_t limit)
{
	fractions(out, m);
	for (size_t i = 0; i < m->kind_count; i++)
		pairs_of_kind(out, &m->window->profile, &m->kinds[i], limit);
}
