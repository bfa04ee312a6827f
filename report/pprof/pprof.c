#include "report/pprof/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/cleanup.h"
#include "report/pprof/pprof_writer.h"
#include "report/content/names.h"
#include "proto/words.h"

/* The most frames of all samples together: 4 bytes each before they are compressed, and 8 in who
 * reads them. */
#define FRAMES_MAX ((size_t)16 << 20)

/* Exact as a double, and far above what is true. */
#define VALUE_MAX 9e15

#define COMMENT_BYTES 1024
#define FIELD_BYTES   (2 * LIMIT_STRING_BYTES + 64)

/* By pair_waste: between the two contexts of a pair, the outer one's leaf above it. */
static const char *const between[] = {
    [PAIR_WASTE_OVERWRITTEN] = "[overwrites, unread, what was stored by]",
    [PAIR_WASTE_SAME_VALUE] = "[and then the same value again by]",
};

struct pprof_report {
	struct pprof_writer writer;
	const struct report_model *model;
	size_t rows; /* of each list at most */
	size_t frames_left;
	size_t types;
};

static void cleanup_writer(struct pprof_report *p)
{
	pprof_writer_release(&p->writer);
}

/* ---------------------------------------------------------------- values */

static int64_t value_of(double estimate)
{
	return (int64_t)fmin(fmax(round(estimate), 0), VALUE_MAX);
}

/* The type's place among the values. */
static size_t add_type(struct pprof_report *p, const char *type, const char *unit)
{
	pprof_writer_type(&p->writer, type, unit);
	return p->types++;
}

/* False when the sample is one too many. */
static bool take_frames(struct pprof_report *p, uint32_t leaf, uint32_t other)
{
	const struct cct *cct = &p->model->window->profile.cct;
	size_t frames = cct_depth(cct, leaf) + cct_depth(cct, other) + 1;

	if (frames > p->frames_left || pprof_writer_failed(&p->writer))
		return false;
	p->frames_left -= frames;
	return true;
}

static void tell_left_out(struct pprof_report *p, size_t shown, size_t all, const char *what)
{
	char text[COMMENT_BYTES];

	if (shown == all)
		return;
	(void)snprintf(text, sizeof(text), "%zu of %zu %s are not in this profile", all - shown,
		       all, what);
	pprof_writer_comment(&p->writer, text);
}

/* ---------------------------------------------------------------- pairs */

/* "" for what has no name. */
static void field_of(char text[FIELD_BYTES], const struct profile *p, uint32_t location)
{
	struct place_names place = place_names(p, location);

	text[0] = '\0';
	switch (place.kind) {
	case JXP__LOCATION__KIND__FIELD: /* A field is of the class that declares it, as in
					    by_location. */
		(void)snprintf(text, FIELD_BYTES, "%s.%s", place.owner, place.field);
		break;
	case JXP__LOCATION__KIND__STATIC:
		(void)snprintf(text, FIELD_BYTES, "%s.%s", place.class_name, place.field);
		break;
	case JXP__LOCATION__KIND__ELEMENT:
		(void)snprintf(text, FIELD_BYTES, "element of %s", place.class_name);
		break;
	case JXP__LOCATION__KIND__HEADER:
		(void)snprintf(text, FIELD_BYTES, "header of %s", place.class_name);
		break;
	case JXP__LOCATION__KIND__SPILL:
	case JXP__LOCATION__KIND__STACK:
		(void)snprintf(text, FIELD_BYTES, "%s", name_of_location(place.kind));
		break;
	default:
		break;
	}
}

static void put_pair(struct pprof_report *p, const struct report_kind *k, const struct pair *pair,
		     size_t type, uint64_t frame)
{
	bool first = k->kind->waste == PAIR_WASTE_OVERWRITTEN;
	struct pprof_writer *w = &p->writer;
	struct pprof_sample sample = {0};
	char field[FIELD_BYTES];

	pprof_writer_path(w, first ? pair->watch_node : pair->trap_node, &sample);
	sample.frames[sample.frame_count++] = frame;
	pprof_writer_path(w, first ? pair->trap_node : pair->watch_node, &sample);
	sample.values[type] = value_of((double)pair->wasteful_bytes);
	if (k->cpu.known)
		sample.values[type + 1] = value_of(pair->cpu.ns);
	field_of(field, &p->model->window->profile, pair->location);
	pprof_writer_label(w, &sample, "kind", k->kind->name);
	pprof_writer_label(w, &sample, "region", name_of_region((Jxp__Region)pair->region));
	pprof_writer_label(w, &sample, "field", field);
	pprof_writer_sample(w, &sample, p->types);
}

static void put_pairs(struct pprof_report *p, const struct report_kind *k, size_t type)
{
	const struct pair_ranking *ranking = &k->pairs;
	char what[64];
	uint64_t frame = 0;
	size_t i = 0;

	if (ranking->count > 0)
		frame = pprof_writer_frame(&p->writer, between[k->kind->waste]);
	for (; i < ranking->count && i < p->rows; i++) {
		const struct pair *pair = &ranking->pairs[i].sum;

		if (!take_frames(p, pair->watch_node, pair->trap_node))
			break;
		put_pair(p, k, pair, type, frame);
	}
	(void)snprintf(what, sizeof(what), "pairs of %s", k->kind->title); /* Fits. */
	tell_left_out(p, i, ranking->count, what);
}

/* The type of its bytes; behind it is that of CPU time, where that is known. */
static size_t add_kind_types(struct pprof_report *p, const struct report_kind *k)
{
	char type[64];
	size_t first;

	(void)snprintf(type, sizeof(type), "%s_bytes", k->kind->name); /* Fits. */
	first = add_type(p, type, "bytes");
	(void)snprintf(type, sizeof(type), "%s_cpu", k->kind->name);
	if (k->cpu.known)
		(void)add_type(p, type, "nanoseconds"); /* Behind the first. */
	return first;
}

/* ---------------------------------------------------------------- objects */

/* Where they are allocated. */
static void put_sites(struct pprof_report *p, size_t type)
{
	const struct object_ranking *ranking = &p->model->objects.ranking;
	const struct profile *profile = &p->model->window->profile;
	struct pprof_writer *w = &p->writer;
	size_t i = 0;

	for (; i < ranking->count && i < p->rows; i++) {
		const struct object_site *site = &ranking->sites[i].sum;
		struct pprof_sample sample = {0};

		if (!take_frames(p, site->node, 0))
			break;
		pprof_writer_path(w, site->node, &sample);
		sample.values[type] = value_of(site->metric);
		sample.values[type + 1] = value_of(site->alloc_bytes);
		pprof_writer_label(w, &sample, "kind", "objects");
		pprof_writer_label(w, &sample, "class",
				   strings_get(&profile->strings, site->class_name));
		pprof_writer_sample(w, &sample, p->types);
	}
	tell_left_out(p, i, ranking->count, "allocation sites");
}

static size_t add_object_types(struct pprof_report *p)
{
	const char *unit = p->model->objects.unit;
	size_t first =
	    add_type(p, "object_accesses", strcmp(unit, "ns") == 0 ? "nanoseconds" : unit);

	(void)add_type(p, "object_bytes", "bytes"); /* Behind the first. */
	return first;
}

/* ---------------------------------------------------------------- CPU time */

/* The JVM's own threads have no ticks: they get as many as their CPU time would have made, as in
 * collapsed stacks. */
static void put_beside(struct pprof_report *p, size_t type, const char *name, double seen_ns)
{
	const struct window_result *w = p->model->window;
	double ns = window_result_beside_ns(w, seen_ns);
	struct pprof_sample sample = {.frame_count = 1};

	sample.values[type] = value_of(cpu_profile_ticks_of(&w->cpu, ns));
	sample.values[type + 1] = value_of(window_result_own_part(w) * ns);
	if (sample.values[type] == 0)
		return;
	sample.frames[0] = pprof_writer_frame(&p->writer, name);
	pprof_writer_label(&p->writer, &sample, "kind", "cpu");
	pprof_writer_sample(&p->writer, &sample, p->types);
}

/* One sample for each sort of code that the leaf was in. own: the part of its time that is the
 * program's. */
static void put_context(struct pprof_report *p, const struct cpu_context *c, size_t type,
			double own)
{
	static const char *const code[CPU_CODES] = {[CPU_COMPILED] = "compiled",
						    [CPU_INTERPRETED] = "interpreted",
						    [CPU_NATIVE] = "native",
						    [CPU_KERNEL] = "kernel"};
	struct pprof_sample sample = {0};
	size_t labels;

	pprof_writer_path(&p->writer, c->node, &sample);
	pprof_writer_label(&p->writer, &sample, "kind", "cpu");
	labels = sample.label_count;
	for (size_t i = 0; i < CPU_CODES; i++) {
		if (c->code[i].samples == 0)
			continue;
		sample.values[type] = value_of((double)c->code[i].samples);
		sample.values[type + 1] = value_of(own * c->code[i].ns);
		sample.label_count = labels;
		pprof_writer_label(&p->writer, &sample, "code", code[i]);
		pprof_writer_sample(&p->writer, &sample, p->types);
	}
}

static void tell_without_context(struct pprof_report *p)
{
	const struct cpu_profile *c = &p->model->window->cpu;
	char text[COMMENT_BYTES];

	(void)snprintf(text, sizeof(text),
		       "ticks in no sample: %" PRIu64 " with stacks cut at their root, %" PRIu64
		       " with a lost one, %" PRIu64 " whose stack the JVM could not tell, %" PRIu64
		       " of threads that run no Java code",
		       c->truncated.samples, c->lost.samples + c->refused,
		       c->states[JXP__CPU_SAMPLE__STATE__UNKNOWN].samples,
		       c->states[JXP__CPU_SAMPLE__STATE__NO_JAVA].samples +
			   c->states[JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL].samples);
	pprof_writer_comment(&p->writer, text);
}

static void put_ticks(struct pprof_report *p, size_t type)
{
	const struct cpu_ranking *ranking = &p->model->cpu.ranking;
	const struct cpu_beside *beside = &p->model->window->cpu.beside;
	const double own = window_result_own_part(p->model->window);
	size_t i = 0;

	for (; i < ranking->context_count && i < p->rows; i++) {
		if (!take_frames(p, ranking->contexts[i].node, 0))
			break;
		put_context(p, &ranking->contexts[i], type, own);
	}
	put_beside(p, type, "[garbage collector]", beside->gc_ns);
	put_beside(p, type, "[compilers]", beside->jit_ns);
	tell_left_out(p, i, ranking->context_count, "calling contexts of ticks");
	tell_without_context(p);
}

/* As profiles of CPU time that Go programs write are called, so that readers know which number is a
 * count of samples. */
static size_t add_tick_types(struct pprof_report *p)
{
	size_t first = add_type(p, "samples", "count");

	(void)add_type(p, "cpu", "nanoseconds"); /* Behind the first. */
	return first;
}

/* ---------------------------------------------------------------- the whole */

/* Tells what pprof shows unless it is told: the first type of which there is something. */
static const char *default_type(char type[64], const struct report_model *m)
{
	for (size_t i = 0; i < m->kind_count; i++)
		if (m->kinds[i].pairs.count > 0) {
			(void)snprintf(type, 64, "%s_%s", m->kinds[i].kind->name,
				       m->kinds[i].cpu.known ? "cpu" : "bytes"); /* Fits. */
			return type;
		}
	if (m->objects.ranking.count > 0)
		return "object_accesses";
	return m->cpu.taken ? "samples" : "";
}

/* Writes what a sample of the window is, and how long it lasted. */
static void put_window(struct pprof_report *p)
{
	const struct report_model *m = p->model;
	const struct window_result *w = m->window;
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Mapping *mappings = &mapping;
	char type[64];

	part.time_nanos = (int64_t)w->start_unix_ns;
	part.duration_nanos = (int64_t)m->elapsed_ns;
	period.type =
	    pprof_writer_text(&p->writer, m->period.operations ? "memory_operations" : "cpu");
	period.unit =
	    pprof_writer_text(&p->writer, m->period.operations ? "operations" : "nanoseconds");
	part.period_type = &period;
	part.period = (int64_t)(m->period.effective ? m->period.effective : m->period.asked);
	part.default_sample_type = pprof_writer_text(&p->writer, default_type(type, m));
	mapping.id = PPROF_MAPPING_ID;
	mapping.filename = pprof_writer_text(&p->writer, w->app);
	/* So that nobody looks for a program with symbols. */
	mapping.has_functions = mapping.has_filenames = true;
	mapping.has_line_numbers = mapping.has_inline_frames = true;
	part.n_mapping = 1;
	part.mapping = &mappings;
	pprof_writer_put(&p->writer, &part);
}

static void comment_window(struct pprof_report *p)
{
	const struct window_result *w = p->model->window;
	char text[COMMENT_BYTES];

	if (w->merged)
		(void)snprintf(text, sizeof(text), "jxperf: %u windows, w%u to w%u",
			       w->merged->windows, w->merged->first, w->merged->last);
	else
		(void)snprintf(text, sizeof(text), "jxperf: window %s of pid %d", w->id,
			       (int)w->pid);
	pprof_writer_comment(&p->writer, text);
	(void)snprintf(text, sizeof(text), "%s on JDK %s, %s", w->app, w->jdk, w->gc);
	pprof_writer_comment(&p->writer, text);
	(void)snprintf(text, sizeof(text), "sampler %s, gate %s, %s%s%s",
		       name_of_sampler(w->findings.sampler), p->model->gate,
		       window_result_state_name(w), w->reason[0] ? ": " : "", w->reason);
	pprof_writer_comment(&p->writer, text);
}

/* All types come before the first sample. */
static void write_samples(struct pprof_report *p)
{
	const struct report_model *m = p->model;
	size_t kinds[PAIR_KINDS] = {0}, objects = 0, ticks = 0;
	size_t count = m->shown.pairs ? m->kind_count : 0;

	for (size_t i = 0; i < count; i++)
		kinds[i] = add_kind_types(p, &m->kinds[i]);
	if (m->objects.tracked)
		objects = add_object_types(p);
	if (m->cpu.taken)
		ticks = add_tick_types(p);
	for (size_t i = 0; i < count; i++)
		put_pairs(p, &m->kinds[i], kinds[i]);
	if (m->objects.tracked)
		put_sites(p, objects);
	if (m->cpu.taken)
		put_ticks(p, ticks);
}

int report_pprof_write(FILE *out, const struct report_model *m, size_t rows)
{
	const struct profile *profile = &m->window->profile;
	_cleanup_(cleanup_writer) struct pprof_report p = {
	    .model = m, .rows = rows, .frames_left = FRAMES_MAX};

	if (pprof_writer_init(&p.writer, out, &profile->strings, &profile->cct) < 0)
		return -ENOMEM;
	write_samples(&p);
	put_window(&p);
	comment_window(&p);
	if (p.writer.names_left_out)
		pprof_writer_comment(&p.writer, "names that did not fit are '[left out]'");
	return pprof_writer_finish(&p.writer);
}
