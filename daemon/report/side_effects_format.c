#include "daemon/report/side_effects_format.h"

#include <math.h>

#include "common/clock.h"
#include "daemon/report/json.h"
#include "daemon/report/text.h"

static const char *const effect_names[EFFECT_MAX] = {
    [EFFECT_COLLECTIONS] = "gc_per_s",           [EFFECT_GC_TIME] = "gc_time_fraction",
    [EFFECT_GC_CPU] = "gc_threads_cpu_fraction", [EFFECT_FAULTS] = "page_faults_per_s",
    [EFFECT_HEAP] = "heap_after_gc_bytes",
};

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* GC threads' CPU time is judged as a number of CPUs, and said as a part of the process's. */
static double value(const struct side_effects *s, enum effect e, enum effect_time t)
{
	return e == EFFECT_GC_CPU ? side_effects_gc_cpu_fraction(s, t) : side_effects_mean(s, e, t);
}

/* The figures of one time, each by its name. */
static json_t *time_json(const struct side_effects *s, enum effect_time t)
{
	_cleanup_json_ json_t *figures = json_object();

	if (s->counts[t] == 0)
		return json_null();
	for (int e = 0; e < EFFECT_MAX; e++)
		if (json_object_set_new(figures, effect_names[e],
					number_or_null(value(s, (enum effect)e, t))) < 0)
			return NULL;
	if (json_object_set_new(figures, "seconds", json_real(side_effects_seconds(s, t))) < 0)
		return NULL;
	return TAKE_PTR(figures);
}

static json_t *rises_json(const struct side_effects *s)
{
	_cleanup_json_ json_t *rises = json_array();

	for (int e = 0; e < EFFECT_MAX; e++)
		if (s->rose[e] && json_array_append_new(rises, json_string(effect_names[e])) < 0)
			return NULL;
	return TAKE_PTR(rises);
}

/* Windows for pairs alone may begin as soon as the JVM is looked at. */
static enum effect_time baseline(const struct side_effects *s)
{
	return side_effects_seconds(s, EFFECT_BEFORE) > 0 ? EFFECT_BEFORE : EFFECT_LIFETIME;
}

static json_t *both_json(const struct side_effects *s, enum effect e)
{
	return json_pack("[o, o]", number_or_null(value(s, e, baseline(s))),
			 number_or_null(value(s, e, EFFECT_IN)));
}

json_t *report_side_effects_json(const struct window_result *w)
{
	const struct side_effects *s = &w->side_effects;
	enum effect_time before = baseline(s);
	_cleanup_json_ json_t *all = json_pack(
	    "{s:b, s:s, s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "available", s->count > 0, "reason",
	    s->reason, "baseline", before == EFFECT_BEFORE ? "before" : "lifetime", "baseline_s",
	    side_effects_seconds(s, before), "observed_s", side_effects_seconds(s, EFFECT_IN),
	    "rose", rises_json(s), "lifetime", time_json(s, EFFECT_LIFETIME), "after_objects",
	    time_json(s, EFFECT_AFTER), "objects_switched_off_after_s",
	    w->objects_off_ns ? json_real((double)window_result_objects_ns(w) / (double)NS_PER_S)
			      : json_null());

	for (int e = 0; e < EFFECT_MAX && all; e++)
		if (json_object_set_new(all, effect_names[e], both_json(s, (enum effect)e)) < 0)
			return NULL;
	return TAKE_PTR(all);
}

void report_side_effects_text(FILE *out, const struct window_result *w)
{
	const struct side_effects *s = &w->side_effects;
	char line[SIDE_EFFECTS_LINE_BYTES];
	double since = side_effects_mean(s, EFFECT_COLLECTIONS, EFFECT_AFTER);

	for (int e = 0; e < EFFECT_MAX; e++) {
		if (!s->rose[e])
			continue;
		side_effects_line(s, (enum effect)e, line);
		fprintf(out, "           %s %s\n", line,
			window_result_tracks_objects(w) ? "while objects were tracked"
							: "in this window");
	}
	if (w->objects_off_ns)
		fprintf(out, "           %s\n", w->objects_refused);
	if (w->objects_off_ns && isfinite(since))
		fprintf(out, "           since then there were %.1f collections a second\n", since);
	if (s->count == 0 && s->reason[0])
		fprintf(out, "           what the window did to the JVM is not known: %s\n",
			s->reason);
}
