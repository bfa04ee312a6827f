/* What the text report says above the figures of a window that was merged from others. */
#include "daemon/report/text_parts.h"

#include "common/clock.h"
#include "daemon/report/formats.h"
#include "daemon/report/writer/text_writer.h"

static void difference(FILE *out, enum merged_note which, const struct merged_difference *d)
{
	const struct merged_note_words *words = &merged_note_words[which];

	fprintf(out, "%s%u of the windows %s", words->skipped ? "left out: " : "", d->windows,
		words->sentence);
	if (d->first > 0)
		fprintf(out, " (first w%u%s%s)", d->first, d->detail[0] ? ": " : "", d->detail);
	fputc('\n', out);
}

void report_text_merged(FILE *out, const struct window_result *w)
{
	const struct window_merged *m = w->merged;
	char start[REPORT_TIME_BYTES], end[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	report_time(end, w->end_unix_ns);
	fprintf(out,
		"merged from %u windows (w%u to w%u) of %s%u process%s: %s, %s %s, %s collector\n",
		m->windows, m->first, m->last, m->more_processes ? "more than " : "", m->processes,
		m->processes == 1 ? "" : "es", w->app, w->vm[0] ? w->vm : "JVM", w->jdk,
		w->gc[0] ? w->gc : "unknown");
	fprintf(out, "began %s, ended %s, %.1f s in all\n", start, end,
		(double)window_result_elapsed_ns(w) / (double)NS_PER_S);
	for (int i = 0; i < MERGED_NOTES; i++)
		if (m->notes[i].windows > 0)
			difference(out, (enum merged_note)i, &m->notes[i]);
	if (m->batches >= MERGED_BATCHES_MIN)
		fprintf(out, "intervals say how these windows differ, in %u batches\n", m->batches);
	else
		fprintf(out,
			"intervals are those of sampling: %u windows are too few to tell how they "
			"differ\n",
			m->windows);
}
