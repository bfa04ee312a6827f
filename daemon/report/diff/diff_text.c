/* The difference of two windows for people: the verdict, the two windows, the fractions, the rows.
 */
#include "daemon/report/diff/diff_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/report/formats.h"
#include "daemon/report/writer/text_writer.h"

#define CONTEXTS_SHOWN 2u
#define FRAMES_SHOWN   4u
#define CELL_BYTES     40

static const char *kind_title(const struct diff_kind *k)
{
	return k->pairs ? k->pairs->title : "objects";
}

/* ---------------------------------------------------------------- verdict */

static void changed_kind(FILE *out, const struct diff_kind *k)
{
	const struct share_comparison *c = &k->test.share;

	fprintf(out, "%s %s from %.1f%% (%.1f to %.1f) to %.1f%% (%.1f to %.1f)", kind_title(k),
		k->test.verdict == DIFF_LESS ? "fell" : "rose", 100 * c->share[0],
		100 * k->ci95[0].low, 100 * k->ci95[0].high, 100 * c->share[1],
		100 * k->ci95[1].low, 100 * k->ci95[1].high);
}

static unsigned changed_kinds(FILE *out, const struct diff *d)
{
	unsigned changed = 0;

	for (size_t i = 0; i < d->kind_count; i++) {
		if (d->kinds[i].test.verdict == DIFF_NONE)
			continue;
		fputs(changed++ ? "; " : "", out);
		changed_kind(out, &d->kinds[i]);
	}
	return changed;
}

static void changed_rows(FILE *out, const struct diff *d)
{
	size_t less = 0;

	for (size_t i = 0; i < d->called_rows; i++)
		less += d->rows[i].test.verdict == DIFF_LESS;
	fprintf(out, "%zu rows became less and %zu more; no kind as a whole is shown to differ",
		less, d->called_rows - less);
}

/* What a difference would have had to be to be seen. */
static void nothing_changed(FILE *out, const struct diff *d)
{
	unsigned compared = 0;

	for (size_t i = 0; i < d->kind_count; i++) {
		const struct diff_kind *k = &d->kinds[i];

		if (!k->compared || !k->pairs)
			continue;
		fprintf(out,
			compared++
			    ? ", one of %.1f in %s"
			    : "no difference shown; one of %.1f points would have been in %s",
			100 * diff_visible(d, k), kind_title(k));
	}
	if (compared == 0)
		fputs(d->tested ? "no difference shown" : "there is nothing to compare", out);
}

static void verdict(FILE *out, const struct diff *d)
{
	if (changed_kinds(out, d) == 0) {
		if (d->called_rows > 0)
			changed_rows(out, d);
		else
			nothing_changed(out, d);
	}
	fputs("\n\n", out);
}

/* ---------------------------------------------------------------- windows and kinds */

static void side(FILE *out, const char *letter, const struct window_result *w)
{
	char start[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	if (w->merged)
		fprintf(out, "%s  %u windows, w%u to w%u", letter, w->merged->windows,
			w->merged->first, w->merged->last);
	else
		fprintf(out, "%s  window %s (pid %d)", letter, w->id, (int)w->pid);
	fprintf(out, ": %s, JDK %s, from %s, %.1f s, %" PRIu64 " samples\n", w->app, w->jdk, start,
		(double)window_result_elapsed_ns(w) / (double)NS_PER_S,
		w->counters[JXP__COUNTER__COUNTER_SAMPLES]);
	if (w->merged && w->merged->notes[MERGED_FUTURE].windows > 0)
		fprintf(out, "   left out: %u windows (first w%u) %s\n",
			w->merged->notes[MERGED_FUTURE].windows,
			w->merged->notes[MERGED_FUTURE].first,
			merged_note_words[MERGED_FUTURE].sentence);
}

static void fraction(char cell[CELL_BYTES], double value, const struct interval *ci)
{
	(void)snprintf(cell, CELL_BYTES, "%.1f%% (%.1f to %.1f)", 100 * value, 100 * ci->low,
		       100 * ci->high);
}

static const char *verdict_word(enum diff_verdict v)
{
	static const char *const words[] = {"not shown", "more", "less"};

	return words[v];
}

/* An interval of one test alone may exclude 0 where the tests together show nothing. */
static void kind_verdict(FILE *out, const struct diff *d, const struct diff_test *t)
{
	bool excludes = t->share.ci95.low > 0 || t->share.ci95.high < 0;

	if (t->verdict == DIFF_NONE && excludes)
		fprintf(out, "not shown, as one of %u that were tested\n", d->tested);
	else
		fprintf(out, "%s\n", verdict_word(t->verdict));
}

static void kinds(FILE *out, const struct diff *d)
{
	fprintf(out, "%-14s %-22s %-22s %-26s %s\n", "kind", "A", "B", "B less A, points",
		"difference");
	for (size_t i = 0; i < d->kind_count; i++) {
		const struct diff_kind *k = &d->kinds[i];
		const struct share_comparison *c = &k->test.share;
		char a[CELL_BYTES], b[CELL_BYTES], difference[CELL_BYTES];

		if (!k->compared) {
			fprintf(out, "%-14s not in both\n", kind_title(k));
			continue;
		}
		if (!k->pairs)
			continue;
		fraction(a, c->share[0], &k->ci95[0]);
		fraction(b, c->share[1], &k->ci95[1]);
		(void)snprintf(difference, sizeof(difference), "%+.1f (%+.1f to %+.1f)",
			       100 * c->difference, 100 * c->ci95.low, 100 * c->ci95.high);
		fprintf(out, "%-14s %-22s %-22s %-26s ", kind_title(k), a, b, difference);
		kind_verdict(out, d, &k->test);
	}
}

/* ---------------------------------------------------------------- rows */

static void method(FILE *out, const struct diff *d, uint32_t id)
{
	const struct cct_method *m = cct_method(&d->names.cct, id);

	if (m)
		fprintf(out, "%s.%s", strings_get(&d->names.strings, m->class_name),
			strings_get(&d->names.strings, m->name));
	else
		fputs("[method unknown]", out);
}

/* Leaf first, as many frames as a line has room for. */
static void path(FILE *out, const struct diff *d, uint32_t node)
{
	unsigned shown = 0;

	if (!node)
		fputs("[calling context unknown]", out);
	for (; node && shown < FRAMES_SHOWN; shown++) {
		const struct cct_node *n = cct_node(&d->names.cct, node);

		fputs(shown ? " < " : "", out);
		method(out, d, n->method);
		node = n->parent;
	}
	fputs(node ? " < ..." : "", out);
}

static void context(FILE *out, const struct diff *d, const struct diff_context *c, bool pairs)
{
	fprintf(out, "    %.1f%% to %.1f%% in ", 100 * c->share[0], 100 * c->share[1]);
	path(out, d, c->watch);
	if (pairs && c->trap != c->watch) {
		fputs("\n        then ", out);
		path(out, d, c->trap);
	}
	fputc('\n', out);
}

static void row(FILE *out, const struct diff *d, const struct diff_row *r, size_t rank)
{
	const struct diff_kind *k = &d->kinds[r->kind];
	const struct share_comparison *c = &r->test.share;
	size_t shown = r->context_count < CONTEXTS_SHOWN ? r->context_count : CONTEXTS_SHOWN;

	fprintf(out, "\n#%zu  %s: %s, %.1f%% to %.1f%% of %s: %+.1f (%+.1f to %+.1f) points\n    ",
		rank, verdict_word(r->test.verdict), kind_title(k), 100 * c->share[0],
		100 * c->share[1], k->pairs ? "checked bytes" : "accesses", 100 * c->difference,
		100 * c->ci95.low, 100 * c->ci95.high);
	if (k->pairs) {
		method(out, d, r->watch);
		fputs(" -> ", out);
	} else {
		fprintf(out, "%s allocated in ", strings_get(&d->names.strings, r->watch));
	}
	method(out, d, r->trap);
	fputc('\n', out);
	for (size_t i = 0; i < shown; i++)
		context(out, d, &d->contexts[r->first_context + i], k->pairs);
}

/* ---------------------------------------------------------------- what it means */

static void footer(FILE *out, const struct diff *d, size_t shown)
{
	uint64_t lost = 0;
	char text[640];

	fputc('\n', out);
	if (shown < d->called_rows)
		fprintf(out, "%zu more rows differ and are not shown\n", d->called_rows - shown);
	for (int i = 0; i < LOSS_MAX; i++)
		lost += d->losses[i];
	if (lost > 0)
		fprintf(out, "%" PRIu64 " methods or contexts did not fit and have no name here\n",
			lost);
	(void)snprintf(
	    text, sizeof(text),
	    "%u kinds and rows were tested; the chance that any of them is called different "
	    "though nothing is, is %g%%. Fractions of one program are taken to vary by %g%% "
	    "of themselves between windows, unless %u or more windows on a side show how "
	    "much. Where one fraction falls, others rise: they are of what is left. A method that "
	    "the JVM has compiled anew makes other accesses: compare what has run for a while.",
	    d->tested, 100 * DIFF_LEVEL, 100 * SHARE_DRIFT, MERGED_BATCHES_MIN);
	report_text_wrapped(out, text);
}

int diff_text_write(FILE *out, const void *diff, size_t rows)
{
	const struct diff *d = diff;
	size_t shown = d->called_rows < rows ? d->called_rows : rows;

	verdict(out, d);
	side(out, "A", d->side[0]);
	side(out, "B", d->side[1]);
	fputc('\n', out);
	kinds(out, d);
	for (size_t i = 0; i < shown && !ferror(out); i++)
		row(out, d, &d->rows[i], i + 1);
	footer(out, d, shown);
	return 0;
}
