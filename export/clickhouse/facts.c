#include "export/clickhouse/facts.h"

#include <string.h>

#include "common/clock.h"
#include "proto/kinds.h"
#include "report/content/names.h"

#define DAY_S 86400u

/* ---------------------------------------------------------------- of each row */

static int put_day(struct house_writer *out, const struct house_row *row)
{
	return house_put_u16(out, (uint16_t)(row->window->start_unix_ns / NS_PER_S / DAY_S));
}

static int put_start(struct house_writer *out, const struct house_row *row)
{
	return house_put_u32(out, (uint32_t)(row->window->start_unix_ns / NS_PER_S));
}

static int put_app(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, row->window->app);
}

static int put_host(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, row->origin->host);
}

static int put_store(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, row->origin->store);
}

static int put_window(struct house_writer *out, const struct house_row *row)
{
	return house_put_u32(out, row->window->number);
}

static int put_number(struct house_writer *out, const struct house_row *row)
{
	return house_put_u32(out, row->number);
}

const struct house_column house_row_facts[] = {
    {"day", HOUSE_DATE, HOUSE_FACT, .put = put_day},
    {"start", HOUSE_TIME, HOUSE_FACT, .put = put_start},
    {"app", HOUSE_TEXT, HOUSE_FACT, .put = put_app},
    {"host", HOUSE_TEXT, HOUSE_FACT, .put = put_host},
    {"store", HOUSE_TEXT, HOUSE_FACT, .put = put_store},
    {"window_no", HOUSE_U32, HOUSE_FACT, .put = put_window},
    {"row_no", HOUSE_U32, HOUSE_FACT, .put = put_number},
    {.name = ""},
};

/* ---------------------------------------------------------------- of totals and sites */

static int put_total_kind(struct house_writer *out, const struct house_row *row)
{
	return house_put_kind(out, (Jxp__Kind)(row->number / HOUSE_PARTS));
}

static int put_total_part(struct house_writer *out, const struct house_row *row)
{
	return house_put_u8(out, (uint8_t)(row->number % HOUSE_PARTS));
}

const struct house_column house_kind_facts[] = {
    {"kind", HOUSE_TEXT, HOUSE_KEY, .put = put_total_kind},
    {"part", HOUSE_U8, HOUSE_KEY, .put = put_total_part},
    {.name = ""},
};

static int put_uncollected_count(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out,
			     object_profile_uncollected_count(&row->window->objects, row->row));
}

static int put_uncollected_bytes(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out,
			     object_profile_uncollected_bytes(&row->window->objects, row->row));
}

const struct house_column house_site_facts[] = {
    {"uncollected_count", HOUSE_F64, HOUSE_WEIGHTED, .weight = WEIGHT_TIME,
     .put = put_uncollected_count},
    {"uncollected_bytes", HOUSE_F64, HOUSE_WEIGHTED, .weight = WEIGHT_TIME,
     .put = put_uncollected_bytes},
    {.name = ""},
};

/* ---------------------------------------------------------------- of windows */

static int put_group(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, row->origin->group);
}

static int put_schedule(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, row->window->request.schedule.name);
}

static int put_asked(struct house_writer *out, const struct house_row *row)
{
	return house_put_u8(out, !window_request_is_scheduled(&row->window->request));
}

static int put_state(struct house_writer *out, const struct house_row *row)
{
	return house_put_text(out, window_result_state_name(row->window));
}

static int put_kinds(struct house_writer *out, const struct house_row *row)
{
	Jxp__Kind kinds[PAIR_KINDS + SUBJECT_KINDS];
	size_t count = kinds_list(row->window->request.kinds, kinds);
	int r = house_put_length(out, count);

	for (size_t i = 0; i < count && r == 0; i++)
		r = house_put_text(out, kind_option(kinds[i]));
	return r;
}

/* By Kind; the first stands for all windows (profile/combine/merge.h). */
static int put_is_for(struct house_writer *out, const struct house_row *row)
{
	int r = house_put_length(out, KIND_VALUES);

	for (int kind = 0; kind < KIND_VALUES && r == 0; kind++)
		r = house_put_u8(out,
				 kind == JXP__KIND__KIND_NONE || row->window->request.kinds[kind]);
	return r;
}

static int put_elapsed(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, clock_s(window_result_elapsed_ns(row->window)));
}

static int put_elapsed_ns(struct house_writer *out, const struct house_row *row)
{
	return house_put_u64(out, window_result_elapsed_ns(row->window));
}

static int put_cpu(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, clock_s(window_result_own_ns(row->window)));
}

static int put_overhead(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, clock_s(row->window->overhead_ns));
}

/* Seconds of such a JVM; a window that somebody asked for stands for itself. */
static int put_weight_s(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out,
			     row->weights.time * clock_s(window_result_elapsed_ns(row->window)));
}

static int put_weight(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, row->weights.time);
}

static int put_observation_weight(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, row->weights.pairs.observation);
}

static int put_cpu_weight(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, row->weights.pairs.cpu);
}

/* What a window stands for in averages over time, in seconds. */
static int put_objects_weight(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, row->weights.objects);
}

static int put_objects_ns(struct house_writer *out, const struct house_row *row)
{
	return house_put_u64(out, window_result_objects_ns(row->window));
}

static int put_whole(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, window_result_whole_ns(row->window));
}

static int put_after(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, window_result_after_ns(row->window));
}

static int put_tracks(struct house_writer *out, const struct house_row *row)
{
	return house_put_u8(out, window_result_tracks_objects(row->window));
}

static int put_heap(struct house_writer *out, const struct house_row *row)
{
	return house_put_f64(out, object_profile_heap(&row->window->objects));
}

static int put_samples(struct house_writer *out, const struct house_row *row)
{
	return house_put_u64(out, row->window->counters[JXP__COUNTER__COUNTER_SAMPLES]);
}

static int put_ticks(struct house_writer *out, const struct house_row *row)
{
	return house_put_u64(out, row->window->counters[JXP__COUNTER__COUNTER_TICKS]);
}

static int put_tick_ns(struct house_writer *out, const struct house_row *row)
{
	return house_put_u64(out, row->window->counters[JXP__COUNTER__COUNTER_TICK_NS]);
}

static int put_rows(struct house_writer *out, const struct house_row *row)
{
	int r = house_put_length(out, HOUSE_DATA);

	for (size_t i = 0; i < HOUSE_DATA && r == 0; i++)
		r = house_put_u32(out, row->rows[i]);
	return r;
}

const struct house_column house_window_facts[] = {
    {"day", HOUSE_DATE, HOUSE_FACT, .put = put_day},
    {"start", HOUSE_TIME, HOUSE_FACT, .put = put_start},
    {"host", HOUSE_TEXT, HOUSE_FACT, .put = put_host},
    {"host_group", HOUSE_TEXT, HOUSE_FACT, .put = put_group},
    {"store", HOUSE_TEXT, HOUSE_FACT, .put = put_store},
    {"window_no", HOUSE_U32, HOUSE_FACT, .put = put_window},
    {"schedule", HOUSE_TEXT, HOUSE_FACT, .put = put_schedule},
    {"asked", HOUSE_U8, HOUSE_FACT, .put = put_asked},
    {"outcome", HOUSE_TEXT, HOUSE_FACT, .put = put_state},
    {"kinds", HOUSE_TEXT, HOUSE_FACT, .array = true, .put = put_kinds},
    {"is_for", HOUSE_U8, HOUSE_FACT, .array = true, .put = put_is_for},
    {"elapsed_s", HOUSE_F64, HOUSE_FACT, .put = put_elapsed},
    {"elapsed_ns", HOUSE_U64, HOUSE_FACT, .put = put_elapsed_ns},
    {"cpu_s", HOUSE_F64, HOUSE_FACT, .put = put_cpu},
    {"overhead_s", HOUSE_F64, HOUSE_FACT, .put = put_overhead},
    {"samples", HOUSE_U64, HOUSE_FACT, .put = put_samples},
    {"ticks", HOUSE_U64, HOUSE_FACT, .put = put_ticks},
    {"tick_ns", HOUSE_U64, HOUSE_FACT, .put = put_tick_ns},
    {"weight_s", HOUSE_F64, HOUSE_FACT, .put = put_weight_s},
    {"weight", HOUSE_F64, HOUSE_FACT, .put = put_weight},
    {"observation_weight", HOUSE_F64, HOUSE_FACT, .put = put_observation_weight},
    {"cpu_weight", HOUSE_F64, HOUSE_FACT, .put = put_cpu_weight},
    {"objects_weight", HOUSE_F64, HOUSE_FACT, .put = put_objects_weight},
    {"tracks_objects", HOUSE_U8, HOUSE_FACT, .put = put_tracks},
    {"objects_ns", HOUSE_U64, HOUSE_FACT, .put = put_objects_ns},
    {"heap", HOUSE_F64, HOUSE_FACT, .put = put_heap},
    {"whole_ns", HOUSE_F64, HOUSE_FACT, .put = put_whole},
    {"after_ns", HOUSE_F64, HOUSE_FACT, .put = put_after},
    {"rows", HOUSE_U32, HOUSE_FACT, .array = true, .put = put_rows},
    {.name = ""},
};

/* ---------------------------------------------------------------- of contexts */

static int put_context(struct house_writer *out, const struct house_row *row)
{
	return house_put(out, row->hashes->of[row->number].bytes, HOUSE_HASH_BYTES);
}

/* Frames of the context of row->number, root first. */
static int put_frames(struct house_writer *out, const struct house_row *row,
		      int (*put)(struct house_writer *out, const struct profile *p,
				 const struct cct_node *node))
{
	const struct profile *p = &row->window->profile;
	uint32_t frames[MAX_FRAMES_LIMIT];
	size_t depth = 0;
	int r;

	for (uint32_t node = row->number; node && depth < MAX_FRAMES_LIMIT;
	     node = cct_node(&p->cct, node)->parent)
		frames[depth++] = node;
	r = house_put_length(out, depth);
	while (depth > 0 && r == 0)
		r = put(out, p, cct_node(&p->cct, frames[--depth]));
	return r;
}

static int put_frame_class(struct house_writer *out, const struct profile *p,
			   const struct cct_node *node)
{
	return house_put_class(out, method_names(p, node->method).class_name);
}

static int put_frame_method(struct house_writer *out, const struct profile *p,
			    const struct cct_node *node)
{
	return house_put_text(out, method_names(p, node->method).name);
}

static int put_frame_file(struct house_writer *out, const struct profile *p,
			  const struct cct_node *node)
{
	return house_put_text(out, method_names(p, node->method).file);
}

static int put_frame_bci(struct house_writer *out, const struct profile *p,
			 const struct cct_node *node)
{
	(void)p;
	return house_put_u32(out, (uint32_t)node->bci);
}

static int put_frame_line(struct house_writer *out, const struct profile *p,
			  const struct cct_node *node)
{
	(void)p;
	return house_put_u32(out, (uint32_t)node->line);
}

static int put_frame_tier(struct house_writer *out, const struct profile *p,
			  const struct cct_node *node)
{
	(void)p;
	return house_put_u8(out, (uint8_t)node->tier);
}

static int put_classes(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_class);
}

static int put_methods(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_method);
}

static int put_files(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_file);
}

static int put_bcis(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_bci);
}

static int put_lines(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_line);
}

static int put_tiers(struct house_writer *out, const struct house_row *row)
{
	return put_frames(out, row, put_frame_tier);
}

const struct house_column house_context_facts[] = {
    {"day", HOUSE_DATE, HOUSE_FACT, .put = put_day},
    {"host", HOUSE_TEXT, HOUSE_FACT, .put = put_host},
    {"context", HOUSE_HASH, HOUSE_KEY, .put = put_context},
    {"classes", HOUSE_TEXT, HOUSE_ANY, .array = true, .put = put_classes},
    {"methods", HOUSE_TEXT, HOUSE_ANY, .array = true, .put = put_methods},
    {"files", HOUSE_TEXT, HOUSE_ANY, .array = true, .put = put_files},
    {"bcis", HOUSE_I32, HOUSE_ANY, .array = true, .put = put_bcis},
    {"lines", HOUSE_I32, HOUSE_ANY, .array = true, .put = put_lines},
    {"tiers", HOUSE_U8, HOUSE_ANY, .array = true, .put = put_tiers},
    {.name = ""},
};
