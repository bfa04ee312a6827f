#include "profile/intake/loop_session.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"

/* Loops around a tick that it counts for; nobody nests more. */
#define NESTED_MAX 32u

void loop_session_init(struct loop_session *in, struct window_result *result,
		       const struct method_intake *methods, const struct tick_intake *ticks)
{
	*in = (struct loop_session){.result = result, .methods = methods, .ticks = ticks};
	random_seed(&in->random, clock_monotonic_ns());
}

static void code_release(struct loop_code *c)
{
	free(c->is.announced);
	free(c->names);
	if (c->is.state == CODE_KNOWN)
		code_analysis_release(&c->analysis);
}

void loop_session_release(struct loop_session *in)
{
	for (size_t i = 0; i < in->code_count; i++)
		code_release(&in->codes[i]);
	code_requests_release(&in->requests);
	for (size_t i = 0; i < in->turns_count; i++)
		free(in->turns[i].tuples);
	row_table_release(&in->code_table);
	free(in->node_methods);
	loop_session_init(in, in->result, in->methods, in->ticks);
}

static void lose(struct loop_session *in, enum loss loss, uint64_t count)
{
	in->result->losses[loss] += count;
}

/* What there is no room for has been counted in the profile. */
static int refused_or_failed(struct loop_session *in, int r)
{
	in->result->losses[LOSS_LOOPS] = in->result->loops.refused;
	return r == -ENOSPC ? 0 : r;
}

/* ---------------------------------------------------------------- codes */

static const struct table_layout code_layout = {.row_size = sizeof(struct loop_code),
						.key_words = WANTED_CODE_KEY_WORDS,
						.limit = LIMIT_LOOP_TICKS};

static bool find_code(const struct loop_session *in, uint64_t number, uint32_t *position)
{
	return row_table_find(&in->code_table, &code_layout, &number, position);
}

/* New or known. 0, -ENOSPC or -ENOMEM. */
static int find_or_add_code(struct loop_session *in, uint64_t number, uint32_t *position)
{
	int r = row_table_add(&in->code_table, &code_layout, &number, position);

	return r < 0 ? r : 0;
}

/* ---------------------------------------------------------------- ticks of known code */

struct loop_key loop_session_key(const struct loop_session *in, const struct loop_code *code,
				 const struct code_loop *l)
{
	if (!l->mapped)
		return (struct loop_key){.method = code->names[code->method],
					 .header = l->header,
					 .line = -1,
					 .recursion = l->recursion};
	return (struct loop_key){
	    .method = code->names[l->method],
	    .header = (uint32_t)l->header_bci,
	    .line = method_intake_line(in->methods, code->is.announced[l->method], l->header_bci),
	    .mapped = true,
	    .recursion = l->recursion};
}

int loop_session_row(struct loop_session *in, struct loop_code *code, uint32_t loop, uint32_t *row)
{
	const struct code_loop *l = &code->analysis.loops[loop];
	struct loop_key key;
	struct loop *made;
	int r;

	*row = code->analysis.loops[loop].row;
	if (*row != LOOP_NO_ROW)
		return 0;
	key = loop_session_key(in, code, l);
	r = loop_profile_row(&in->result->loops, &key, row);
	if (r < 0) {
		*row = LOOP_NO_ROW;
		return refused_or_failed(in, r);
	}
	code->analysis.loops[loop].row = *row;
	made = &in->result->loops.rows[*row];
	if (l->mapped && l->latch_bci > made->latch_bci)
		made->latch_bci = l->latch_bci;
	if (l->unroll > made->unroll)
		made->unroll = l->unroll;
	return 0;
}

/* What a tick inside it says of a loop. */
static void add_within(struct loop *row, const struct code_loop *l, const struct cpu_sum *sum)
{
	cpu_sum_add(&row->within, sum, 1);
	row->type_ns[l->type < LOOP_TYPES ? l->type : LOOP_TYPE_UNKNOWN] += sum->ns;
	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (l->doubts >> i & 1)
			row->doubt_ns[i] += sum->ns;
	if (l->waits)
		row->waits_ns += sum->ns;
	if ((unsigned)l->effect < LOOP_EFFECTS)
		row->effect_ns[l->effect] += sum->ns;
}

/* The loop and those around it, each once: its copies may lie in each other, as where the JVM has
 * mined strips. */
static int add_nested(struct loop_session *in, struct loop_code *code, uint32_t loop,
		      const struct cpu_sum *sum)
{
	uint32_t seen[NESTED_MAX];
	unsigned count = 0;

	for (uint32_t i = loop; i != LOOP_NO_PARENT && count < NESTED_MAX;
	     i = code->analysis.loops[i].parent) {
		bool again = false;
		uint32_t row;
		int r = loop_session_row(in, code, i, &row);

		if (r < 0)
			return r;
		code->analysis.loops[i].within += sum->samples;
		if (row == LOOP_NO_ROW)
			continue;
		for (unsigned j = 0; j < count; j++)
			again |= seen[j] == row;
		if (!again)
			add_within(&in->result->loops.rows[row], &code->analysis.loops[i], sum);
		seen[count++] = row;
	}
	return 0;
}

/* From where the method that has the loop was called: *node, 0 for a thread's first. Of a
 * recursion, where it began. False where the method is not in the context. */
static bool caller_of(const struct loop_session *in, const struct loop_key *key, uint32_t *node)
{
	const struct cct *t = &in->result->profile.cct;
	uint32_t at = *node;
	bool found = false;

	while (at && (!found || key->recursion)) {
		const struct cct_node *n = cct_node(t, at);

		at = n->parent;
		if (n->method != key->method)
			continue;
		found = true;
		*node = at;
	}
	return found;
}

static int add_context(struct loop_session *in, uint32_t row, const struct tick_place *tick)
{
	struct loop_profile *p = &in->result->loops;
	uint32_t position,
	    node = tick_intake_node(in->ticks, tick->key.code, tick->key.offset, tick->key.node);
	int r;

	if (!caller_of(in, &p->rows[row].key, &node))
		return 0;
	r = loop_profile_context(p, row, node, &position);
	if (r < 0)
		return refused_or_failed(in, r);
	cpu_sum_add(&p->contexts[position].sum, &tick->sum, 1);
	return 0;
}

/* Code of a method that calls itself: all of it is the recursion's. */
static int add_recursion(struct loop_session *in, struct loop_code *code,
			 const struct tick_place *tick, bool own)
{
	struct code_loop *recursion = &code->analysis.loops[code->recursion];
	struct loop *rows;
	uint32_t row;
	int r = loop_session_row(in, code, code->recursion, &row);

	if (r < 0 || row == LOOP_NO_ROW)
		return r;
	rows = in->result->loops.rows;
	add_within(&rows[row], recursion, &tick->sum);
	if (!own)
		return 0;
	recursion->samples += tick->sum.samples;
	cpu_sum_add(&rows[row].own, &tick->sum, 1);
	return add_context(in, row, tick);
}

static int add_known(struct loop_session *in, struct loop_code *code, const struct tick_place *tick)
{
	struct loop_profile *p = &in->result->loops;
	uint32_t loop = code_analysis_loop_at(&code->analysis, tick->key.offset), row;
	int r = 0;

	cpu_sum_add(&p->looked_at, &tick->sum, 1);
	if (code->recursion != LOOP_NO_PARENT)
		r = add_recursion(in, code, tick, loop == LOOP_NO_PARENT);
	if (r < 0 || loop == LOOP_NO_PARENT)
		return r;
	code->analysis.loops[loop].samples += tick->sum.samples;
	cpu_sum_add(&p->in_loops, &tick->sum, 1);
	if (code->analysis.loops[loop].mapped)
		cpu_sum_add(&p->mapped, &tick->sum, 1);
	r = loop_session_row(in, code, loop, &row);
	if (r < 0 || row == LOOP_NO_ROW)
		return r;
	cpu_sum_add(&p->rows[row].own, &tick->sum, 1);
	r = add_nested(in, code, loop, &tick->sum);
	return r < 0 ? r : add_context(in, row, tick);
}

/* Those that came before it was known what code they are in. */
static int add_earlier(struct loop_session *in, struct loop_code *code)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < in->ticks->place_count; i++) {
		const struct tick_place *tick = &in->ticks->places[i];

		if (tick->key.code == code->is.number && tick->key.kind != TICK_CALLED)
			r = add_known(in, code, tick);
	}
	return r;
}

int loop_session_tick(struct loop_session *in, const struct event_tick *tick, uint32_t node,
		      bool kept)
{
	const struct tick_place one = {
	    .key = {.code = tick->code, .offset = tick->offset, .node = node},
	    .sum = {.samples = 1, .ns = (double)tick->cpu_ns}};
	uint32_t position;
	int r = find_or_add_code(in, tick->code, &position);

	cpu_sum_add(&in->result->loops.compiled, &one.sum, 1);
	if (r == 0) {
		in->codes[position].samples++;
		if (in->codes[position].is.state == CODE_KNOWN)
			r = add_known(in, &in->codes[position], &one);
		else if (!kept)
			r = -ENOSPC;
	}
	if (r != -ENOSPC)
		return r;
	lose(in, LOSS_LOOP_TICKS, 1);
	return 0;
}

/* ---------------------------------------------------------------- code */

static int name_methods(struct loop_session *in, struct loop_code *code,
			const struct code_image *image)
{
	code->names = calloc(image->method_count, sizeof(*code->names));
	if (!code->names)
		return -ENOMEM;
	for (size_t i = 0; i < image->method_count; i++)
		code->names[i] = method_intake_name(in->methods, code->is.announced[i]);
	code->method = image->method;
	return 0;
}

static struct loop_caller *find_open_caller(struct loop_session *in, uint32_t method)
{
	for (size_t i = 0; i < in->caller_count; i++)
		if (in->callers[i].open && in->callers[i].method == method)
			return &in->callers[i];
	return NULL;
}

/* What a method was answered with: 1 with the position of its code, which counts as asked for now;
 * 0 where there is none, or it is known already; -ENOMEM. */
static int take_callers_code(struct loop_session *in, struct loop_caller *caller,
			     const Jxp__CodeImage *m, uint32_t *position)
{
	int r = m->error[0] ? -ENOSPC : find_or_add_code(in, m->code, position);

	caller->open = false;
	if (r < 0 || in->codes[*position].is.state != CODE_MET) {
		in->requests.open--;
		return r == -ENOMEM ? r : 0;
	}
	in->codes[*position].is.state = CODE_ASKED;
	in->caller_images++;
	return 1;
}

int loop_session_image(struct loop_session *in, const Jxp__CodeImage *m)
{
	struct loop_code *code;
	uint32_t position;
	int r;

	if (!find_code(in, m->code, &position) || in->codes[position].is.state != CODE_ASKED) {
		struct loop_caller *caller = find_open_caller(in, m->method);

		lose(in, LOSS_INVALID, !caller);
		if (!caller || (r = take_callers_code(in, caller, m, &position)) != 1)
			return caller ? r : 0;
	}
	code = &in->codes[position];
	r = code_requests_image(&in->requests, in->methods, &code->is, m,
				&in->result->losses[LOSS_CODE]);
	if (r <= 0)
		return r;
	return name_methods(in, code, &in->requests.images[in->requests.image_count - 1]);
}

bool loop_session_take_image(struct loop_session *in, struct code_image *image, uint32_t *code)
{
	uint64_t number;

	return code_requests_take(&in->requests, image, &number) && find_code(in, number, code);
}

int loop_session_analysed(struct loop_session *in, uint32_t position, int error,
			  struct code_analysis *analysis)
{
	struct loop_code *code = &in->codes[position];

	code_requests_done(&in->requests, &code->is, error, &in->result->losses[LOSS_CODE]);
	if (error < 0)
		return error == -ENOMEM ? error : 0;
	code->recursion = LOOP_NO_PARENT;
	for (uint32_t i = 0; i < analysis->loop_count; i++) {
		analysis->loops[i].row = LOOP_NO_ROW;
		if (analysis->loops[i].recursion)
			code->recursion = i;
	}
	code->analysis = *analysis;
	*analysis = (struct code_analysis){0};
	return add_earlier(in, code);
}

/* ---------------------------------------------------------------- bursts */

/* Are its places some of the plan's, each once? */
static bool valid_burst(const struct loop_session *in, const struct event_burst *b)
{
	const struct planned_loop *plan;
	uint32_t seen = 0;

	if (!window_result_profiles_loops(in->result) || b->plan == 0 || b->plan > in->plan_count ||
	    b->others > EVENT_BURST_PLACES)
		return false;
	plan = &in->plans[b->plan - 1];
	for (size_t i = 0; i < b->others; i++) {
		if (b->places[i] >= plan->sites + plan->entries || seen >> b->places[i] & 1)
			return false;
		seen |= 1u << b->places[i];
	}
	return true;
}

_Static_assert(LIMIT_PLAN_PLACES <= 32, "places of a burst are bits of 32");

static void count_place(struct loop_profile *p, uint32_t place, uint32_t count)
{
	if (place == LOOP_NO_ROW)
		return;
	p->places[place].counted += count;
	p->places[place].bursts++;
}

/* Is it the copy with most of the loop's time, of those in its code whose entries are counted? An
 * instance passes through several copies: one ratio of all their turns to all their entries would
 * be that of none. The others' turns, the first and the last ones, are left out. */
static bool counts_instances(const struct loop_session *in, const struct planned_loop *plan)
{
	const struct loop_code *code = &in->codes[plan->code];
	const struct code_loop *loop = &code->analysis.loops[plan->loop];

	for (size_t i = 0; i < in->plan_count; i++) {
		const struct planned_loop *other = &in->plans[i];

		if (other->code == plan->code && other->all_entries > 0 &&
		    code->analysis.loops[other->loop].row == loop->row &&
		    code->analysis.loops[other->loop].samples > loop->samples)
			return false;
	}
	return true;
}

void loop_session_burst(struct loop_session *in, const struct event_burst *b)
{
	const struct planned_loop *plan;
	const struct loop_code *code;
	unsigned sites = 0, entries = 0;
	double results = 0, entered = 0, turns;
	struct loop *row;

	if (!valid_burst(in, b)) {
		lose(in, LOSS_INVALID, 1);
		return;
	}
	plan = &in->plans[b->plan - 1];
	code = &in->codes[plan->code];
	row = &in->result->loops.rows[code->analysis.loops[plan->loop].row];
	for (size_t i = 0; i < b->others; i++) {
		bool site = b->places[i] < plan->sites;

		*(site ? &results : &entered) += b->counts[i];
		*(site ? &sites : &entries) += 1;
		if (site)
			count_place(&in->result->loops, plan->rows[b->places[i]], b->counts[i]);
	}
	turns = (double)b->headers * code->analysis.loops[plan->loop].unroll;
	row->bursts++;
	row->bursts_left += b->left != 0;
	row->bursts_least += (code->analysis.loops[plan->loop].doubts & LOOP_DOUBT_UNROLL) != 0;
	loop_counts_burst(&row->results, turns, results, sites, plan->all_sites);
	if (!counts_instances(in, plan))
		return;
	/* A walk to where it ends has its result there: one for each time it is entered. */
	if (plan->all_sites == 0 && plan->ends_with_result)
		loop_counts_burst(&row->results, turns, entered, entries, plan->all_entries);
	loop_counts_burst(&row->entries, turns, entered, entries, plan->all_entries);
}

/* What cannot be is dropped: a counter that went the wrong way, or not by whole turns. */
void loop_session_reading(struct loop_session *in, const struct event_reading *m)
{
	const struct planned_loop *plan =
	    window_result_profiles_loops(in->result) && m->plan > 0 && m->plan <= in->plan_count
		? &in->plans[m->plan - 1]
		: NULL;
	const struct loop_code *code = plan ? &in->codes[plan->code] : NULL;
	const struct loop_reading *reading = NULL;
	const struct loop_reading_end *end;
	struct loop_lengths *lengths;
	double turns;

	if (code && code->analysis.loops[plan->loop].reading)
		reading = &code->analysis.readings[code->analysis.loops[plan->loop].reading - 1];
	if (!reading || m->end >= reading->end_count || m->stepped % (int64_t)reading->step != 0 ||
	    m->stepped / (int64_t)reading->step < 0) {
		lose(in, LOSS_INVALID, 1);
		return;
	}
	lengths = &in->result->loops.rows[code->analysis.loops[plan->loop].row].lengths;
	end = &reading->ends[m->end];
	turns = (double)m->stepped / reading->step;
	if (m->left) {
		lengths->left++;
		return;
	}
	if (turns == 0 && end->low == 0) {
		lengths->empty++;
		return;
	}
	turns += (end->low + end->high) / 2.0;
	lengths->read++;
	lengths->turns += turns;
	lengths->squares += turns * turns;
	lengths->unsure += (end->high - end->low) / 2.0;
}

int loop_session_hunt(struct loop_session *in, struct loop_requests *out)
{
	bool looked;
	int r;

	*out = (struct loop_requests){0};
	out->code_count = loop_hunt_codes(in, out->codes);
	r = loop_callers_ask(in, out->methods, &looked);
	if (r < 0)
		return r;
	out->method_count = (size_t)r;
	r = looked ? loop_callers_rows(in) : 0;
	if (r == 0)
		r = loop_hunt_plans(in, &out->planned);
	if (r == 0 && out->planned)
		out->plan_count = loop_hunt_orders(in, out->plans);
	return r;
}

int loop_session_finish(struct loop_session *in)
{
	struct code_image image;
	uint32_t code;
	int r = 0;

	while (r == 0 && loop_session_take_image(in, &image, &code)) {
		struct code_analysis analysis = {0};

		r = loop_session_analysed(in, code, code_analysis_make(&analysis, &image),
					  &analysis);
		code_image_release(&image);
	}
	if (r == 0)
		r = loop_callers_rows(in);
	return r < 0 ? r : loop_traces_settle(in);
}

size_t loop_session_memory_bytes(const struct loop_session *in)
{
	size_t bytes = in->node_method_capacity * sizeof(*in->node_methods) +
		       row_table_memory_bytes(&in->code_table, &code_layout) +
		       code_requests_memory_bytes(&in->requests);

	for (size_t i = 0; i < in->code_count; i++)
		if (in->codes[i].is.state == CODE_KNOWN)
			bytes += code_analysis_memory_bytes(&in->codes[i].analysis);
	return bytes + in->turns_count * sizeof(struct turn_tuples);
}
