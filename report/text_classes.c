/* Classes in the text report: what is accessed in the heap, whenever the object was made; then, of
 * the first ones, their fields, and from where these are accessed. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"

/* A row stands for so many samples at least; below, rows are one. */
#define EVIDENCE_MIN 5

#define CLASSES_OPENED 5 /* whose fields are shown */
#define FIELDS_SHOWN   5
#define PATHS_SHOWN    3
#define FRAMES_SHOWN   5
#define ORIGINS_SHOWN  3

#define INTERVAL_BYTES 32

static const char *interval_text(char text[INTERVAL_BYTES], const struct interval *ci95)
{
	(void)snprintf(text, INTERVAL_BYTES, "%.1f%% to %.1f%%", 100 * ci95->low, 100 * ci95->high);
	return text;
}

static bool has_evidence(const struct access_moments *sum)
{
	return sum->samples >= EVIDENCE_MIN;
}

static void row(FILE *out, const struct ranked_class *c, const char *name)
{
	char interval[INTERVAL_BYTES], older[16] = "";

	if (c->class_name && c->older.known)
		(void)snprintf(older, sizeof(older), "%.1f%%", 100 * c->older.fraction);
	else if (c->class_name)
		(void)snprintf(older, sizeof(older), "?");
	fprintf(out, "%5.1f%%  %-16s %8" PRIu64 " %8s  %s\n", 100 * c->fraction,
		interval_text(interval, &c->ci95), c->sum.samples, older, name);
}

/* Writes what there is no room for, or too little evidence of to be told apart. */
static void rest(FILE *out, const struct class_ranking *r, size_t first)
{
	double fraction = 0;
	uint64_t samples = 0;

	if (first == r->count)
		return;
	for (size_t i = first; i < r->count; i++) {
		fraction += r->classes[i].fraction;
		saturate_add(&samples, r->classes[i].sum.samples);
	}
	fprintf(out, "%5.1f%%  %-16s %8" PRIu64 " %8s  in %zu more classes\n", 100 * fraction, "",
		samples, "", r->count - first);
}

static void table(FILE *out, const struct report_model *m, size_t shown)
{
	const struct class_ranking *r = &m->objects.classes;
	const struct profile *p = &m->window->profile;

	fprintf(out, "%6s  %-16s %8s %8s  %s\n", "share", "95% interval", "accesses", "older",
		"class");
	for (size_t i = 0; i < shown; i++)
		row(out, &r->classes[i], strings_get(&p->strings, r->classes[i].class_name));
	rest(out, r, shown);
	if (r->unknown.sum.samples > 0)
		row(out, &r->unknown, "class not known");
	fputs("older: the part that went to objects made before the window, or not tracked; "
	      "?: too few\nwere tracked to tell\n",
	      out);
}

/* Leaf first: the line that makes the access or allocates, then who called it. */
static void frames(FILE *out, const struct profile *p, uint32_t leaf)
{
	uint32_t node = leaf;

	if (!leaf)
		fputs("[calling context unknown]", out);
	for (unsigned i = 0; node != 0 && i < FRAMES_SHOWN; i++) {
		if (i > 0)
			fputs("\n            from ", out);
		report_text_frame(out, p, node);
		node = cct_node(&p->cct, node)->parent;
	}
	if (node)
		fprintf(out, "\n            and %zu frames above", cct_depth(&p->cct, node));
	fputc('\n', out);
}

static void path(FILE *out, const struct profile *p, uint32_t leaf, double part)
{
	fprintf(out, "    %5.1f%%  at ", 100 * part);
	frames(out, p, leaf);
}

static void field(FILE *out, const struct report_model *m, const struct ranked_field *f)
{
	const struct ranked_access *a = class_ranking_accesses(&m->objects.classes, f);
	const struct profile *p = &m->window->profile;
	char interval[INTERVAL_BYTES];

	fprintf(out, "%5.1f%%  %-16s %8" PRIu64 "  ", 100 * f->fraction,
		interval_text(interval, &f->ci95), f->sum.samples);
	if (f->location)
		report_text_location(out, p, f->location);
	else
		fprintf(out, "%s, field not known", strings_get(&p->strings, f->class_name));
	fputc('\n', out);
	for (size_t i = 0; i < f->access_count && i < PATHS_SHOWN; i++)
		path(out, p, a[i].node, estimate_fraction(a[i].metric, f->sum.metric));
	if (f->access_count > PATHS_SHOWN)
		fprintf(out, "            and from %zu other contexts\n",
			f->access_count - PATHS_SHOWN);
}

static void fields(FILE *out, const struct report_model *m, const struct ranked_class *c)
{
	const struct ranked_field *f = class_ranking_fields(&m->objects.classes, c);
	size_t shown = 0;

	while (shown < c->field_count && shown < FIELDS_SHOWN &&
	       (shown == 0 || has_evidence(&f[shown].sum)))
		field(out, m, &f[shown++]);
	if (shown < c->field_count)
		fprintf(out, "        %zu more fields of it\n", c->field_count - shown);
}

/* Writes what the parts that follow are of, and what they take for granted. */
static void origin_heading(FILE *out, const struct report_model *m, const struct ranked_class *c,
			   const struct class_origin *o)
{
	char floor[INTERVAL_BYTES] = "";

	switch (o->basis) {
	case ORIGIN_TRACKED:
		fprintf(out,
			"allocated in (by %" PRIu64 " accesses to tracked objects of the class):\n",
			c->tracked.samples);
		break;
	case ORIGIN_INFERRED:
		fprintf(out,
			"allocated in, inferred from %" PRIu64
			" sampled allocations of the class (%" PRIu64
			" accesses met a tracked object of it):\n",
			o->allocations, c->tracked.samples);
		break;
	case ORIGIN_UNKNOWN:
		if (window_result_object_min_size(m->window))
			(void)snprintf(floor, sizeof(floor), ", or below %" PRIu64 " bytes",
				       window_result_object_min_size(m->window));
		fprintf(out,
			"allocated in: not known; no sampled allocation was of this class: its "
			"objects are older than the window, or few%s\n",
			floor);
		break;
	}
}

/* Where its objects come from. */
static void origin(FILE *out, const struct report_model *m, size_t class)
{
	const struct class_origin *o = &m->objects.origins.list[class];
	const struct profile *p = &m->window->profile;

	if (m->window->objects_refused[0] && !m->window->objects_off_ns)
		return; /* No allocation was looked at, which is said with the sites. */
	origin_heading(out, m, &m->objects.classes.classes[class], o);
	for (size_t i = 0; i < o->count && i < ORIGINS_SHOWN; i++) {
		const struct origin_site *s = &o->sites[i];

		fprintf(out, "    %5.1f%% (%.1f to %.1f)  at ", 100 * s->share, 100 * s->ci95.low,
			100 * s->ci95.high);
		frames(out, p, m->objects.ranking.sites[s->site].sum.node);
	}
	if (o->count > ORIGINS_SHOWN)
		fprintf(out, "            and in %zu other contexts\n", o->count - ORIGINS_SHOWN);
}

/* Once, above the first one that is an inference. */
static void assumption(FILE *out, const struct report_model *m, size_t opened)
{
	for (size_t i = 0; i < opened; i++) {
		if (m->objects.origins.list[i].basis != ORIGIN_INFERRED)
			continue;
		fputs("where allocations are inferred it is assumed that\n" CLASS_ORIGINS_ASSUMPTION
		      ";\nthe interval is that of the sampled allocations alone\n",
		      out);
		return;
	}
}

void report_text_classes(FILE *out, const struct report_model *m, size_t limit)
{
	const struct class_ranking *r = &m->objects.classes;
	const struct profile *p = &m->window->profile;
	size_t shown = 0, opened;

	if (r->field_count == 0) /* Nothing was sampled, or by a version that kept no classes. */
		return;
	fprintf(out, "Classes: %s of accesses to the heap, whenever the object was made\n",
		m->objects.metric);
	while (shown < r->count && shown < limit &&
	       (shown == 0 || has_evidence(&r->classes[shown].sum)))
		shown++;
	opened = shown < CLASSES_OPENED ? shown : CLASSES_OPENED;
	table(out, m, shown);
	assumption(out, m, opened);
	for (size_t i = 0; i < opened && !ferror(out); i++) {
		report_text_rule(out, NULL);
		fprintf(out, "%s, by field and by who accesses it\n",
			strings_get(&p->strings, r->classes[i].class_name));
		fields(out, m, &r->classes[i]);
		origin(out, m, i);
	}
	report_text_rule(out, NULL);
	fputc('\n', out);
}
