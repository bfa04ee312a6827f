#include "profile/intake/intake.h"

#include <errno.h>
#include <unistd.h>

#include "common/clock.h"
#include "proto/events.h"
#include "proto/kinds.h"
#include "proto/limits.h"

static int apply_held(void *arg, const struct attribution_held *held);

void intake_init(struct intake *in, struct window_result *result)
{
	*in = (struct intake){.result = result,
			      .processors = sysconf(_SC_NPROCESSORS_CONF),
			      .cpu_most_ns = LIMIT_CPU_NS,
			      .setup_most_ns = LIMIT_CPU_NS};
	method_intake_init(&in->methods, result);
	attribution_intake_init(&in->attribution, result, &in->methods, apply_held, in);
	object_intake_init(&in->objects, result, &in->nodes, &in->locations, &in->attribution);
	tick_intake_init(&in->ticks, result, &in->attribution);
	loop_session_init(&in->loops, result, &in->methods, &in->ticks);
}

void intake_release(struct intake *in)
{
	method_intake_release(&in->methods);
	agent_ids_release(&in->nodes);
	agent_ids_release(&in->locations);
	agent_ids_release(&in->instructions);
	object_intake_release(&in->objects);
	attribution_intake_release(&in->attribution);
	tick_intake_release(&in->ticks);
	loop_session_release(&in->loops);
	intake_init(in, in->result);
}

static void lose(struct intake *in, enum loss loss)
{
	in->result->losses[loss]++;
}

/* Sorts failures into what is lost and counted (a limit: returns 0) and what ends the window. */
static int lost_or_failed(struct intake *in, int r, enum loss loss)
{
	if (r != -ENOSPC && r != -E2BIG)
		return r;
	lose(in, loss);
	return 0;
}

/* A new id for the map: not 0, not known, and within the limit. Counts what is wrong. */
static bool acceptable_id(struct intake *in, const struct agent_ids *map, uint32_t id, size_t limit,
			  enum loss full)
{
	uint32_t known;

	if (id == 0)
		lose(in, LOSS_INVALID);
	else if (agent_ids_get(map, id, &known))
		lose(in, LOSS_REPEATED_IDS);
	else if (map->count >= limit)
		lose(in, full);
	else
		return true;
	return false;
}

/* A name that does not fit is shown as "". */
static int intern(struct intake *in, const char *text, uint32_t *id)
{
	int r = strings_intern(&in->result->profile.strings, text, id);

	if (r < 0)
		*id = 0;
	return lost_or_failed(in, r, LOSS_STRINGS);
}

/* The window's name for an id of the agent. An unknown one is counted and becomes 0, "none". */
static uint32_t translate(struct intake *in, const struct agent_ids *map, uint32_t id)
{
	uint32_t value = 0;

	if (id != 0 && !agent_ids_get(map, id, &value))
		lose(in, LOSS_UNKNOWN_IDS);
	return value;
}

static int add_node(struct intake *in, const Jxp__Node *n)
{
	struct cct_node node = {.bci = n->bci < 0 ? -1 : n->bci, .line = -1};
	uint32_t position, id;
	int r;

	if (!acceptable_id(in, &in->nodes, n->id, LIMIT_NODES, LOSS_NODES))
		return 0;
	if (n->parent != 0 && !agent_ids_get(&in->nodes, n->parent, &node.parent)) {
		lose(in, LOSS_UNKNOWN_IDS);
		return 0;
	}
	if (n->method != 0) {
		if (method_intake_find(&in->methods, n->method, &position)) {
			node.method = method_intake_name(&in->methods, position);
			node.line = method_intake_line(&in->methods, position, n->bci);
		} else {
			lose(in, LOSS_UNKNOWN_IDS);
		}
	}
	if (n->tier >= JXP__TIER__TIER_UNKNOWN && n->tier <= JXP__TIER__TIER_NATIVE)
		node.tier = (uint16_t)n->tier;
	r = cct_add_node(&in->result->profile.cct, &node, &id);
	if (r < 0)
		return lost_or_failed(in, r, LOSS_NODES);
	if (window_result_profiles_loops(in->result) &&
	    (r = loop_session_node(&in->loops, id, n->method)) < 0)
		return r;
	return agent_ids_add(&in->nodes, n->id, id);
}

static int add_instruction(struct intake *in, const Jxp__Instruction *i)
{
	uint32_t id;
	int r;

	if (!acceptable_id(in, &in->instructions, i->id, LIMIT_INSTRUCTIONS, LOSS_INSTRUCTIONS))
		return 0;
	r = intern(in, i->text, &id);
	return r < 0 ? r : agent_ids_add(&in->instructions, i->id, id);
}

/* A kind that is not known yet is told as little as an unknown place. */
static int add_location(struct intake *in, const Jxp__Location *m)
{
	struct location location = {.kind = m->kind > JXP__LOCATION__KIND__STACK ? 0 : m->kind,
				    .offset = m->offset,
				    .bytes = m->bytes,
				    .object_bytes = m->object_bytes};
	uint32_t id;
	int r;

	if (!acceptable_id(in, &in->locations, m->id, LIMIT_LOCATIONS, LOSS_LOCATIONS))
		return 0;
	if (!location_fits(&location))
		location.bytes = 0;
	if ((r = intern(in, m->class_name, &location.class_name)) < 0 ||
	    (r = intern(in, m->field, &location.field)) < 0 ||
	    (r = intern(in, m->declared_in, &location.declared_in)) < 0 ||
	    (r = intern(in, m->type, &location.type)) < 0)
		return r;
	r = locations_add(&in->result->profile.locations, &location, &id);
	if (r < 0)
		return lost_or_failed(in, r, LOSS_LOCATIONS);
	return agent_ids_add(&in->locations, m->id, id);
}

static bool valid_transition(const struct intake *in, const struct event_transition *t)
{
	if (t->type <= JXP__TRANSITION__TYPE__NONE || t->type > JXP__TRANSITION__TYPE__ABANDONED)
		return false;
	/* A pair that was foretold had no register. */
	if (t->reg >= PERF_DEBUG_REGISTERS + (t->type == JXP__TRANSITION__TYPE__TRAPPED) ||
	    t->length < 1 || t->length > 8)
		return false;
	if (!pair_kind_find((Jxp__Kind)t->kind) || !in->result->request.kinds[t->kind])
		return false;
	if (t->region > JXP__REGION__REGION_JVM)
		return false;
	return t->type != JXP__TRANSITION__TYPE__TRAPPED ||
	       (t->checked_bytes >= 1 && t->checked_bytes <= LIMIT_PAIR_BYTES &&
		t->cpu_ns <= LIMIT_PAIR_CPU_NS);
}

/* What waited until it was known who makes its accesses. */
static int apply_held(void *arg, const struct attribution_held *held)
{
	struct intake *in = arg;
	struct observation pair;

	if (!held->is_pair)
		return object_intake_attributed(&in->objects, held);
	pair = held->pair;
	pair.watch_node = held->queries[0].node;
	pair.trap_node = held->queries[1].node;
	return lost_or_failed(in, profile_add(&in->result->profile, &pair), LOSS_PAIRS);
}

/* The first access is of the type that is sampled, the second of one that ends the wait: where both
 * do, only a store overwrites what nobody has read. */
static void ask_of_pair(const struct event_transition *t, struct attribution_held *held)
{
	const struct pair_kind *kind = pair_kind_find((Jxp__Kind)t->kind);
	const struct observation *o = &held->pair;
	bool either = kind->ends == PAIR_LOAD_OR_STORE;

	held->queries[0] = (struct attribution_query){.code = t->watch_code,
						      .offset = t->watch_offset,
						      .node = o->watch_node,
						      .location = o->location,
						      .calls = t->watch_calls,
						      .loads = kind->sampled == PAIR_LOAD,
						      .stores = kind->sampled == PAIR_STORE};
	held->queries[1] =
	    (struct attribution_query){.code = t->trap_code,
				       .offset = t->trap_offset,
				       .node = o->trap_node,
				       .location = o->location,
				       .calls = t->trap_calls,
				       .loads = either ? !o->wasteful : kind->ends == PAIR_LOAD,
				       .stores = either ? o->wasteful : kind->ends == PAIR_STORE};
}

static int add_pair(struct intake *in, const struct event_transition *t)
{
	bool clock = in->result->findings.sampler == JXP__SAMPLER__SAMPLER_CLOCK;
	struct attribution_held held = {.is_pair = true};

	held.pair = (struct observation){
	    .kind = (Jxp__Kind)t->kind,
	    .region = (Jxp__Region)t->region,
	    .jvm_access = t->jvm_access,
	    .wasteful = t->wasteful,
	    .checked_bytes = t->checked_bytes,
	    .watch_node = translate(in, &in->nodes, t->watch_node),
	    .trap_node = translate(in, &in->nodes, t->trap_node),
	    .watch_instruction = translate(in, &in->instructions, t->watch_instruction),
	    .trap_instruction = translate(in, &in->instructions, t->trap_instruction),
	    .location = translate(in, &in->locations, t->location),
	    .cpu_ns = clock ? t->cpu_ns : 0,
	};
	ask_of_pair(t, &held);
	return attribution_intake_add(&in->attribution, &held);
}

static int add_transition(struct intake *in, const void *event)
{
	const struct event_transition *t = event;
	int r;

	if (!valid_transition(in, t)) {
		lose(in, LOSS_INVALID);
		return 0;
	}
	r = thread_table_transition(&in->result->threads, t);
	r = lost_or_failed(in, r, LOSS_THREADS);
	if (r < 0 || t->type != JXP__TRANSITION__TYPE__TRAPPED)
		return r;
	return add_pair(in, t);
}

static bool valid_tick(const struct intake *in, const struct event_tick *s)
{
	enum cpu_code code;

	return window_result_profiles_cpu(in->result) && s->state < CPU_STATES &&
	       s->cpu_ns <= LIMIT_TICK_CPU_NS &&
	       (cpu_code_of((Jxp__CpuSample__State)s->state, &code) ||
		(s->node == 0 && !s->truncated));
}

static int add_tick_in_code(struct intake *in, const struct event_tick *s, uint32_t node)
{
	bool of_loops = !s->called && window_result_profiles_loops(in->result);
	enum tick_kind kind = s->called ? TICK_CALLED : TICK_IN_CODE;
	int kept;

	if (s->truncated)
		node = 0;
	if (node == 0 || s->state != JXP__CPU_SAMPLE__STATE__COMPILED)
		kind = TICK_OF_NOBODY;
	if (kind == TICK_OF_NOBODY && !of_loops)
		return 0;
	kept = tick_intake_add(&in->ticks, s, node, kind);
	if (kept < 0 || !of_loops)
		return kept < 0 ? kept : 0;
	return loop_session_tick(&in->loops, s, node, kept > 0);
}

static int add_tick(struct intake *in, const void *event)
{
	const struct event_tick *s = event;
	struct cpu_profile *c = &in->result->cpu;
	uint32_t node;
	int r;

	if (!valid_tick(in, s)) {
		lose(in, LOSS_INVALID);
		return 0;
	}
	node = translate(in, &in->nodes, s->node);
	r = cpu_profile_add(c, (Jxp__CpuSample__State)s->state, node, s->truncated != 0, s->cpu_ns);
	in->result->losses[LOSS_CPU_CONTEXTS] = c->refused;
	if (r == 0)
		r = lost_or_failed(in, thread_table_tick(&in->result->threads, s), LOSS_THREADS);
	return r < 0 || s->code == 0 ? r : add_tick_in_code(in, s, node);
}

/* Counts are cumulative: one that falls is not believed, nor is one that cannot be. */
static void take_count(struct intake *in, uint64_t *count, uint64_t said, uint64_t limit)
{
	if (said > limit)
		lose(in, LOSS_INVALID);
	else if (said > *count)
		*count = said;
}

/* The clock of a CPU is another one than that of elapsed time, which may be slewed; a batch that is
 * late makes no difference, since more time has passed by then. */
static uint64_t cpu_most_ns(const struct intake *in, uint64_t elapsed_ns)
{
	uint64_t each_ns = elapsed_ns + elapsed_ns / 64 + NS_PER_S, most_ns;

	if (in->processors < 1 ||
	    __builtin_mul_overflow(each_ns, (uint64_t)in->processors, &most_ns) ||
	    most_ns > LIMIT_CPU_NS)
		return LIMIT_CPU_NS;
	return most_ns;
}

void intake_bound_cpu(struct intake *in, uint64_t window_ns, uint64_t asked_ns)
{
	in->cpu_most_ns = cpu_most_ns(in, window_ns);
	in->setup_most_ns = cpu_most_ns(in, asked_ns);
}

static void take_cpu_time(struct intake *in, uint64_t *ns, uint64_t said, uint64_t most)
{
	bool cut = said > most && said <= LIMIT_CPU_NS;

	if (cut)
		lose(in, LOSS_CPU_TIME);
	take_count(in, ns, cut ? most : said, LIMIT_CPU_NS);
}

static void take_counters(struct intake *in, const Jxp__Batch *batch)
{
	struct window_result *w = in->result;

	for (size_t i = 0; i < batch->n_counters && i < JXP__COUNTER__COUNTER_MAX; i++) {
		uint64_t before = in->counters[i];

		take_count(in, &in->counters[i], batch->counters[i], LIMIT_COUNTER);
		w->counters[i] += in->counters[i] - before;
	}
	take_cpu_time(in, &w->cpu_ns, batch->cpu_ns, in->cpu_most_ns);
	take_cpu_time(in, &w->overhead_ns, batch->overhead_ns, in->cpu_most_ns);
	take_cpu_time(in, &w->setup_ns, batch->setup_ns, in->setup_most_ns);
	if (batch->period > 0)
		w->effective_period = batch->period;
}

size_t intake_memory_bytes(const struct intake *in)
{
	return method_intake_memory_bytes(&in->methods) + agent_ids_memory_bytes(&in->nodes) +
	       agent_ids_memory_bytes(&in->locations) + agent_ids_memory_bytes(&in->instructions) +
	       object_intake_memory_bytes(&in->objects) + loop_session_memory_bytes(&in->loops) +
	       attribution_intake_memory_bytes(&in->attribution) +
	       tick_intake_memory_bytes(&in->ticks);
}

/* What both have asked for comes twice. What loops have asked for tells of their ticks, too. */
static int add_image(struct intake *in, const Jxp__CodeImage *m)
{
	int error;

	if (attribution_intake_image(&in->attribution, m, &error))
		return error;
	error = loop_session_image(&in->loops, m);
	return error < 0 ? error : attribution_intake_offer(&in->attribution, m);
}

static int add_allocation(struct intake *in, const void *event)
{
	return object_intake_allocation(&in->objects, event);
}

static int add_position(struct intake *in, const void *event)
{
	return object_intake_position(&in->objects, event);
}

static int add_settled(struct intake *in, const void *event)
{
	return object_intake_settled(&in->objects, event);
}

static int add_access(struct intake *in, const void *event)
{
	return object_intake_access(&in->objects, event);
}

static int add_burst(struct intake *in, const void *event)
{
	loop_session_burst(&in->loops, event);
	return 0;
}

static int add_trace(struct intake *in, const void *event)
{
	return loop_traces_add(&in->loops, event);
}

static int add_reading(struct intake *in, const void *event)
{
	loop_session_reading(&in->loops, event);
	return 0;
}

/* In their order. What begins no record is counted once: nothing behind it can be found. */
static int add_events(struct intake *in, const ProtobufCBinaryData *events)
{
	static int (*const add[EVENT_TYPES])(struct intake *, const void *) = {
	    [EVENT_TRANSITION] = add_transition, [EVENT_ALLOCATION] = add_allocation,
	    [EVENT_POSITION] = add_position,     [EVENT_SETTLED] = add_settled,
	    [EVENT_ACCESS] = add_access,         [EVENT_TICK] = add_tick,
	    [EVENT_BURST] = add_burst,           [EVENT_TRACE] = add_trace,
	    [EVENT_READING] = add_reading,
	};
	const struct event_head *event;
	size_t at = 0;
	int r = 0;

	while (r == 0 && (event = event_next(events->data, events->len, &at)))
		r = add[event->type](in, event);
	if (r == 0 && at < events->len)
		lose(in, LOSS_INVALID);
	return r;
}

int intake_batch(struct intake *in, const Jxp__Batch *batch)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < batch->n_methods; i++)
		r = method_intake_add(&in->methods, batch->methods[i]);
	for (size_t i = 0; r == 0 && i < batch->n_nodes; i++)
		r = add_node(in, batch->nodes[i]);
	for (size_t i = 0; r == 0 && i < batch->n_instructions; i++)
		r = add_instruction(in, batch->instructions[i]);
	for (size_t i = 0; r == 0 && i < batch->n_locations; i++)
		r = add_location(in, batch->locations[i]);
	for (size_t i = 0; r == 0 && i < batch->n_threads; i++) {
		const Jxp__Thread *t = batch->threads[i];

		r = thread_table_update(&in->result->threads, t->tid, t->name, t->ended);
		r = lost_or_failed(in, r, LOSS_THREADS);
	}
	if (r == 0)
		r = object_intake_begin(&in->objects, batch);
	if (r == 0)
		r = add_events(in, &batch->events);
	for (size_t i = 0; r == 0 && i < batch->n_codes; i++)
		r = add_image(in, batch->codes[i]);
	if (r == 0)
		r = tick_intake_settle(&in->ticks);
	if (r == 0)
		r = object_intake_settle(&in->objects, batch->settled_ns);
	if (r == 0)
		r = loop_traces_settle(&in->loops);
	if (r == 0)
		take_counters(in, batch);
	return r;
}

bool intake_take_image(struct intake *in, enum code_use use, struct code_image *image,
		       uint32_t *code)
{
	return use == CODE_FOR_LOOPS ? loop_session_take_image(&in->loops, image, code)
				     : attribution_intake_take_image(&in->attribution, image, code);
}

int intake_analysed(struct intake *in, enum code_use use, uint32_t code, int error, void *product)
{
	return use == CODE_FOR_LOOPS
		   ? loop_session_analysed(&in->loops, code, error, product)
		   : attribution_intake_analysed(&in->attribution, code, error, product);
}

int intake_finish(struct intake *in)
{
	int r;

	if (in->finished)
		return 0;
	in->finished = true;
	r = object_intake_finish(&in->objects);
	if (r == 0)
		r = attribution_intake_finish(&in->attribution);
	if (r == 0)
		r = tick_intake_finish(&in->ticks);
	if (r == 0)
		r = loop_session_finish(&in->loops);
	return r;
}
