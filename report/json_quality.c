/* "quality" in the JSON report: what was lost and where, and "side_effects", what the window did to
 * its JVM (profile/side_effects.h). */
#include "report/json_parts.h"

#include <math.h>
#include <stdio.h>

#include "common/clock.h"
#include "proto/counters.h"

static const char *const effect_names[EFFECT_MAX] = {
    [EFFECT_COLLECTIONS] = "gc_per_s",           [EFFECT_GC_TIME] = "gc_time_fraction",
    [EFFECT_GC_CPU] = "gc_threads_cpu_fraction", [EFFECT_FAULTS] = "page_faults_per_s",
    [EFFECT_HEAP] = "heap_after_gc_bytes",
};

static json_t *figure_json(double value)
{
	return json_known(isfinite(value), value);
}

/* The figures of one time, each by its name. */
static json_t *time_json(const struct report_model *m, enum effect_time t)
{
	const struct report_effects *e = &m->quality.effects;
	json_t *figures;

	if (m->window->side_effects.counts[t] == 0)
		return json_null();
	figures = json_object();
	for (int i = 0; i < EFFECT_MAX; i++)
		figures = json_with(figures, effect_names[i], figure_json(e->figures[t][i]));
	return json_with(figures, "seconds", json_real(e->seconds[t]));
}

static json_t *side_effects_json(const struct report_model *m)
{
	const struct side_effects *s = &m->window->side_effects;
	const struct report_effects *e = &m->quality.effects;
	json_t *rises = json_array(), *all;

	for (int i = 0; i < EFFECT_MAX; i++)
		if (s->rose[i])
			rises = json_appended(rises, json_string(effect_names[i]));
	all = JSON_OBJECT(
	    {"available", json_boolean(s->count > 0)}, {"reason", json_string(s->reason)},
	    {"baseline", json_string(e->baseline == EFFECT_BEFORE ? "before" : "lifetime")},
	    {"baseline_s", json_real(e->seconds[e->baseline])},
	    {"observed_s", json_real(e->seconds[EFFECT_IN])}, {"rose", rises},
	    {"lifetime", time_json(m, EFFECT_LIFETIME)},
	    {"after_objects", time_json(m, EFFECT_AFTER)},
	    {"objects_switched_off_after_s",
	     json_known(m->window->objects_off_ns, m->quality.tracked_s)});
	for (int i = 0; i < EFFECT_MAX; i++)
		all = json_with(all, effect_names[i],
				json_pack("[o, o]", figure_json(e->figures[e->baseline][i]),
					  figure_json(e->figures[EFFECT_IN][i])));
	return all;
}

/* Sampled accesses, or ticks, by how sure it is who made them. */
static json_t *attribution_json(const uint64_t counts[CERTAINTY_VALUES])
{
	json_t *all = json_object();

	for (int i = CERTAINTY_NONE + 1; i < CERTAINTY_VALUES; i++)
		all = json_with(all, certainty_name((enum certainty)i),
				json_integer((json_int_t)counts[i]));
	return all;
}

json_t *report_json_quality(const struct report_model *m)
{
	const struct report_quality *q = &m->quality;
	const struct window_result *w = m->window;
	json_t *quality = json_object();
	char key[64];

	for (int i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		quality = json_with(quality, counter_name((Jxp__Counter)i),
				    json_integer((json_int_t)w->counters[i]));
	for (int i = 0; i < LOSS_MAX; i++) {
		(void)snprintf(key, sizeof(key), "dropped_%s", loss_words[i].name); /* Fits. */
		quality = json_with(quality, key, json_integer((json_int_t)w->losses[i]));
	}
	return json_joined(
	    quality,
	    JSON_OBJECT({"dropped", json_integer((json_int_t)q->dropped)},
			{"cpu_ns", json_integer((json_int_t)w->cpu_ns)},
			{"overhead_ns", json_integer((json_int_t)w->overhead_ns)},
			{"target_cpu_s", json_real(clock_s(w->cpu_ns))},
			{"overhead_cpu_s", json_real(clock_s(w->overhead_ns))},
			{"setup_cpu_s", json_real(clock_s(w->setup_ns))},
			{"target_idle", json_boolean((int)q->target_idle)},
			{"overhead_fraction", json_known(q->overhead_known, q->overhead_fraction)},
			{"objects_switched_off", json_integer(w->objects_off_ns != 0)},
			{"attribution", attribution_json(w->attributed)},
			{"tick_attribution", attribution_json(w->ticks_attributed)},
			{"side_effects", side_effects_json(m)}));
}
