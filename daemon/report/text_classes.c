/* Classes in the text report: what is accessed in the heap, whenever the object was made; then, of
 * the first ones, their fields, and from where these are accessed. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>

#include "daemon/report/writer/text_writer.h"

/* A row stands for so many samples at least; below, rows are one. */
#define EVIDENCE_MIN 5

#define CLASSES_OPENED 5 /* whose fields are shown */
#define FIELDS_SHOWN   5
#define PATHS_SHOWN    3
#define FRAMES_SHOWN   5

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

/* What there is no room for, or too little evidence of to be told apart. */
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
	fputs("older: the part that went to objects made before the window, or of which none is "
	      "tracked; ?: too few\nwere tracked to tell\n",
	      out);
}

/* Leaf first: the line that makes the access, then who called it. */
static void path(FILE *out, const struct profile *p, uint32_t leaf, double part)
{
	uint32_t node = leaf;

	fprintf(out, "    %5.1f%%  at ", 100 * part);
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

void report_text_classes(FILE *out, const struct report_model *m, size_t limit)
{
	const struct class_ranking *r = &m->objects.classes;
	const struct profile *p = &m->window->profile;
	size_t shown = 0;

	if (r->field_count == 0) /* Nothing was sampled, or by a version that kept no classes. */
		return;
	fprintf(out, "Classes: %s of accesses to the heap, whenever the object was made\n",
		m->objects.metric);
	while (shown < r->count && shown < limit &&
	       (shown == 0 || has_evidence(&r->classes[shown].sum)))
		shown++;
	table(out, m, shown);
	for (size_t i = 0; i < shown && i < CLASSES_OPENED && !ferror(out); i++) {
		report_text_rule(out, NULL);
		fprintf(out, "%s, by field and by who accesses it\n",
			strings_get(&p->strings, r->classes[i].class_name));
		fields(out, m, &r->classes[i]);
	}
	report_text_rule(out, NULL);
	fputc('\n', out);
}
