/* Collapsed stacks, one line a pair, as flame graph tools read them: the kind, the first access's
 * path root first, its instruction behind the leaf, "--", the second access's path, then wasteful
 * bytes. */
#include "daemon/report.h"

#include <inttypes.h>

#include "daemon/names.h"
#include "proto/limits.h"

/* Writes text with the characters that separate fields replaced. */
static void plain(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' ? ',' : *text == ' ' ? '_' : *text, out);
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

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		path[depth++] = id; /* The tree admits no deeper path. */
	if (depth == 0)
		fputs(";[unknown]", out);
	while (depth > 0) {
		fputc(';', out);
		frame(out, p, path[--depth]);
	}
	fputs("_[", out);
	plain(out, strings_get(&p->strings, instruction));
	fputc(']', out);
}

static int kind_lines(FILE *out, const struct window *w, Jxp__Kind kind, size_t limit)
{
	struct ranking ranking;
	int r = ranking_init(&ranking, &w->profile, kind);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ranking.count && i < limit; i++) {
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

int report_collapsed_write(FILE *out, const struct window *w, size_t pairs)
{
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
		int r = w->settings.kinds[kind] ? kind_lines(out, w, (Jxp__Kind)kind, pairs) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}
