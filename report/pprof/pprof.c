#include "report/pprof/pprof.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "report/pprof/pprof_writer.h"
#include "report/content/names.h"
#include "proto/words.h"

/* The most frames of all samples together: 4 bytes each before they are compressed, and 8 in who
 * reads them. */
#define FRAMES_MAX ((size_t)16 << 20)

#define COMMENT_BYTES 1024

/* Between the contexts of two sorts of pairs, and of the JVM's own threads. */
#define FRAMES_BESIDE_MAX 4

/* One that no node of the tree has. */
struct pprof_frame {
	const char *name;
	uint64_t location;
};

struct pprof_report {
	struct pprof_writer writer;
	const struct report_model *model;
	size_t rows; /* of each list at most */
	size_t frames_left;
	size_t types;
	struct pprof_frame frames[FRAMES_BESIDE_MAX];
	size_t frame_count;
};

static void cleanup_writer(struct pprof_report *p)
{
	pprof_writer_release(&p->writer);
}

/* ---------------------------------------------------------------- samples */

/* The location of a frame that the tree does not have: told once. */
static uint64_t frame_of(struct pprof_report *p, const char *name)
{
	size_t i = 0;

	while (i < p->frame_count && p->frames[i].name != name)
		i++;
	if (i == p->frame_count) {
		assert(i < FRAMES_BESIDE_MAX);
		p->frames[p->frame_count++] =
		    (struct pprof_frame){name, pprof_writer_frame(&p->writer, name)};
	}
	return p->frames[i].location;
}

/* The values that come with it are those of its own types, and there are so many in all. */
static void put_sample(struct pprof_report *p, const struct series_sample *from,
		       const int64_t *values, size_t value_count, size_t type)
{
	const struct sample_stack *stack = &from->stack;
	struct pprof_sample sample = {0};

	if (stack->frame)
		sample.frames[sample.frame_count++] = frame_of(p, stack->frame);
	else
		pprof_writer_path(&p->writer, stack->leaf, &sample);
	if (stack->between) {
		sample.frames[sample.frame_count++] = frame_of(p, stack->between);
		pprof_writer_path(&p->writer, stack->outer, &sample);
	}
	memcpy(sample.values + type, values, value_count * sizeof(*values));
	for (size_t i = 0; i < from->label_count; i++)
		pprof_writer_label(&p->writer, &sample, from->labels[i].key, from->labels[i].text);
	pprof_writer_sample(&p->writer, &sample, p->types);
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

/* False when its frames are too many. */
static bool take_frames(struct pprof_report *p, const struct series_row *row)
{
	size_t frames = row->count > 0 ? sample_stack_frames(p->model, &row->samples[0].stack) : 0;

	if (frames > p->frames_left || pprof_writer_failed(&p->writer))
		return false;
	p->frames_left -= frames;
	return true;
}

static void put_row(struct pprof_report *p, const struct sample_series *s,
		    const struct series_row *row, size_t type)
{
	for (size_t i = 0; i < row->count; i++)
		put_sample(p, &row->samples[i], row->samples[i].values, s->value_count, type);
}

/* The first type of the series is that one of the profile. Of threads without a context there are a
 * few, however many contexts there is room for. */
static void put_series(struct pprof_report *p, const struct sample_series *s, size_t type)
{
	struct series_row row;
	size_t shown = 0;

	for (; shown < s->rows && shown < p->rows; shown++) {
		sample_series_row(p->model, s, shown, &row);
		if (!take_frames(p, &row))
			break;
		put_row(p, s, &row, type);
	}
	for (size_t i = 0; i < s->rows_beside; i++) {
		sample_series_row(p->model, s, s->rows + i, &row);
		put_row(p, s, &row, type);
	}
	tell_left_out(p, shown, s->rows, s->of);
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

/* ---------------------------------------------------------------- the whole */

/* Tells what pprof shows unless it is told: a type of the first series of which there is something,
 * of pairs their CPU time where it is known. */
static const char *default_type(const struct sample_series *series, size_t count)
{
	size_t i = 0;

	while (i < count && series[i].rows + series[i].rows_beside == 0)
		i++;
	if (i == count)
		return "";
	return series[i].values[series[i].of_kind ? series[i].value_count - 1 : 0].type;
}

/* Writes what a sample of the window is, and how long it lasted. */
static void put_window(struct pprof_report *p, const struct sample_period *taken,
		       const char *default_sample_type)
{
	const struct report_model *m = p->model;
	const struct window_result *w = m->window;
	Perftools__Profiles__Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	Perftools__Profiles__ValueType period = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT;
	Perftools__Profiles__Mapping *mappings = &mapping;

	part.time_nanos = (int64_t)w->start_unix_ns;
	part.duration_nanos = (int64_t)m->elapsed_ns;
	period.type = pprof_writer_text(&p->writer, taken->type);
	period.unit = pprof_writer_text(&p->writer, taken->unit);
	part.period_type = &period;
	part.period = (int64_t)taken->period;
	part.default_sample_type = pprof_writer_text(&p->writer, default_sample_type);
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

static void add_type(struct pprof_report *p, const struct sample_value *v)
{
	pprof_writer_type(&p->writer, v->type, v->unit);
	p->types++;
}

/* All types come before the first sample. */
static void write_samples(struct pprof_report *p, const struct sample_series *series, size_t count)
{
	size_t type = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < series[i].value_count; j++)
			add_type(p, &series[i].values[j]);
	for (size_t i = 0; i < count; i++) {
		put_series(p, &series[i], type);
		type += series[i].value_count;
	}
	if (p->model->cpu.taken)
		tell_without_context(p);
}

static int finish(struct pprof_report *p, const struct sample_period *period,
		  const char *default_sample_type)
{
	put_window(p, period, default_sample_type);
	comment_window(p);
	if (p->writer.names_left_out)
		pprof_writer_comment(&p->writer, "names that did not fit are '[left out]'");
	return pprof_writer_finish(&p->writer);
}

int report_pprof_write(FILE *out, const struct report_model *m, size_t rows)
{
	const struct profile *profile = &m->window->profile;
	_cleanup_(cleanup_writer) struct pprof_report p = {
	    .model = m, .rows = rows, .frames_left = FRAMES_MAX};
	struct sample_series series[SAMPLE_SERIES_MAX];
	size_t count = sample_series_list(m, series);
	struct sample_period period = sample_period_of(m);

	if (pprof_writer_init(&p.writer, out, &profile->strings, &profile->cct) < 0)
		return -ENOMEM;
	write_samples(&p, series, count);
	return finish(&p, &period, default_type(series, count));
}

/* Those that are not wanted are taken out. */
static void keep_labels(struct series_sample *s, const char *const *keys)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->label_count; i++) {
		const char *const *key = keys;

		while (*key && strcmp(*key, s->labels[i].key) != 0)
			key++;
		if (*key)
			s->labels[kept++] = s->labels[i];
	}
	s->label_count = kept;
}

int report_pprof_write_value(FILE *out, const struct report_model *m, const struct pprof_value *v,
			     const struct series_pick *picks, size_t count,
			     struct pprof_extent *extent)
{
	const struct profile *profile = &m->window->profile;
	const struct sample_value *value = &v->series->values[v->value];
	_cleanup_(cleanup_writer) struct pprof_report p = {.model = m, .frames_left = FRAMES_MAX};
	struct series_row row;
	size_t shown = 0;
	int r;

	if (pprof_writer_init(&p.writer, out, &profile->strings, &profile->cct) < 0)
		return -ENOMEM;
	add_type(&p, value);
	for (; shown < count; shown++) {
		struct series_sample *sample = &row.samples[picks[shown].sample];

		sample_series_row(m, v->series, picks[shown].row, &row);
		if (!take_frames(&p, &row))
			break;
		keep_labels(sample, v->labels);
		put_sample(&p, sample, &picks[shown].value, 1, 0);
	}
	r = finish(&p, &value->period, value->type);
	*extent = (struct pprof_extent){shown, p.writer.stream.total_in};
	return r;
}
