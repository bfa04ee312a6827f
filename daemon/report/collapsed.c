/* Collapsed stacks, one line a pair, as flame graph tools read them: the kind, the first access's
 * path root first, its instruction behind the leaf, "--", the second access's path, then wasteful
 * bytes. For objects one line a site: "objects", the allocation's path, the class, then what
 * accesses to its objects cost, in the unit of the metric. */
#include "daemon/report/formats.h"

#include <inttypes.h>

#include "proto/limits.h"

/* Writes text with the characters that separate fields replaced. Stops, as all loops here do, when
 * the report has become too long. */
static void plain(FILE *out, const char *text)
{
	for (; *text && !ferror_unlocked(out); text++)
		fputc_unlocked(*text == ';' ? ',' : *text == ' ' ? '_' : *text, out);
}

static void frame(FILE *out, const struct profile *p, uint32_t id)
{
	const struct cct_method *method = cct_method(&p->cct, cct_node(&p->cct, id)->method);

	if (!method) {
		fputs("[unknown]", out);
		return;
	}
	plain(out, strings_get(&p->strings, method->class_name));
	fputc('.', out);
	plain(out, strings_get(&p->strings, method->name));
}

static void path(FILE *out, const struct profile *p, uint32_t leaf)
{
	uint32_t nodes[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		nodes[depth++] = id; /* The tree admits no deeper path. */
	if (depth == 0)
		fputs(";[unknown]", out);
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

int report_collapsed_write(FILE *out, const struct report_model *m, size_t pairs)
{
	const struct profile *p = &m->window->profile;

	for (size_t i = 0; i < m->kind_count && m->shown.pairs; i++)
		kind_lines(out, p, &m->kinds[i], pairs);
	object_lines(out, p, &m->objects.ranking, pairs);
	return 0;
}
