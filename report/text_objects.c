/* Objects in the text report, after figure 5 and table 2 of the DJXPerf paper: what accesses cost
 * beside how many objects were allocated, then each site's path and from where it is accessed. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"
#include "proto/words.h"

/* Access paths shown for one site. */
#define ACCESSES_SHOWN 5

/* A site is worth few words below this share, however much it allocates. */
#define SMALL_SHARE  0.01
#define SMALL_SHOWN  5
#define NUMBER_BYTES 32

static const char *bytes_text(char text[NUMBER_BYTES], double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	if (!(bytes > 0)) /* Rounding may leave less. */
		bytes = 0;
	while (bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	(void)snprintf(text, NUMBER_BYTES, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return text;
}

static void heading(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;
	const struct object_profile *l = &w->objects;
	char size[NUMBER_BYTES], interval[NUMBER_BYTES];

	fprintf(out, "Objects: %s of accesses to the heap, by where the object was allocated\n",
		m->objects.metric);
	fprintf(out,
		"%" PRIu64 " accesses sampled: %" PRIu64 " to tracked objects, %" PRIu64
		" to other memory of the heap, %" PRIu64 " to stacks,\n%" PRIu64
		" to the JVM's own memory, %" PRIu64 " elsewhere, %" PRIu64
		" while objects were being moved\n",
		m->objects.samples, l->attributed.samples,
		l->untracked[JXP__REGION__REGION_HEAP].samples,
		l->untracked[JXP__REGION__REGION_STACK].samples,
		l->untracked[JXP__REGION__REGION_JVM].samples,
		l->untracked[JXP__REGION__REGION_OTHER].samples, l->unsettled.samples);
	fprintf(out, "%.1f%% of the heap's %s is of tracked objects' sites; the rest of objects ",
		100 * m->objects.attributed_fraction, m->objects.metric);
	if (window_result_object_min_size(w))
		fprintf(out, "older than the window,\nbelow %s, or not sampled",
			bytes_text(size, (double)window_result_object_min_size(w)));
	else
		fputs("older than the window,\nor not sampled", out);
	if (w->object_interval)
		fprintf(out, " (one in about %s of allocation is)",
			bytes_text(interval, (double)w->object_interval));
	fprintf(out, "\n%" PRIu64 " passes over the tracked objects took %.1f ms\n\n",
		w->counters[JXP__COUNTER__COUNTER_PASSES],
		(double)w->counters[JXP__COUNTER__COUNTER_PASS_NS] / 1e6);
}

/* So many sampled allocations say what most are; and so large a part is most. */
#define HINT_SAMPLES 20
#define HINT_PART    0.5

/* Why few or no sites are known, and what can be done about it. */
static void hints(FILE *out, const struct report_model *m)
{
	const struct report_objects *o = &m->objects;
	const struct window_result *w = m->window;
	const uint64_t *counters = w->counters;
	uint64_t sampled = counters[JXP__COUNTER__COUNTER_OBJECTS_SAMPLED];
	uint64_t small = counters[JXP__COUNTER__COUNTER_OBJECTS_SMALL];
	char size[NUMBER_BYTES];

	if (sampled >= HINT_SAMPLES && (double)small > HINT_PART * (double)sampled)
		fprintf(out,
			"hint: %" PRIu64 " of %" PRIu64
			" sampled allocations were of objects below %s, too small to be tracked%s: "
			"where these are\nallocated is known, and not what accesses to them cost; "
			"--object-min-size 0 tracks all from the beginning\n\n",
			small, sampled, bytes_text(size, (double)w->request.object_min_size),
			w->request.object_min_size_adapts ? " then" : "");
	else if (o->classes.field_count > 0 && o->whole > 0 &&
		 o->attributed_fraction < 1 - HINT_PART)
		fputs("hint: most accesses go to objects that were made before the window, or are "
		      "not tracked; the classes above\nhave them, by field and by who accesses "
		      "them\n\n",
		      out);
}

/* What nobody has looked at is not known to be garbage, and not known to be in use either. */
static void uncollected(FILE *out, const struct report_model *m)
{
	const struct report_objects *o = &m->objects;
	char text[NUMBER_BYTES];

	if (!(o->uncollected_bytes >= 1))
		return;
	fprintf(out, "%s of what is live at the end is not yet collected, and may be garbage: ",
		bytes_text(text, o->uncollected_bytes));
	if (m->window->merged)
		fputs("live and\nnot yet collected are averages over the windows' ends\n\n", out);
	else if (o->judged_s > 0)
		fprintf(out,
			"allocated after %.1f s, when a\ncollection last found tracked objects "
			"dead\n\n",
			o->judged_s);
	else
		fputs("no collection in the\nwindow found tracked objects dead\n\n", out);
}

static void columns(FILE *out)
{
	fprintf(out, "%6s  %-16s %8s %12s %12s %12s  %s\n", "share", "95% interval", "accesses",
		"allocations", "allocated", "live at end", "class, allocated in");
}

static void row(FILE *out, const struct profile *p, const struct ranked_site *ranked)
{
	const struct object_site *site = &ranked->sum;
	char interval[NUMBER_BYTES], allocated[NUMBER_BYTES], live[NUMBER_BYTES];
	bool tracked = site->untracked < site->allocations || site->allocations == 0;

	(void)snprintf(interval, sizeof(interval), "%.1f%% to %.1f%%", 100 * ranked->ci95.low,
		       100 * ranked->ci95.high);
	fprintf(out, "%5.1f%%  %-16s %8" PRIu64 " %12.0f %12s %12s  %s ", 100 * ranked->fraction,
		interval, site->samples, site->alloc_count,
		bytes_text(allocated, site->alloc_bytes),
		tracked ? bytes_text(live, site->live_bytes) : "not known",
		strings_get(&p->strings, site->class_name));
	if (site->node)
		report_text_frame(out, p, site->node);
	fputc('\n', out);
}

/* What only one thread accesses needs no words. */
static void sharing(FILE *out, const struct site_sharing *s)
{
	if (s->by_others == 0)
		return;
	fprintf(out,
		"%.1f%% by other threads than the one that allocated the object; in %.1f%% another "
		"thread accessed it before\n",
		100 * estimate_fraction(s->metric_by_others, s->metric),
		100 * estimate_fraction(s->metric_taken_over, s->metric));
}

static void site_paths(FILE *out, const struct report_model *m, size_t rank)
{
	const struct ranked_site *site = &m->objects.ranking.sites[rank];
	const struct ranked_access *accesses = object_ranking_accesses(&m->objects.ranking, site);
	const struct profile *p = &m->window->profile;

	report_text_rule(out, NULL);
	fprintf(out, "#%zu  %.1f%% of the heap's %s: %s, accessed in %" PRIu64 " samples\n",
		rank + 1, 100 * site->fraction, m->objects.metric,
		strings_get(&p->strings, site->sum.class_name), site->sum.samples);
	if (site->of_class > 0)
		fprintf(out,
			"%.1f%% (%.1f%% to %.1f%%) of what goes to tracked objects of this class\n",
			100 * site->of_class, 100 * site->of_class_ci95.low,
			100 * site->of_class_ci95.high);
	sharing(out, &site->sharing);
	report_text_path(out, p, site->sum.node, "allocated", 0);
	for (size_t i = 0; i < site->access_count && i < ACCESSES_SHOWN; i++) {
		char title[NUMBER_BYTES];

		(void)snprintf(title, sizeof(title), "ACCESSED, %.1f%%",
			       100 * estimate_fraction(accesses[i].metric, site->sum.metric));
		report_text_rule(out, title);
		if (accesses[i].location) {
			fputs("to ", out);
			report_text_location(out, p, accesses[i].location);
			fputc('\n', out);
		}
		report_text_path(out, p, accesses[i].node, NULL, 0);
	}
	if (site->access_count > ACCESSES_SHOWN)
		fprintf(out, "and from %zu other contexts\n", site->access_count - ACCESSES_SHOWN);
}

/* Is all that accesses to its objects may take, by its interval, little? */
static bool is_surely_small(const struct ranked_site *site)
{
	return site->ci95.high < SMALL_SHARE;
}

/* The sites where objects are allocated most often, of those that nothing above says much of: of
 * which little is to be gained at accesses, or not. Returns how many were found. */
static size_t most_allocated(const struct object_ranking *ranking, bool surely_small,
			     size_t found[SMALL_SHOWN])
{
	size_t count = 0;

	for (size_t i = 0; i < ranking->count; i++) {
		const struct ranked_site *site = &ranking->sites[i];
		size_t at;

		if (site->fraction >= SMALL_SHARE || is_surely_small(site) != surely_small)
			continue;
		at = count < SMALL_SHOWN ? count++ : SMALL_SHOWN;
		for (; at > 0 &&
		       ranking->sites[found[at - 1]].sum.alloc_count < site->sum.alloc_count;
		     at--)
			if (at < SMALL_SHOWN)
				found[at] = found[at - 1];
		if (at < SMALL_SHOWN)
			found[at] = i;
	}
	return count;
}

static void small_rows(FILE *out, const struct report_model *m, bool surely_small)
{
	size_t found[SMALL_SHOWN];
	size_t count = most_allocated(&m->objects.ranking, surely_small, found);

	if (count == 0)
		return;
	if (surely_small)
		fprintf(out,
			"\nAllocated most often, and accesses to them take less than %.0f%% of the "
			"heap's %s: "
			"little to gain from faster access\n",
			100 * SMALL_SHARE, m->objects.metric);
	else
		fputs("\nAllocated most often, of those whose accesses too few samples met: what "
		      "they cost is not known\n",
		      out);
	columns(out);
	for (size_t i = 0; i < count; i++)
		row(out, &m->window->profile, &m->objects.ranking.sites[found[i]]);
}

/* Table 2 of the paper: where most is allocated, of what is hardly accessed. That few accesses were
 * seen is no evidence of that unless the interval says so. */
static void small_sites(FILE *out, const struct report_model *m)
{
	small_rows(out, m, false);
	small_rows(out, m, true);
}

/* Sites that cost anything come first. */
static size_t accessed_sites(const struct object_ranking *ranking)
{
	size_t count = 0;

	while (count < ranking->count && ranking->sites[count].sum.metric > 0)
		count++;
	return count;
}

void report_text_objects(FILE *out, const struct report_model *m, size_t limit)
{
	const struct object_ranking *ranking = &m->objects.ranking;
	const struct window_result *w = m->window;
	size_t accessed = accessed_sites(ranking), shown = accessed < limit ? accessed : limit;

	heading(out, m);
	if (w->objects_off_ns)
		fprintf(out, "%s\n", w->objects_refused);
	else if (w->objects_refused[0])
		fprintf(out, "no objects are tracked: %s\n", w->objects_refused);
	uncollected(out, m);
	hints(out, m);
	if (shown > 0)
		columns(out);
	else
		fputs("no accesses to tracked objects were seen\n", out);
	for (size_t i = 0; i < shown; i++)
		row(out, &w->profile, &ranking->sites[i]);
	if (shown < accessed)
		fprintf(out, "%zu more sites are not shown\n", accessed - shown);
	small_sites(out, m);
	for (size_t i = 0; i < shown; i++)
		site_paths(out, m, i);
	if (shown > 0)
		report_text_rule(out, NULL);
}
