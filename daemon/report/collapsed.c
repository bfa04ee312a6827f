/* Collapsed stacks, one line a pair, as flame graph tools read them: the kind, the first access's
 * path root first, its instruction behind the leaf, "--", the second access's path, then wasteful
 * bytes. For objects one line a site: "objects", the allocation's path, the class, then what
 * accesses to its objects cost, in the unit of the metric. */
#include "daemon/report/report.h"

#include <inttypes.h>

#include "daemon/report/object_ranking.h"
#include "proto/limits.h"
#include "proto/words.h"

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

static int kind_lines(FILE *out, const struct window_result *w, Jxp__Kind kind, size_t limit)
{
	struct ranking ranking;
	int r = ranking_init(&ranking, &w->profile, kind);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ranking.count && i < limit && !ferror(out); i++) {
		const struct pair *pair = &ranking.pairs[i].sum;

		fputs(name_of_kind(kind), out);
		access_path(out, &w->profile, pair->watch_node, pair->watch_instruction);
		fputs(";--", out);
		access_path(out, &w->profile, pair->trap_node, pair->trap_instruction);
		fprintf(out, " %" PRIu64 "\n", pair->wasteful_bytes);
	}
	ranking_release(&ranking);
	return 0;
}

/* Sites that nothing was seen to access have no width. */
static int object_lines(FILE *out, const struct window_result *w, size_t limit)
{
	const struct profile *p = &w->profile;
	struct object_ranking ranking;
	int r = object_ranking_init(&ranking, w);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ranking.count && i < limit && !ferror(out); i++) {
		const struct object_site *site = &ranking.sites[i].sum;

		if (site->metric < 0.5)
			break;
		fputs(name_of_kind(JXP__KIND__KIND_OBJECTS), out);
		path(out, p, site->node);
		fputs(";[", out);
		plain(out, strings_get(&p->strings, site->class_name));
		fprintf(out, "] %.0f\n", site->metric);
	}
	object_ranking_release(&ranking);
	return 0;
}

int report_collapsed_write(FILE *out, const struct window_result *w, size_t pairs)
{
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
		int r = w->request.kinds[kind] ? kind_lines(out, w, (Jxp__Kind)kind, pairs) : 0;

		if (r < 0)
			return r;
	}
	return window_result_tracks_objects(w) ? object_lines(out, w, pairs) : 0;
}
