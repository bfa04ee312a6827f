#include "daemon/store/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/utf8.h"
#include "daemon/store/packed.h"
#include "daemon/store/record_parts.h"
#include "daemon/store/stored_state.h"
#include "proto/limits.h"

/* Columns before packing and after unpacking: numbers take up to five times what they do packed. */
#define ARENA_MAX_BYTES (6 * RECORD_MAX_BYTES)

/* ---------------------------------------------------------------- packing */

static int pack_request(struct arena *a, const struct window_request *r, Jxp__StoredRequest *m)
{
	jxp__stored_request__init(m);
	if (!RECORD_COLUMN(a, m, kinds, KIND_VALUES))
		return -ENOMEM;
	m->n_kinds = kinds_list(r->kinds, m->kinds);
	m->sampler = r->sampler;
	m->period_ns = r->period_ns;
	m->duration_ns = r->duration_ns;
	m->budget = r->budget;
	m->registers = r->registers;
	m->max_frames = r->max_frames;
	m->object_min_size = r->object_min_size;
	m->object_min_size_adapts = r->object_min_size_adapts;
	m->objects_max = r->objects_max;
	m->event = (char *)r->event;
	m->open_through_daemon = r->open_through_daemon;
	m->force = r->force;
	m->app = (char *)r->app;
	m->schedule = (char *)r->schedule.name;
	m->epoch = r->schedule.epoch;
	m->weight_s = r->schedule.weight_s;
	return 0;
}

static int pack_findings(struct arena *a, const struct window_findings *f, Jxp__StoredFindings *m)
{
	jxp__stored_findings__init(m);
	if (!RECORD_COLUMN(a, m, node_ids, f->numa.node_count))
		return -ENOMEM;
	for (unsigned i = 0; i < f->numa.node_count; i++)
		m->node_ids[i] = f->numa.node_id[i];
	m->sampler = f->sampler;
	m->sampler_reason = (char *)f->sampler_reason;
	m->events = (uint32_t)f->event_count;
	m->period = f->period;
	m->kernel_gate = f->kernel_gate;
	m->gate_reason = (char *)f->gate_reason;
	m->cpu_limit = f->cpu_limit;
	return 0;
}

static int pack_counts(struct arena *a, const struct window_result *w, Jxp__StoredWindow *m)
{
	if (!RECORD_COLUMN(a, m, counters, JXP__COUNTER__COUNTER_MAX) ||
	    !RECORD_COLUMN(a, m, losses, LOSS_MAX) || !RECORD_COLUMN(a, m, loss_names, LOSS_MAX))
		return -ENOMEM;
	memcpy(m->counters, w->counters, sizeof(w->counters));
	if (!RECORD_COLUMN(a, m, attributed, CERTAINTY_VALUES) ||
	    !RECORD_COLUMN(a, m, ticks_attributed, CERTAINTY_VALUES))
		return -ENOMEM;
	memcpy(m->attributed, w->attributed, sizeof(w->attributed));
	memcpy(m->ticks_attributed, w->ticks_attributed, sizeof(w->ticks_attributed));
	m->n_losses = 0;
	for (size_t i = 0; i < LOSS_MAX; i++)
		if (w->losses[i] > 0) {
			m->loss_names[m->n_losses] = (char *)loss_words[i].name;
			m->losses[m->n_losses++] = w->losses[i];
		}
	m->n_loss_names = m->n_losses;
	return 0;
}

static void pack_facts(const struct window_result *w, Jxp__StoredWindow *m)
{
	m->pid = (uint32_t)w->pid;
	m->owner = w->owner;
	m->asker_uid = w->asker.uid;
	m->asker_pid = (uint32_t)w->asker.pid;
	m->app = (char *)w->app;
	m->jdk = (char *)w->jdk;
	m->vm = (char *)w->vm;
	m->gc = (char *)w->gc;
	m->state = stored_state(w->state);
	m->reason = (char *)w->reason;
	m->target_ended = w->target_ended;
	m->asked_to_end = w->asked_to_end;
	m->start_unix_ns = w->start_unix_ns;
	m->end_unix_ns = w->end_unix_ns;
	m->start_ns = w->start_ns;
	m->end_ns = w->end_ns;
	m->always_pretouch = w->always_pretouch;
	m->objects_refused = (char *)w->objects_refused;
	m->objects_from_ns = w->objects_from_ns;
	m->objects_off_ns = w->objects_off_ns;
	m->object_interval = w->object_interval;
	m->object_min_size = w->object_min_size;
	m->cpu_ns = w->cpu_ns;
	m->overhead_ns = w->overhead_ns;
	m->setup_ns = w->setup_ns;
	m->effective_period = w->effective_period;
}

/* A part of m, in the arena. */
#define PART(a, m, part) ((m)->part = record_allocate((a), 1, sizeof(*(m)->part)))

static int pack(struct arena *a, const struct window_result *w, Jxp__StoredWindow *m)
{
	int r;

	pack_facts(w, m);
	if (!PART(a, m, request) || !PART(a, m, findings) || !PART(a, m, profile) ||
	    !PART(a, m, objects) || !PART(a, m, numa) || !PART(a, m, cpu) || !PART(a, m, loops) ||
	    !PART(a, m, effects))
		return -ENOMEM;
	if ((r = pack_counts(a, w, m)) < 0 || (r = pack_request(a, &w->request, m->request)) < 0 ||
	    (r = pack_findings(a, &w->findings, m->findings)) < 0 ||
	    (r = record_pack_profile(a, &w->profile, m->profile)) < 0 ||
	    (r = record_pack_objects(a, &w->objects, m->objects)) < 0 ||
	    (r = record_pack_numa(a, &w->numa, w->findings.numa.node_count, m->numa)) < 0 ||
	    (r = record_pack_cpu(a, &w->cpu, m->cpu)) < 0 ||
	    (r = record_pack_threads(a, &w->threads, m->cpu)) < 0 ||
	    (r = record_pack_loops(a, &w->loops, m->loops)) < 0)
		return r;
	return record_pack_effects(a, &w->side_effects, m->effects);
}

int record_encode(const struct window_result *w, uint8_t **bytes, size_t *size)
{
	_cleanup_(arena_release) struct arena arena;
	Jxp__StoredWindow m = JXP__STORED_WINDOW__INIT;
	_cleanup_free_ uint8_t *plain = NULL;
	size_t plain_size;
	int r;

	arena_init(&arena, ARENA_MAX_BYTES);
	r = pack(&arena, w, &m);
	if (r < 0)
		return r;
	plain_size = jxp__stored_window__get_packed_size(&m);
	if (plain_size > RECORD_MAX_BYTES)
		return -EMSGSIZE;
	plain = malloc(plain_size);
	if (!plain)
		return -ENOMEM;
	(void)jxp__stored_window__pack(&m, plain);
	return packed_new(plain, plain_size, bytes, size);
}

/* ---------------------------------------------------------------- unpacking */

/* Texts that do not fit are cut; a later version may have more room. */
static void unpack_text(char *to, size_t size, const char *from)
{
	(void)utf8_sanitize(to, size, from);
}

static bool unpack_facts(const Jxp__StoredWindow *m, struct window_result *w)
{
	w->pid = (pid_t)m->pid;
	w->owner = m->owner;
	w->asker = (struct window_asker){.uid = m->asker_uid, .pid = (pid_t)m->asker_pid};
	unpack_text(w->app, sizeof(w->app), m->app);
	unpack_text(w->jdk, sizeof(w->jdk), m->jdk);
	unpack_text(w->vm, sizeof(w->vm), m->vm);
	unpack_text(w->gc, sizeof(w->gc), m->gc);
	unpack_text(w->reason, sizeof(w->reason), m->reason);
	w->target_ended = m->target_ended;
	w->asked_to_end = m->asked_to_end;
	w->start_unix_ns = m->start_unix_ns;
	w->end_unix_ns = m->end_unix_ns;
	w->start_ns = m->start_ns;
	w->end_ns = m->end_ns;
	w->always_pretouch = m->always_pretouch;
	unpack_text(w->objects_refused, sizeof(w->objects_refused), m->objects_refused);
	w->objects_from_ns = m->objects_from_ns;
	w->objects_off_ns = m->objects_off_ns;
	w->object_interval = m->object_interval;
	w->object_min_size = m->object_min_size;
	w->cpu_ns = m->cpu_ns;
	w->overhead_ns = m->overhead_ns;
	w->setup_ns = m->setup_ns;
	w->effective_period = m->effective_period;
	return stored_state_read(m->state, &w->state) &&
	       (m->end_ns == 0 || m->end_ns >= m->start_ns);
}

static bool unpack_request(const Jxp__StoredRequest *m, struct window_request *r)
{
	for (size_t i = 0; i < m->n_kinds; i++)
		(void)kinds_add(r->kinds,
				m->kinds[i]); /* One that a later version knows is none. */
	r->sampler = m->sampler;
	r->period_ns = m->period_ns;
	r->duration_ns = m->duration_ns;
	r->budget = m->budget;
	r->registers = m->registers;
	r->max_frames = m->max_frames;
	r->object_min_size = m->object_min_size;
	r->object_min_size_adapts = m->object_min_size_adapts;
	r->objects_max = m->objects_max;
	unpack_text(r->event, sizeof(r->event), m->event);
	r->open_through_daemon = m->open_through_daemon;
	r->force = m->force;
	unpack_text(r->app, sizeof(r->app), m->app);
	unpack_text(r->schedule.name, sizeof(r->schedule.name), m->schedule);
	r->schedule.epoch = m->epoch;
	r->schedule.weight_s = m->weight_s;
	return m->sampler <= JXP__SAMPLER__SAMPLER_CLOCK && record_is_sum(m->budget) &&
	       record_is_sum(m->weight_s);
}

static bool unpack_findings(const Jxp__StoredFindings *m, struct window_findings *f)
{
	f->sampler = m->sampler;
	unpack_text(f->sampler_reason, sizeof(f->sampler_reason), m->sampler_reason);
	f->event_count = m->events;
	f->period = m->period;
	f->kernel_gate = m->kernel_gate;
	unpack_text(f->gate_reason, sizeof(f->gate_reason), m->gate_reason);
	f->cpu_limit = m->cpu_limit;
	if (m->n_node_ids < 1 || m->n_node_ids > NUMA_NODES_MAX)
		return false;
	f->numa.node_count = (unsigned)m->n_node_ids;
	memset(f->numa.node_of_cpu, NUMA_NONE, sizeof(f->numa.node_of_cpu));
	for (size_t i = 0; i < m->n_node_ids; i++)
		f->numa.node_id[i] = m->node_ids[i];
	return m->sampler != JXP__SAMPLER__SAMPLER_AUTO && record_is_sum(m->cpu_limit) &&
	       m->sampler <= JXP__SAMPLER__SAMPLER_CLOCK && m->events <= PERF_HARDWARE_EVENTS;
}

static bool unpack_counts(const Jxp__StoredWindow *m, struct window_result *w)
{
	if (m->n_losses != m->n_loss_names)
		return false;
	for (size_t i = 0; i < m->n_counters && i < JXP__COUNTER__COUNTER_MAX; i++)
		w->counters[i] = m->counters[i];
	for (size_t i = 0; i < m->n_attributed && i < CERTAINTY_VALUES; i++)
		w->attributed[i] = m->attributed[i];
	for (size_t i = 0; i < m->n_ticks_attributed && i < CERTAINTY_VALUES; i++)
		w->ticks_attributed[i] = m->ticks_attributed[i];
	for (size_t i = 0; i < m->n_losses; i++)
		for (size_t loss = 0; loss < LOSS_MAX; loss++)
			if (strcmp(loss_words[loss].name, m->loss_names[i]) == 0)
				w->losses[loss] = m->losses[i];
	return true;
}

static int unpack(const Jxp__StoredWindow *m, struct window_result *w)
{
	int r;

	if (!m->request || !m->findings || !m->profile || !m->objects || !m->numa || !m->effects)
		return -EBADMSG;
	if (!unpack_facts(m, w) || !unpack_request(m->request, &w->request) ||
	    !unpack_findings(m->findings, &w->findings) || !unpack_counts(m, w))
		return -EBADMSG;
	if ((r = record_unpack_profile(m->profile, &w->profile)) < 0 ||
	    (r = record_unpack_objects(m->objects, &w->profile, &w->objects)) < 0 ||
	    (r = record_unpack_numa(m->numa, w->findings.numa.node_count, w->objects.site_count,
				    &w->numa)) < 0 ||
	    (r = record_unpack_cpu(m->cpu, &w->profile, &w->cpu)) < 0 ||
	    (r = record_unpack_threads(m->cpu, &w->threads)) < 0 ||
	    (r = record_unpack_loops(m->loops, &w->profile, &w->loops)) < 0)
		return r;
	return record_unpack_effects(m->effects, &w->side_effects);
}

int record_decode(const uint8_t *bytes, size_t size, unsigned number, struct window_result **out,
		  struct err *err)
{
	_cleanup_(arena_release) struct arena arena;
	_cleanup_free_ uint8_t *plain = NULL;
	size_t plain_size = 0;
	const Jxp__StoredWindow *m;
	struct window_result *w;
	int r = packed_open(bytes, size, RECORD_MAX_BYTES, &plain, &plain_size, err);

	arena_init(&arena, ARENA_MAX_BYTES);
	if (r < 0)
		return r;
	m = jxp__stored_window__unpack(&arena.allocator, plain_size, plain);
	if (!m)
		return err_set(err, EBADMSG, "its record is damaged: no window");
	w = window_result_restored(number);
	r = w ? unpack(m, w) : -ENOMEM;
	if (r < 0) {
		window_result_free(w);
		return r == -ENOMEM ? err_set(err, ENOMEM, "out of memory for its record")
				    : err_set(err, EBADMSG,
					      "its record is damaged: what it says "
					      "does not fit together");
	}
	*out = w;
	return 0;
}
