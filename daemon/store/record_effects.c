#include "daemon/store/record_parts.h"

#include <errno.h>
#include <stdio.h>

#include "common/utf8.h"

static void pack_record(const struct effect_record *r, Jxp__StoredEffectRecord *m)
{
	jxp__stored_effect_record__init(m);
	m->time_ns = r->time_ns;
	m->uptime_ns = r->uptime_ns;
	m->collections = r->sums[EFFECT_COLLECTIONS];
	m->gc_time_s = r->sums[EFFECT_GC_TIME];
	m->gc_cpu_s = r->sums[EFFECT_GC_CPU];
	m->page_faults = r->sums[EFFECT_FAULTS];
	m->cpu_s = r->cpu_s;
	m->has_data = r->has_data;
}

static int pack_times(struct arena *a, const struct side_effects *s, Jxp__StoredEffects *m)
{
	Jxp__StoredEffectTime *times = record_allocate(a, EFFECT_TIMES, sizeof(*times));
	Jxp__StoredEffectRecord *records =
	    record_allocate(a, (size_t)2 * EFFECT_TIMES, sizeof(*records));

	if (!times || !records || !RECORD_COLUMN(a, m, times, EFFECT_TIMES))
		return -ENOMEM;
	for (size_t t = 0; t < EFFECT_TIMES; t++) {
		jxp__stored_effect_time__init(&times[t]);
		pack_record(&s->first[t], &records[2 * t]);
		pack_record(&s->last[t], &records[2 * t + 1]);
		times[t].count = s->counts[t];
		times[t].first = &records[2 * t];
		times[t].last = &records[2 * t + 1];
		times[t].heap_count = s->heap[t].count;
		times[t].heap_sum = s->heap[t].sum;
		m->times[t] = &times[t];
	}
	return 0;
}

int record_pack_effects(struct arena *a, const struct side_effects *s, Jxp__StoredEffects *m)
{
	jxp__stored_effects__init(m);
	m->watched = s->watched;
	m->reason = (char *)s->reason;
	m->begin_ns = s->begin_ns;
	m->off_ns = s->off_ns;
	m->records = s->count;
	if (!RECORD_COLUMN(a, m, rose, EFFECT_MAX) || !RECORD_COLUMN(a, m, from, EFFECT_MAX) ||
	    !RECORD_COLUMN(a, m, to, EFFECT_MAX))
		return -ENOMEM;
	for (size_t e = 0; e < EFFECT_MAX; e++) {
		m->rose[e] = s->rose[e];
		m->from[e] = s->from[e];
		m->to[e] = s->to[e];
	}
	return pack_times(a, s, m);
}

static bool unpack_record(const Jxp__StoredEffectRecord *m, struct effect_record *r)
{
	if (!m || !record_is_sum(m->collections) || !record_is_sum(m->gc_time_s) ||
	    !record_is_sum(m->gc_cpu_s) || !record_is_sum(m->page_faults) ||
	    !record_is_sum(m->cpu_s))
		return false;
	*r = (struct effect_record){.time_ns = m->time_ns,
				    .uptime_ns = m->uptime_ns,
				    .sums = {[EFFECT_COLLECTIONS] = m->collections,
					     [EFFECT_GC_TIME] = m->gc_time_s,
					     [EFFECT_GC_CPU] = m->gc_cpu_s,
					     [EFFECT_FAULTS] = m->page_faults},
				    .cpu_s = m->cpu_s,
				    .has_data = m->has_data};
	return true;
}

int record_unpack_effects(const Jxp__StoredEffects *m, struct side_effects *s)
{
	if (m->n_times != EFFECT_TIMES || m->n_rose > EFFECT_MAX || m->n_from != m->n_rose ||
	    m->n_to != m->n_rose)
		return -EBADMSG;
	s->watched = m->watched;
	(void)utf8_sanitize(s->reason, sizeof(s->reason), m->reason); /* May be cut. */
	s->begin_ns = m->begin_ns;
	s->off_ns = m->off_ns;
	s->count = m->records;
	for (size_t e = 0; e < m->n_rose; e++) {
		if (!isfinite(m->from[e]) || !isfinite(m->to[e]))
			return -EBADMSG;
		s->rose[e] = m->rose[e];
		s->from[e] = m->from[e];
		s->to[e] = m->to[e];
	}
	for (size_t t = 0; t < EFFECT_TIMES; t++) {
		if (!unpack_record(m->times[t]->first, &s->first[t]) ||
		    !unpack_record(m->times[t]->last, &s->last[t]) ||
		    !record_is_sum(m->times[t]->heap_sum))
			return -EBADMSG;
		s->counts[t] = m->times[t]->count;
		s->heap[t].count = m->times[t]->heap_count;
		s->heap[t].sum = m->times[t]->heap_sum;
	}
	return 0;
}
