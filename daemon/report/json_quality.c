/* "quality" in the JSON report: what was lost and where, and "side_effects", what the window did to
 * its JVM (daemon/profile/side_effects.h). */
#include "daemon/report/json_parts.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "proto/counters.h"

static const char *const effect_names[EFFECT_MAX] = {
    [EFFECT_COLLECTIONS] = "gc_per_s",           [EFFECT_GC_TIME] = "gc_time_fraction",
    [EFFECT_GC_CPU] = "gc_threads_cpu_fraction", [EFFECT_FAULTS] = "page_faults_per_s",
    [EFFECT_HEAP] = "heap_after_gc_bytes",
};

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* The figures of one time, each by its name. */
static json_t *time_json(const struct report_model *m, enum effect_time t)
{
	const struct report_effects *e = &m->quality.effects;
	_cleanup_json_ json_t *figures = json_object();

	if (m->window->side_effects.counts[t] == 0)
		return json_null();
	for (int i = 0; i < EFFECT_MAX; i++)
		if (json_object_set_new(figures, effect_names[i],
					number_or_null(e->figures[t][i])) < 0)
			return NULL;
	if (json_object_set_new(figures, "seconds", json_real(e->seconds[t])) < 0)
		return NULL;
	return TAKE_PTR(figures);
}

static json_t *rises_json(const struct side_effects *s)
{
	_cleanup_json_ json_t *rises = json_array();

	for (int i = 0; i < EFFECT_MAX; i++)
		if (s->rose[i] && json_array_append_new(rises, json_string(effect_names[i])) < 0)
			return NULL;
	return TAKE_PTR(rises);
}

static json_t *side_effects_json(const struct report_model *m)
{
	const struct side_effects *s = &m->window->side_effects;
	const struct report_effects *e = &m->quality.effects;
	_cleanup_json_ json_t *all = json_pack(
	    "{s:b, s:s, s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "available", s->count > 0, "reason",
	    s->reason, "baseline", e->baseline == EFFECT_BEFORE ? "before" : "lifetime",
	    "baseline_s", e->seconds[e->baseline], "observed_s", e->seconds[EFFECT_IN], "rose",
	    rises_json(s), "lifetime", time_json(m, EFFECT_LIFETIME), "after_objects",
	    time_json(m, EFFECT_AFTER), "objects_switched_off_after_s",
	    m->window->objects_off_ns ? json_real(m->quality.tracked_s) : json_null());

	for (int i = 0; i < EFFECT_MAX && all; i++)
		if (json_object_set_new(all, effect_names[i],
					json_pack("[o, o]",
						  number_or_null(e->figures[e->baseline][i]),
						  number_or_null(e->figures[EFFECT_IN][i]))) < 0)
			return NULL;
	return TAKE_PTR(all);
}

static json_t *seconds(uint64_t ns)
{
	return json_real((double)ns / (double)NS_PER_S);
}

/* Sampled accesses, or ticks, by how sure it is who made them. */
static json_t *attribution_json(const uint64_t counts[CERTAINTY_VALUES])
{
	_cleanup_json_ json_t *all = json_object();
	int r = 0;

	for (int i = CERTAINTY_NONE + 1; i < CERTAINTY_VALUES; i++)
		r |= json_object_set_new(all, certainty_name((enum certainty)i),
					 json_integer((json_int_t)counts[i]));
	return r == 0 ? TAKE_PTR(all) : NULL;
}

json_t *report_json_quality(const struct report_model *m)
{
	const struct report_quality *q = &m->quality;
	const struct window_result *w = m->window;
	_cleanup_json_ json_t *quality = json_object();
	char key[64];
	int r = 0;

	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		r |= json_object_set_new(quality, counter_name((Jxp__Counter)i),
					 json_integer((json_int_t)w->counters[i]));
	for (int i = 0; i < LOSS_MAX; i++) {
		(void)snprintf(key, sizeof(key), "dropped_%s", loss_words[i].name); /* Fits. */
		r |= json_object_set_new(quality, key, json_integer((json_int_t)w->losses[i]));
	}
	r |= json_object_set_new(quality, "dropped", json_integer((json_int_t)q->dropped));
	r |= json_object_set_new(quality, "cpu_ns", json_integer((json_int_t)w->cpu_ns));
	r |= json_object_set_new(quality, "overhead_ns", json_integer((json_int_t)w->overhead_ns));
	r |= json_object_set_new(quality, "target_cpu_s", seconds(w->cpu_ns));
	r |= json_object_set_new(quality, "overhead_cpu_s", seconds(w->overhead_ns));
	r |= json_object_set_new(quality, "setup_cpu_s", seconds(w->setup_ns));
	r |= json_object_set_new(quality, "target_idle", json_boolean(q->target_idle));
	r |= json_object_set_new(quality, "overhead_fraction",
				 q->overhead_known ? json_real(q->overhead_fraction) : json_null());
	r |= json_object_set_new(quality, "objects_switched_off",
				 json_integer(w->objects_off_ns != 0));
	r |= json_object_set_new(quality, "attribution", attribution_json(w->attributed));
	r |=
	    json_object_set_new(quality, "tick_attribution", attribution_json(w->ticks_attributed));
	r |= json_object_set_new(quality, "side_effects", side_effects_json(m));
	return r == 0 ? TAKE_PTR(quality) : NULL;
}
