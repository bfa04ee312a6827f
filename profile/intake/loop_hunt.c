#include "profile/intake/loop_session.h"

#include <errno.h>

/* So many of a plan's places are for entries where there are more sites than room. */
#define ENTRIES_MIN 4u

/* A loop with its results in more than one turn of a hundred, or fewer than one of four thousand,
 * needs no more than this to be known: the threshold of reports is one of a thousand. */
#define ENOUGH_BURSTS 40
#define ENOUGH_EVENTS 20
#define ENOUGH_TURNS  20000
#define OFTEN         0.01
#define RARELY        0.00025

/* Traces that are enough: as many, or half of them that leave no doubt of which side of a half the
 * rate of what is done again is on. Bursts and traces share a budget, and whether a loop has
 * results is told first: it has no traces before that is known, or as many bursts have not told it.
 */
#define ENOUGH_TRACES 120
#define CLEAR_TRACES  60
#define BURSTS_FIRST  60
#define CLEARLY_LESS  0.4
#define CLEARLY_MORE  0.6

/* Readings of a loop. */
#define ENOUGH_READINGS 64

static bool is_hot(const struct loop_session *in, uint64_t samples)
{
	double all = (double)cpu_profile_all(&in->result->cpu).samples;

	return samples >= LOOP_HUNT_SAMPLES && (double)samples >= LOOP_HUNT_SHARE * all;
}

size_t loop_hunt_codes(struct loop_session *in, uint64_t codes[CODES_OPEN_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < in->code_count && in->requests.open < CODES_OPEN_MAX &&
			   in->requests.asked < LIMIT_CODES;
	     i++) {
		struct loop_code *code = &in->codes[i];

		if (code->is.state != CODE_MET || !is_hot(in, code->samples))
			continue;
		code_requests_ask(&in->requests, &code->is);
		codes[count++] = code->is.number;
	}
	return count;
}

/* ---------------------------------------------------------------- plans */

/* The outermost of loops in each other that are the same one, as where the JVM has mined strips:
 * it is entered where the source's is. NULL where there are ways into it that cannot be counted. */
static const struct code_loop *entered_loop(const struct loop_code *code, uint32_t loop)
{
	uint32_t row = code->analysis.loops[loop].row, parent;

	while ((parent = code->analysis.loops[loop].parent) != LOOP_NO_PARENT &&
	       code->analysis.loops[parent].row == row)
		loop = parent;
	return code->analysis.loops[loop].doubts & LOOP_DOUBT_ENTRY ? NULL
								    : &code->analysis.loops[loop];
}

/* Does it lie around another copy of itself, which has the turns? */
static bool is_around_itself(const struct loop_code *code, uint32_t loop)
{
	for (uint32_t i = 0; i < loop; i++)
		if (code->analysis.loops[i].parent == loop &&
		    code->analysis.loops[i].row == code->analysis.loops[loop].row)
			return true;
	return false;
}

/* Is there a plan for a copy of the loop whose turns are known? */
static bool has_better_plan(const struct loop_session *in, const struct loop_code *code,
			    uint32_t loop)
{
	for (size_t i = 0; i < in->plan_count; i++) {
		const struct planned_loop *plan = &in->plans[i];
		const struct loop_code *other = &in->codes[plan->code];

		if (plan->countable &&
		    other->analysis.loops[plan->loop].row == code->analysis.loops[loop].row &&
		    !(other->analysis.loops[plan->loop].doubts & LOOP_DOUBT_UNROLL))
			return true;
	}
	return false;
}

/* Where several turns may be made for each time the header is come to, there are at least as many
 * as are counted, which says enough of a search that has no other copy. */
static bool is_worth_counting(const struct loop_session *in, const struct loop_code *code,
			      uint32_t loop)
{
	const struct code_loop *l = &code->analysis.loops[loop];

	return !l->waits && l->unroll > 0 &&
	       (!(l->doubts & LOOP_DOUBT_UNROLL) ||
		(!is_around_itself(code, loop) && !has_better_plan(in, code, loop))) &&
	       (l->type == LOOP_LAST || l->type == LOOP_SOME) &&
	       (l->site_count > 0 || l->entry_count > 0);
}

/* The profile's place of a site, whether it will be counted or not. */
static int place_of(struct loop_session *in, const struct loop_code *code, uint32_t row,
		    const struct loop_site *site, uint32_t *place)
{
	struct loop_place like = {
	    .loop = row, .bci = site->bci, .line = -1, .result = site->result};
	int r;

	if (site->method) {
		like.method = code->names[site->method - 1];
		like.line = method_intake_line(in->methods, code->is.announced[site->method - 1],
					       site->bci);
	}
	r = loop_profile_place(&in->result->loops, &like, place);
	in->result->losses[LOSS_LOOPS] = in->result->loops.refused;
	if (r < 0)
		*place = LOOP_NO_ROW;
	return r == -ENOSPC ? 0 : r;
}

/* Draws wanted of count positions, all alike likely, in order (Knuth, TAOCP 3.4.2, algorithm S). */
static void draw(struct random *random, uint32_t count, uint32_t wanted, uint32_t *positions)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < count && taken < wanted; i++)
		if (random_below(random, count - i) < wanted - taken)
			positions[taken++] = i;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* One entry is begun at: were there others, what comes after it may be of more instances than one.
 * Where it lies around another copy of itself, that one is compared. */
static bool has_instances_to_compare(const struct loop_code *code, uint32_t loop)
{
	const struct code_loop *l = &code->analysis.loops[loop], *entered;

	if (l->waits || l->recursion || l->load_count == 0 || is_around_itself(code, loop))
		return false;
	entered = entered_loop(code, loop);
	return entered && entered->entry_count == 1;
}

static bool has_turns_to_compare(const struct loop_code *code, uint32_t loop)
{
	const struct code_loop *l = &code->analysis.loops[loop];

	return !l->waits && l->turn_input_count > 0 &&
	       l->turn_input_count <= LIMIT_PLAN_TURN_INPUTS;
}

static void plan_instances(struct loop_session *in, const struct loop_code *code,
			   struct planned_loop *plan)
{
	const struct code_loop *l = &code->analysis.loops[plan->loop];
	struct loop_plan *order = &plan->order;

	if (!has_instances_to_compare(code, plan->loop))
		return;
	order->entry = code->analysis.entries[entered_loop(code, plan->loop)->first_entry];
	order->load_count = (uint8_t)least(l->load_count, LIMIT_PLAN_LOADS);
	draw(&in->random, l->load_count, order->load_count, plan->loads);
	for (uint32_t i = 0; i < order->load_count; i++) {
		plan->loads[i] += l->first_load;
		order->loads[i] = code->analysis.inputs[plan->loads[i]].use;
	}
	order->scalar_count = (uint8_t)least(l->scalar_count, LIMIT_PLAN_SCALARS);
	for (uint32_t i = 0; i < order->scalar_count; i++)
		order->scalars[i] = code->analysis.scalars[l->first_scalar + i];
}

static void plan_turns(const struct loop_code *code, struct planned_loop *plan)
{
	const struct code_loop *l = &code->analysis.loops[plan->loop];
	struct loop_plan *order = &plan->order;

	if (!has_turns_to_compare(code, plan->loop))
		return;
	order->turn_input_count = (uint8_t)l->turn_input_count;
	for (uint32_t i = 0; i < l->turn_input_count; i++)
		order->turn_inputs[i] = code->analysis.inputs[l->first_turn_input + i].use;
}

/* What waits has instances as long as somebody else takes. Of a loop that is only around others no
 * instance is waited for: they are long, and nothing else is counted meanwhile. */
static void plan_reading(const struct loop_code *code, struct planned_loop *plan)
{
	const struct code_loop *l = &code->analysis.loops[plan->loop];
	struct loop_plan *order = &plan->order;
	const struct loop_reading *reading;

	if (!l->reading || l->waits || plan->around)
		return;
	reading = &code->analysis.readings[l->reading - 1];
	order->begin = reading->begin;
	order->end_count = (uint8_t)reading->end_count;
	for (unsigned i = 0; i < reading->end_count; i++)
		order->ends[i] = reading->ends[i].place;
}

static int plan_counts(struct loop_session *in, const struct loop_code *code,
		       struct planned_loop *plan)
{
	uint32_t loop = plan->loop, drawn[LIMIT_PLAN_PLACES] = {0};
	const struct code_loop *l = &code->analysis.loops[loop];
	const struct code_loop *entered = entered_loop(code, loop);
	uint32_t entries = entered ? entered->entry_count : 0;
	uint32_t for_entries = least(entries, ENTRIES_MIN);
	int r = 0;

	plan->countable = true;
	plan->all_sites = l->site_count;
	plan->all_entries = entries;
	plan->entries_ahead = l->type == LOOP_LAST;
	plan->ends_with_result = l->type == LOOP_LAST && !(l->doubts & LOOP_DOUBT_SITES);
	plan->sites = least(l->site_count, LIMIT_PLAN_PLACES - for_entries);
	plan->entries = least(entries, LIMIT_PLAN_PLACES - plan->sites);
	plan->order.count = plan->sites + plan->entries;
	plan->order.ahead = plan->entries_ahead ? plan->entries : 0;
	draw(&in->random, l->site_count, plan->sites, drawn);
	for (uint32_t i = 0; r == 0 && i < plan->sites; i++) {
		const struct loop_site *site = &code->analysis.sites[l->first_site + drawn[i]];

		plan->order.places[i] = site->offset;
		r = place_of(in, code, code->analysis.loops[loop].row, site, &plan->rows[i]);
	}
	draw(&in->random, entries, plan->entries, drawn);
	for (uint32_t i = 0; entered && i < plan->entries; i++)
		plan->order.places[plan->sites + i] =
		    code->analysis.entries[entered->first_entry + drawn[i]];
	return r;
}

static int consider(struct loop_session *in, struct loop_code *code, uint32_t loop)
{
	const struct code_loop *l = &code->analysis.loops[loop];
	struct planned_loop *plan;
	uint32_t row, place;
	int r = loop_session_row(in, code, loop, &row);

	if (r < 0 || row == LOOP_NO_ROW)
		return r;
	code->analysis.loops[loop].considered = true;
	for (uint32_t i = 0; r == 0 && i < l->site_count; i++)
		r = place_of(in, code, row, &code->analysis.sites[l->first_site + i], &place);
	if (r < 0 || in->plan_count >= LIMIT_PLANS)
		return r;
	plan = &in->plans[in->plan_count];
	*plan = (struct planned_loop){.code = (uint32_t)(code - in->codes),
				      .loop = loop,
				      .around = !is_hot(in, code->analysis.loops[loop].samples),
				      .order = {.plan = (uint32_t)in->plan_count + 1,
						.code = code->is.number,
						.header = l->header,
						.recursion = l->recursion}};
	plan_instances(in, code, plan);
	plan_turns(code, plan);
	plan_reading(code, plan);
	if (is_worth_counting(in, code, loop))
		r = plan_counts(in, code, plan);
	if (r < 0)
		return r;
	in->plan_count += plan->countable || loop_plan_asks(&plan->order);
	return 0;
}

static const struct loop *row_of(const struct loop_session *in, const struct planned_loop *plan)
{
	return &in->result->loops.rows[in->codes[plan->code].analysis.loops[plan->loop].row];
}

/* Are more bursts unlikely to change what is said of it? Either it has many results, or in so many
 * turns none, or it is entered that rarely. */
static bool is_known_enough(const struct planned_loop *plan, const struct loop *row)
{
	const struct loop_counts *results = &row->results, *entries = &row->entries;

	if (results->bursts >= ENOUGH_BURSTS && results->events >= ENOUGH_EVENTS &&
	    results->events > OFTEN * results->turns)
		return true;
	if (results->bursts >= ENOUGH_BURSTS && results->seen >= ENOUGH_TURNS &&
	    results->events < RARELY * results->turns)
		return true;
	return plan->entries_ahead && entries->bursts >= ENOUGH_BURSTS &&
	       entries->seen >= ENOUGH_TURNS && entries->events < RARELY * entries->turns;
}

static bool is_inside(const struct loop_code *code, uint32_t inner, uint32_t loop)
{
	while (inner != LOOP_NO_PARENT && inner < loop)
		inner = code->analysis.loops[inner].parent;
	return inner == loop;
}

static bool needs_counts(const struct loop_session *in, const struct planned_loop *plan)
{
	return plan->countable && !is_known_enough(plan, row_of(in, plan));
}

/* Bursts and traces of a loop begin with ticks anywhere in it. Those of one whose ticks come in
 * loops inside it would be lost to these: it waits until they are counted. */
static bool waits_for_inner(const struct loop_session *in, const struct planned_loop *plan)
{
	for (size_t i = 0; plan->around && i < in->plan_count; i++) {
		const struct planned_loop *other = &in->plans[i];

		if (other != plan && other->code == plan->code && needs_counts(in, other) &&
		    is_inside(&in->codes[plan->code], other->loop, plan->loop))
			return true;
	}
	return false;
}

/* Counts those of which more is to be known; all, if there are none, and nothing is compared. True
 * where that changed. */
static bool choose_counted(struct loop_session *in)
{
	bool wanted[LIMIT_PLANS], any = false, changed = false;

	for (size_t i = 0; i < in->plan_count; i++) {
		const struct planned_loop *plan = &in->plans[i];

		wanted[i] = needs_counts(in, plan) && !waits_for_inner(in, plan);
		any |= wanted[i] || plan->compared || plan->turns_compared;
	}
	for (size_t i = 0; i < in->plan_count; i++) {
		bool counted = wanted[i] || (in->plans[i].countable && !any);

		changed |= in->plans[i].order.counted != counted;
		in->plans[i].order.counted = counted;
	}
	return changed;
}

static bool may_be_compared(const struct planned_loop *plan, const struct loop *row)
{
	return !plan->countable || row->bursts >= BURSTS_FIRST || is_known_enough(plan, row);
}

static bool is_rate_known_enough(const struct repeat_rate *r)
{
	return r->traces >= ENOUGH_TRACES ||
	       (r->known && r->traces >= CLEAR_TRACES &&
		(r->ci95.low > CLEARLY_MORE || r->ci95.high < CLEARLY_LESS));
}

/* Compares those of which more is to be known: traces cost more than bursts, so no others. True
 * where that changed. */
static bool choose_compared(struct loop_session *in)
{
	bool changed = false;

	for (size_t i = 0; i < in->plan_count; i++) {
		struct planned_loop *plan = &in->plans[i];
		const struct loop *row = row_of(in, plan);
		struct repeat_rate instances = loop_profile_instances(&in->result->loops, row, 1);
		struct repeat_rate turns = turn_sums_rate(&row->turns);
		bool may = may_be_compared(plan, row) && !waits_for_inner(in, plan);
		bool known = is_rate_known_enough(&instances) &&
			     (instances.traces >= ENOUGH_TRACES ||
			      loop_profile_sameness(&in->result->loops, row) != LOOP_SAME_NOT_SURE);
		bool compared = may && plan->order.load_count > 0 && !known;
		bool turns_compared =
		    may && plan->order.turn_input_count > 0 && !is_rate_known_enough(&turns);

		changed |= plan->compared != compared || plan->turns_compared != turns_compared;
		plan->compared = compared;
		plan->turns_compared = turns_compared;
	}
	return changed;
}

/* Chooses one whose counters are read, however few have come of it. */
static bool choose_read(struct loop_session *in)
{
	bool changed = false;

	for (size_t i = 0; i < in->plan_count; i++) {
		struct planned_loop *plan = &in->plans[i];
		const struct loop_lengths *lengths = &row_of(in, plan)->lengths;
		bool read = plan->order.end_count > 0 &&
			    lengths->read + lengths->empty + lengths->left < ENOUGH_READINGS;

		changed |= plan->read != read;
		plan->read = read;
	}
	return changed;
}

/* In it, in loops inside it, or in what it calls. */
static bool has_time(const struct loop_session *in, const struct loop_code *code, uint32_t loop)
{
	const struct code_loop *l = &code->analysis.loops[loop];

	return l->calls || is_hot(in, l->samples) ||
	       (is_hot(in, l->within) && !is_around_itself(code, loop));
}

int loop_hunt_plans(struct loop_session *in, bool *changed)
{
	int r = 0;

	*changed = false;
	for (size_t i = 0; i < in->code_count; i++) {
		struct loop_code *code = &in->codes[i];

		if (code->is.state != CODE_KNOWN)
			continue;
		for (uint32_t j = 0; r == 0 && j < code->analysis.loop_count; j++)
			if (!code->analysis.loops[j].considered && has_time(in, code, j))
				r = consider(in, code, j);
	}
	if (r == 0) {
		*changed = choose_read(in);
		*changed |= choose_compared(in);
		*changed |= choose_counted(in);
	}
	return r;
}

size_t loop_hunt_orders(const struct loop_session *in, struct loop_plan orders[LIMIT_PLANS])
{
	size_t count = 0;

	for (size_t i = 0; i < in->plan_count; i++) {
		const struct planned_loop *plan = &in->plans[i];
		struct loop_plan *order = &orders[count];

		*order = plan->order;
		if (!plan->compared)
			order->load_count = order->scalar_count = 0;
		if (!plan->turns_compared)
			order->turn_input_count = 0;
		if (!plan->read)
			order->end_count = 0;
		count += loop_plan_asks(order);
	}
	return count;
}
