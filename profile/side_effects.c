#include "profile/side_effects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

/* Above the busiest second before, and above the average of the JVM's life, which of a program that
 * works in turns is half of what it does in one of two. */
#define FACTOR_BEFORE   2.0
#define FACTOR_LIFETIME 2.5

/* A JVM that is still compiling its program does more from second to second. */
#define WARM_UP_NS     (15 * NS_PER_S)
#define WARM_UP_FACTOR 2.0

/* A rise by less harms nobody: in the unit of each figure. */
static const double margins[EFFECT_MAX] = {
    [EFFECT_COLLECTIONS] = 3,            /* a second */
    [EFFECT_GC_TIME] = 0.03,             /* of the time */
    [EFFECT_GC_CPU] = 0.1,               /* of a CPU */
    [EFFECT_FAULTS] = 5000,              /* a second: about 1% of a CPU */
    [EFFECT_HEAP] = 128.0 * 1024 * 1024, /* bytes */
};

/* A heap that falls by more did not just grow. */
#define HEAP_FELL 0.95

/* The part of a CPU that a JVM uses which has nothing to do, so that rates for each second of CPU
 * time stay finite. */
#define LEAST_CPU 0.05

#define LAST_HEAPS (sizeof(((struct side_effects *)0)->last_heaps) / sizeof(double))

/* Records before, from the first: less than this says nothing of a second. */
#define BEFORE_LEAST 2u

static const struct column effect_columns[] = {
    COLUMN(struct side_effects, watched),
    COLUMN(struct side_effects, reason),
    COLUMN(struct side_effects, count),
    COLUMN(struct side_effects, begin_ns),
    COLUMN(struct side_effects, off_ns),
    COLUMNS(struct side_effects, counts, counts[0]),
    COLUMNS(struct side_effects, rose, rose[0]),
    COLUMNS(struct side_effects, from, from[0], .any_sign = true),
    COLUMNS(struct side_effects, to, to[0], .any_sign = true),
};

const struct table_layout side_effects_layout = {
    TABLE_COLUMNS(effect_columns),
    .row_size = sizeof(struct side_effects),
    .limit = 1,
};

static const struct column record_columns[] = {
    COLUMN(struct effect_record, time_ns),        COLUMN(struct effect_record, uptime_ns),
    COLUMNS(struct effect_record, sums, sums[0]), COLUMN(struct effect_record, cpu_s),
    COLUMN(struct effect_record, has_data),
};

const struct table_layout effect_record_layout = {
    TABLE_COLUMNS(record_columns),
    .row_size = sizeof(struct effect_record),
    .limit = EFFECT_TIMES,
};

static const struct column heap_columns[] = {
    COLUMN(struct effect_heap, count),
    COLUMN(struct effect_heap, sum),
};

const struct table_layout effect_heap_layout = {
    TABLE_COLUMNS(heap_columns),
    .row_size = sizeof(struct effect_heap),
    .limit = EFFECT_TIMES,
};

uint64_t side_effects_baseline_ns(uint64_t duration_ns)
{
	uint64_t ns = duration_ns / SIDE_EFFECTS_BASELINE_SHARE;

	if (ns < SIDE_EFFECTS_BASELINE_MIN_MS * NS_PER_MS)
		return 0;
	return ns < SIDE_EFFECTS_BASELINE_MAX_MS * NS_PER_MS
		   ? ns
		   : SIDE_EFFECTS_BASELINE_MAX_MS * NS_PER_MS;
}

void side_effects_begin(struct side_effects *s, uint64_t begin_ns)
{
	s->begin_ns = begin_ns;
}

void side_effects_switch_off(struct side_effects *s, uint64_t now_ns)
{
	s->off_ns = now_ns;
}

/* ---------------------------------------------------------------- rates */

static double seconds_between(const struct effect_record *a, const struct effect_record *b)
{
	return (double)(b->time_ns - a->time_ns) / (double)NS_PER_S;
}

static bool is_known(enum effect effect, const struct effect_record *r)
{
	return r->has_data || effect == EFFECT_GC_CPU || effect == EFFECT_FAULTS;
}

/* Without the collector's threads. */
static double application_cpu(const struct effect_record *r)
{
	return r->cpu_s - r->sums[EFFECT_GC_CPU];
}

/* For each second. */
static double rate(enum effect e, const struct effect_record *a, const struct effect_record *b)
{
	double s = seconds_between(a, b);

	return s > 0 && is_known(e, a) && is_known(e, b) ? (b->sums[e] - a->sums[e]) / s : NAN;
}

static double per_cpu(double sum, double cpu_s, double seconds)
{
	return sum / fmax(cpu_s, LEAST_CPU * seconds);
}

/* For each second of the application's CPU time. */
static double cpu_rate(enum effect e, const struct effect_record *a, const struct effect_record *b)
{
	return per_cpu(b->sums[e] - a->sums[e], application_cpu(b) - application_cpu(a),
		       seconds_between(a, b));
}

static const struct effect_record *record_at(const struct side_effects *s, uint64_t number)
{
	return &s->records[number % SIDE_EFFECTS_RECORDS];
}

/* ---------------------------------------------------------------- before */

/* The busiest second before the last record, which is the last of its time. A shorter time counts
 * as a second. */
static void find_peaks(struct side_effects *s)
{
	uint64_t end = s->count, held = s->count;

	if (held > SIDE_EFFECTS_RECORDS)
		held = SIDE_EFFECTS_RECORDS;
	for (uint64_t i = end - held; i < end; i++) {
		uint64_t j = i + SIDE_EFFECTS_SECOND;

		if (j >= end && i > end - held)
			break;
		if (j >= end)
			j = end - 1;
		for (int e = 0; e < EFFECT_RATES; e++) {
			s->peak[e] = fmax(s->peak[e],
					  rate((enum effect)e, record_at(s, i), record_at(s, j)));
			s->cpu_peak[e] =
			    fmax(s->cpu_peak[e],
				 cpu_rate((enum effect)e, record_at(s, i), record_at(s, j)));
		}
	}
}

static bool before_is_known(const struct side_effects *s)
{
	return s->counts[EFFECT_BEFORE] > BEFORE_LEAST;
}

/* ---------------------------------------------------------------- judging */

static double factor_of_age(const struct side_effects *s)
{
	return s->first[EFFECT_IN].uptime_ns < WARM_UP_NS ? WARM_UP_FACTOR : 1;
}

/* Finds those of the quietest of the last seconds. */
static void find_floors(const struct side_effects *s, enum effect e, double *floor,
			double *cpu_floor)
{
	*floor = *cpu_floor = INFINITY;
	for (unsigned i = 0; i <= (SIDE_EFFECTS_SUSTAIN - 1) * SIDE_EFFECTS_SECOND; i++) {
		const struct effect_record *b = record_at(s, s->count - 1 - i);
		const struct effect_record *a =
		    record_at(s, s->count - 1 - i - SIDE_EFFECTS_SECOND);
		double found = rate(e, a, b);

		if (isnan(found)) {
			*floor = NAN;
			return;
		}
		*floor = fmin(*floor, found);
		*cpu_floor = fmin(*cpu_floor, cpu_rate(e, a, b));
	}
}

static bool rate_rose(const struct side_effects *s, enum effect e)
{
	double life = side_effects_mean(s, e, EFFECT_LIFETIME);
	const struct effect_record *born = &s->last[EFFECT_LIFETIME];
	double cpu_life = per_cpu(born->sums[e], application_cpu(born),
				  (double)born->uptime_ns / (double)NS_PER_S);
	double age = factor_of_age(s);
	double floor, cpu_floor;

	find_floors(s, e, &floor, &cpu_floor);
	if (isnan(floor) || isnan(life))
		return false;
	if (floor - fmax(s->peak[e], life) < margins[e])
		return false;
	return floor >= age * FACTOR_BEFORE * s->peak[e] && floor >= age * FACTOR_LIFETIME * life &&
	       cpu_floor >= age * FACTOR_BEFORE * s->cpu_peak[e] &&
	       cpu_floor >= age * FACTOR_LIFETIME * cpu_life;
}

static double lowest_of_last(const struct side_effects *s)
{
	double lowest = INFINITY;

	for (size_t i = 0; i < LAST_HEAPS; i++)
		lowest = fmin(lowest, s->last_heaps[i]);
	return lowest;
}

/* Tells what a collection may leave in the heap now, by what was seen before: a growth that went on
 * then goes on. Where no collection came, what was in use anyway is the most that one had left. NAN
 * when nothing is known. */
static double expected_heap(const struct side_effects *s)
{
	const struct effect_heap *before = &s->heap[EFFECT_BEFORE];
	double growth = 0;

	if (before->count == 0)
		return before->least > 0 ? before->least : NAN;
	if (!before->fell && before->last_ns > before->first_ns)
		growth = fmax(before->last - before->first, 0) /
			 (double)(before->last_ns - before->first_ns);
	return before->max + growth * (double)(s->heap[EFFECT_IN].last_ns - before->last_ns);
}

static bool heap_rose(const struct side_effects *s)
{
	double expected = expected_heap(s);

	return s->heap[EFFECT_IN].count >= LAST_HEAPS &&
	       lowest_of_last(s) > factor_of_age(s) * FACTOR_BEFORE * expected &&
	       lowest_of_last(s) > expected + margins[EFFECT_HEAP];
}

static void note(struct side_effects *s, enum effect e, double to)
{
	double from = side_effects_mean(s, e, before_is_known(s) ? EFFECT_BEFORE : EFFECT_LIFETIME);

	if (s->rose[e])
		return;
	s->rose[e] = true;
	s->from[e] = isnan(from) ? 0 : from;
	s->to[e] = to;
}

/* After the last record, which is of the work. */
static void judge(struct side_effects *s)
{
	if (s->counts[EFFECT_IN] <= SIDE_EFFECTS_SUSTAIN * SIDE_EFFECTS_SECOND)
		return;
	for (int e = 0; e < EFFECT_RATES; e++)
		if (rate_rose(s, (enum effect)e))
			note(s, (enum effect)e,
			     rate((enum effect)e,
				  record_at(s, s->count - 1 -
						   SIDE_EFFECTS_SUSTAIN * SIDE_EFFECTS_SECOND),
				  record_at(s, s->count - 1)));
	if (heap_rose(s))
		note(s, EFFECT_HEAP, lowest_of_last(s));
}

/* The first that rose of those that count for an alarm; EFFECT_MAX for none. */
static enum effect alarm_of(const struct side_effects *s)
{
	static const enum effect harmful[] = {EFFECT_COLLECTIONS, EFFECT_GC_TIME, EFFECT_HEAP};

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (s->rose[harmful[i]])
			return harmful[i];
	if (s->counts[EFFECT_IN] > 0 && !s->last[EFFECT_IN].has_data && s->rose[EFFECT_GC_CPU] &&
	    s->rose[EFFECT_FAULTS])
		return EFFECT_GC_CPU;
	return EFFECT_MAX;
}

bool side_effects_alarm(const struct side_effects *s)
{
	return alarm_of(s) != EFFECT_MAX;
}

/* ---------------------------------------------------------------- records */

static struct effect_record unpack(const Jxp__WatchRecord *m)
{
	double second = (double)NS_PER_S;

	return (struct effect_record){
	    .time_ns = m->time_ns,
	    .uptime_ns = m->uptime_ns,
	    .sums = {[EFFECT_COLLECTIONS] = (double)m->collections,
		     [EFFECT_GC_TIME] = (double)m->gc_time_ns / second,
		     [EFFECT_GC_CPU] = (double)m->gc_cpu_ns / second,
		     [EFFECT_FAULTS] = (double)m->page_faults},
	    .cpu_s = (double)m->cpu_ns / second,
	    .has_data = m->no_data[0] == '\0',
	    .heap_bytes = (double)m->heap_after_bytes,
	    .heap_least_bytes = (double)m->heap_least_bytes,
	};
}

static bool follows(const struct effect_record *a, const struct effect_record *b)
{
	bool fell = b->cpu_s < a->cpu_s;

	for (int e = 0; e < EFFECT_RATES; e++)
		fell |= is_known((enum effect)e, a) && is_known((enum effect)e, b) &&
			b->sums[e] < a->sums[e];
	return !fell && b->time_ns > a->time_ns;
}

static enum effect_time time_of(const struct side_effects *s, uint64_t time_ns)
{
	if (s->off_ns && time_ns > s->off_ns)
		return EFFECT_AFTER;
	return s->begin_ns && time_ns > s->begin_ns ? EFFECT_IN : EFFECT_BEFORE;
}

/* A record ends one interval and begins the next. */
static void take(struct side_effects *s, const struct effect_record *r, enum effect_time t)
{
	if (s->counts[t] == 0)
		s->first[t] = *r;
	s->last[t] = *r;
	s->counts[t]++;
}

static void end_second(struct side_effects *s, uint64_t time_ns, enum effect_time t)
{
	struct effect_heap *h = &s->heap[t];
	double lowest = h->lowest;

	h->records = 0;
	h->lowest = 0;
	if (!(lowest > 0))
		return;
	if (h->count++ == 0) {
		h->first = lowest;
		h->first_ns = time_ns;
	}
	h->fell |= lowest < h->last * HEAP_FELL;
	h->last = lowest;
	h->last_ns = time_ns;
	h->sum += lowest;
	h->max = fmax(h->max, lowest);
	if (t == EFFECT_IN)
		s->last_heaps[h->count % LAST_HEAPS] = lowest;
}

static void lower(double *least, double value)
{
	if (value > 0 && (!(*least > 0) || value < *least))
		*least = value;
}

static void take_heap(struct side_effects *s, const struct effect_record *r, enum effect_time t)
{
	struct effect_heap *h = &s->heap[t];

	if (!r->has_data)
		return;
	lower(&h->lowest, r->heap_bytes);
	lower(&h->least, r->heap_least_bytes);
	if (++h->records >= SIDE_EFFECTS_SECOND)
		end_second(s, r->time_ns, t);
}

bool side_effects_add(struct side_effects *s, const Jxp__WatchRecord *message)
{
	struct effect_record r = unpack(message);
	enum effect_time t = time_of(s, r.time_ns);

	if (s->count > 0 && !follows(record_at(s, s->count - 1), &r))
		return false;
	if (s->count == 0)
		take(s, &r, EFFECT_LIFETIME);
	if (t == EFFECT_IN && s->counts[EFFECT_IN] == 0 && before_is_known(s)) {
		find_peaks(s);
		/* The last second was cut short. */
		end_second(s, s->last[EFFECT_BEFORE].time_ns, EFFECT_BEFORE);
	}
	s->records[s->count++ % SIDE_EFFECTS_RECORDS] = r;
	take(s, &r, t);
	take_heap(s, &r, t);
	(void)snprintf(s->reason, sizeof(s->reason), "%s", message->no_data); /* May be cut. */
	if (t == EFFECT_IN)
		judge(s);
	return true;
}

/* ---------------------------------------------------------------- what was seen */

double side_effects_seconds(const struct side_effects *s, enum effect_time t)
{
	if (t == EFFECT_LIFETIME)
		return (double)s->last[t].uptime_ns / (double)NS_PER_S;
	return s->counts[t] > 1 ? seconds_between(&s->first[t], &s->last[t]) : 0;
}

double side_effects_mean(const struct side_effects *s, enum effect e, enum effect_time t)
{
	double seconds = side_effects_seconds(s, t);

	if (e == EFFECT_HEAP)
		return s->heap[t].count > 0 ? s->heap[t].sum / (double)s->heap[t].count : NAN;
	if (!(seconds > 0) || !is_known(e, &s->last[t]))
		return NAN;
	if (t == EFFECT_LIFETIME)
		return s->last[t].sums[e] / seconds;
	return rate(e, &s->first[t], &s->last[t]);
}

double side_effects_gc_cpu_fraction(const struct side_effects *s, enum effect_time t)
{
	double all = s->last[t].cpu_s, gc = s->last[t].sums[EFFECT_GC_CPU];

	if (t != EFFECT_LIFETIME) {
		all -= s->first[t].cpu_s;
		gc -= s->first[t].sums[EFFECT_GC_CPU];
	}
	return s->counts[t] > 0 && all > 0 ? fmin(gc / all, 1) : NAN;
}

static const struct {
	const char *format; /* of two numbers */
	double scale;
} words[EFFECT_MAX] = {
    [EFFECT_COLLECTIONS] = {"collections rose from %.1f to %.1f a second", 1},
    [EFFECT_GC_TIME] = {"time in collections rose from %.1f%% to %.1f%%", 100},
    [EFFECT_GC_CPU] = {"CPU time of the collector's threads rose from %.2f to %.2f CPUs", 1},
    [EFFECT_FAULTS] = {"page faults rose from %.0f to %.0f a second", 1},
    [EFFECT_HEAP] = {"the heap after a collection rose from %.1f to %.1f MiB", 0x1p-20},
};

void side_effects_line(const struct side_effects *s, enum effect e,
		       char line[SIDE_EFFECTS_LINE_BYTES])
{
	(void)snprintf(line, SIDE_EFFECTS_LINE_BYTES, words[e].format, s->from[e] * words[e].scale,
		       s->to[e] * words[e].scale);
}

void side_effects_alarm_line(const struct side_effects *s, char line[SIDE_EFFECTS_LINE_BYTES])
{
	side_effects_line(s, alarm_of(s), line);
}
