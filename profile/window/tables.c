#include "profile/window/tables.h"

#include <stdlib.h>

#include "common/clock.h"

/* A daemon has its number, what only it knows, and what is of one moment by itself. */
static const struct column window_columns[] = {
    COLUMN(struct window_result, pid),
    COLUMN(struct window_result, owner),
    COLUMN(struct window_result, asker.uid),
    COLUMN(struct window_result, asker.pid),
    COLUMN(struct window_result, app),
    COLUMN(struct window_result, jdk),
    COLUMN(struct window_result, vm),
    COLUMN(struct window_result, gc),
    COLUMN(struct window_result, request.kinds[0], .repeat = KIND_VALUES, .stride = sizeof(bool)),
    COLUMN(struct window_result, request.sampler, .below = JXP__SAMPLER__SAMPLER_CLOCK + 1),
    COLUMN(struct window_result, request.period_ns),
    COLUMN(struct window_result, request.duration_ns),
    COLUMN(struct window_result, request.budget),
    COLUMN(struct window_result, request.registers),
    COLUMN(struct window_result, request.max_frames),
    COLUMN(struct window_result, request.object_min_size),
    COLUMN(struct window_result, request.object_min_size_adapts),
    COLUMN(struct window_result, request.objects_max),
    COLUMN(struct window_result, request.event),
    COLUMN(struct window_result, request.open_through_daemon),
    COLUMN(struct window_result, request.force),
    COLUMN(struct window_result, request.app),
    COLUMN(struct window_result, request.schedule.name),
    COLUMN(struct window_result, request.schedule.epoch),
    COLUMN(struct window_result, request.schedule.weight_s),
    COLUMN(struct window_result, findings.sampler, .below = JXP__SAMPLER__SAMPLER_CLOCK + 1),
    COLUMN(struct window_result, findings.sampler_reason),
    COLUMN(struct window_result, findings.event_count, .below = PERF_HARDWARE_EVENTS + 1),
    COLUMN(struct window_result, findings.period),
    COLUMN(struct window_result, findings.numa.node_count, .below = NUMA_NODES_MAX + 1),
    COLUMN(struct window_result, findings.numa.node_id[0], .repeat = NUMA_NODES_MAX,
	   .stride = sizeof(unsigned)),
    COLUMN(struct window_result, findings.cpu_limit),
    COLUMN(struct window_result, findings.kernel_gate),
    COLUMN(struct window_result, findings.gate_reason),
    COLUMN(struct window_result, state, .below = WINDOW_STATES),
    COLUMN(struct window_result, reason),
    COLUMN(struct window_result, target_ended),
    COLUMN(struct window_result, asked_to_end),
    COLUMN(struct window_result, start_unix_ns),
    COLUMN(struct window_result, end_unix_ns),
    COLUMN(struct window_result, start_ns),
    COLUMN(struct window_result, end_ns),
    COLUMN(struct window_result, always_pretouch),
    COLUMN(struct window_result, objects_refused),
    COLUMN(struct window_result, objects_from_ns),
    COLUMN(struct window_result, objects_off_ns),
    COLUMN(struct window_result, object_interval),
    COLUMN(struct window_result, object_min_size),
    COLUMNS(struct window_result, counters, counters[0], .role = COLUMN_COUNT),
    COLUMNS(struct window_result, losses, losses[0], .role = COLUMN_COUNT),
    COLUMNS(struct window_result, attributed, attributed[0], .role = COLUMN_COUNT),
    COLUMNS(struct window_result, ticks_attributed, ticks_attributed[0], .role = COLUMN_COUNT),
    COLUMN(struct window_result, cpu_ns, .role = COLUMN_COUNT),
    COLUMN(struct window_result, overhead_ns, .role = COLUMN_COUNT),
    COLUMN(struct window_result, setup_ns, .role = COLUMN_COUNT),
    COLUMN(struct window_result, effective_period),
    COLUMN(struct window_result, agent_version),
    COLUMN(struct window_result, version),
    COLUMN(struct window_result, container),
    COLUMN(struct window_result, namespace),
    COLUMN(struct window_result, pod),
};

static bool window_is_valid(const void *row)
{
	const struct window_result *w = row;
	bool known[KIND_VALUES] = {false};

	for (size_t i = 0; i < KIND_VALUES; i++)
		if (w->request.kinds[i] && !kinds_add(known, (Jxp__Kind)i))
			return false;
	return w->findings.sampler != JXP__SAMPLER__SAMPLER_AUTO &&
	       w->findings.numa.node_count > 0 && (w->end_ns == 0 || w->end_ns >= w->start_ns);
}

static const struct table_layout window_layout = {
    TABLE_COLUMNS(window_columns),
    .row_size = sizeof(struct window_result),
    .limit = 1,
    .is_valid = window_is_valid,
};

#define AT(member) .offset = offsetof(struct window_result, member)

const struct window_table window_tables[PROFILE_TABLES] = {
    [TABLE_WINDOW] = {&window_layout, 0, 1},
    [TABLE_METHODS] = {&cct_method_layout, AT(profile.cct.method_table)},
    [TABLE_NODES] = {&cct_node_layout, AT(profile.cct.node_table)},
    [TABLE_LOCATIONS] = {&location_layout, AT(profile.locations.table)},
    [TABLE_PAIRS] = {&pair_layout, AT(profile.pair_table)},
    [TABLE_KINDS] = {&totals_layout, AT(profile.kinds), PROFILE_TOTALS},
    [TABLE_CPU] = {&cpu_sums_layout, AT(cpu), 1},
    [TABLE_CPU_CONTEXTS] = {&cpu_context_layout, AT(cpu.context_table)},
    [TABLE_THREADS] = {&watched_thread_layout, AT(threads.table)},
    [TABLE_OBJECTS] = {&object_sums_layout, AT(objects), 1},
    [TABLE_SITES] = {&object_site_layout, AT(objects.site_table)},
    [TABLE_SITE_ACCESSES] = {&site_access_layout, AT(objects.access_table)},
    [TABLE_STRATA] = {&stratum_layout, AT(objects.strata.table)},
    [TABLE_STRATUM_SITES] = {&stratum_site_layout, AT(objects.strata.site_table)},
    [TABLE_CLASS_FIELDS] = {&class_field_layout, AT(objects.classes.field_table)},
    [TABLE_CLASS_ACCESSES] = {&class_access_layout, AT(objects.classes.access_table)},
    [TABLE_NUMA] = {&numa_sums_layout, AT(numa), 1},
    [TABLE_NUMA_SITES] = {&numa_site_layout, AT(numa.site_table)},
    [TABLE_LOOP_SUMS] = {&loop_sums_layout, AT(loops), 1},
    [TABLE_LOOPS] = {&loop_row_layout, AT(loops.row_table)},
    [TABLE_LOOP_CONTEXTS] = {&loop_context_layout, AT(loops.context_table)},
    [TABLE_LOOP_PLACES] = {&loop_place_layout, AT(loops.place_table)},
    [TABLE_LOOP_INPUTS] = {&loop_input_layout, AT(loops.input_table)},
    [TABLE_EFFECTS] = {&side_effects_layout, AT(side_effects), 1},
    [TABLE_EFFECT_FIRST] = {&effect_record_layout, AT(side_effects.first), EFFECT_TIMES},
    [TABLE_EFFECT_LAST] = {&effect_record_layout, AT(side_effects.last), EFFECT_TIMES},
    [TABLE_EFFECT_HEAPS] = {&effect_heap_layout, AT(side_effects.heap), EFFECT_TIMES},
    [TABLE_SHARING] = {&site_sharing_layout, AT(objects.sharing_table)},
};

/* All tables of from, as row_table_copy, in the place of those of to, which are nobody's. 0 or
 * -ENOMEM; to can be released even then. */
static int copy_tables(struct window_result *to, const struct window_result *from)
{
	int r = 0;

	/* What cannot be copied is empty, not the other's. */
	for (size_t i = 0; i < PROFILE_TABLES; i++)
		if (window_tables[i].rows == 0)
			*window_table_of(to, i) = (struct row_table){0};
	for (size_t i = 0; r == 0 && i < PROFILE_TABLES; i++)
		if (window_tables[i].rows == 0)
			r = row_table_copy(window_table_of(to, i), window_tables[i].layout,
					   window_table_of(from, i));
	return r;
}

static size_t tables_bytes(const struct window_result *w)
{
	size_t bytes = 0;

	for (size_t i = 0; i < PROFILE_TABLES; i++)
		if (window_tables[i].rows == 0)
			bytes +=
			    row_table_memory_bytes(window_table_of(w, i), window_tables[i].layout);
	return bytes;
}

struct window_result *window_result_snapshot(const struct window_result *w)
{
	struct window_result *copy = malloc(sizeof(*copy));
	int r;

	if (!copy)
		return NULL;
	*copy = *w;
	copy->keepers = 1;
	copy->finished = true;
	copy->profile.strings = (struct strings){0};
	copy->numa.waiting = NULL;
	copy->merged = NULL; /* No merge runs. */
	if (copy->end_ns == 0)
		copy->end_ns =
		    clock_monotonic_ns(); /* The moment that it shows; its state is that of w. */
	r = copy_tables(copy, w);
	if (r == 0)
		r = strings_copy(&copy->profile.strings, &w->profile.strings);
	if (r < 0) {
		window_result_free(copy);
		return NULL;
	}
	return copy;
}

struct window_result *window_result_still(const struct window_result *w)
{
	return w->finished ? window_result_keep(w) : window_result_snapshot(w);
}

size_t window_result_memory_bytes(const struct window_result *w)
{
	return sizeof(*w) + tables_bytes(w) + strings_memory_bytes(&w->profile.strings) +
	       numa_profile_waiting_bytes(&w->numa);
}
