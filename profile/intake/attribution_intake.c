#include "profile/intake/attribution_intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/container/hash.h"
#include "profile/certainty.h"
#include "proto/ledger.h"
#include "proto/limits.h"

void attribution_intake_init(struct attribution_intake *in, struct window_result *result,
			     const struct method_intake *methods,
			     int (*apply)(void *arg, const struct attribution_held *held),
			     void *arg)
{
	*in = (struct attribution_intake){.result = result,
					  .methods = methods,
					  .waiting_min = ATTRIBUTION_WAITING_MIN,
					  .apply = apply,
					  .arg = arg};
}

static void forget(struct attribution_code *code)
{
	attribution_release(&code->attribution);
	free(code->is.announced);
	code->is.announced = NULL;
}

void attribution_intake_release(struct attribution_intake *in)
{
	for (size_t i = 0; i < in->code_count; i++)
		forget(&in->codes[i]);
	code_requests_release(&in->requests);
	row_table_release(&in->code_table);
	free(in->told);
	free(in->seen);
	free(in->held);
	hash_index_release(&in->told_index);
	attribution_intake_init(in, in->result, in->methods, in->apply, in->arg);
}

static void lose(struct attribution_intake *in, enum loss loss, uint64_t count)
{
	in->result->losses[loss] += count;
}

/* ---------------------------------------------------------------- codes */

static const struct table_layout code_layout = {.row_size = sizeof(struct attribution_code),
						.key_words = WANTED_CODE_KEY_WORDS,
						.limit = ATTRIBUTION_CODES_MAX};

static bool find_code(const struct attribution_intake *in, uint64_t number, uint32_t *position)
{
	return row_table_find(&in->code_table, &code_layout, &number, position);
}

/* How many may have been asked for until now. */
static double most_asked(const struct attribution_intake *in)
{
	const struct window_result *w = in->result;
	double sent = (double)w->counters[JXP__COUNTER__COUNTER_CODES_SENT];
	double spent = (double)w->counters[JXP__COUNTER__COUNTER_IMAGES_NS];
	const struct ledger ledger = {.budget = w->request.budget, .cpu_ns = w->cpu_ns};
	double may_cost = ledger_due_ns(&ledger, LEDGER_IMAGES);

	return ATTRIBUTION_ASKED_FREE + (spent > 0 ? may_cost * sent / spent : 0);
}

static struct attribution_code *most_wanted(struct attribution_intake *in)
{
	struct attribution_code *best = NULL;

	for (size_t i = 0; i < in->code_count; i++) {
		struct attribution_code *code = &in->codes[i];

		if (code->is.state == CODE_MET && code->waiting >= in->waiting_min &&
		    (!best || code->waiting > best->waiting))
			best = code;
	}
	return best;
}

size_t attribution_intake_ask(struct attribution_intake *in, uint64_t codes[CODES_OPEN_MAX])
{
	double most = most_asked(in);
	size_t count = 0;

	if (most > ATTRIBUTION_ASKED_MAX)
		most = ATTRIBUTION_ASKED_MAX;
	while (in->requests.open < CODES_OPEN_MAX && in->requests.asked + 1 <= most) {
		struct attribution_code *code = most_wanted(in);

		if (!code)
			break;
		code_requests_ask(&in->requests, &code->is);
		code->waiting = 0;
		codes[count++] = code->is.number;
	}
	return count;
}

/* The one that was needed longest ago; its answers are kept. */
static void make_room(struct attribution_intake *in, const struct attribution_code *newest)
{
	while (in->bytes > ATTRIBUTION_BYTES_MAX) {
		struct attribution_code *oldest = NULL;

		for (size_t i = 0; i < in->code_count; i++) {
			struct attribution_code *code = &in->codes[i];

			if (code->is.state == CODE_KNOWN && code != newest &&
			    (!oldest || code->used < oldest->used))
				oldest = code;
		}
		if (!oldest)
			return;
		in->bytes -= attribution_memory_bytes(&oldest->attribution);
		forget(oldest);
		oldest->is.state = CODE_MADE_ROOM;
	}
}

static bool never_comes(const struct attribution_intake *in, const struct attribution_code *code)
{
	return code->is.state == CODE_GONE ||
	       (code->is.state == CODE_MET && in->requests.asked == ATTRIBUTION_ASKED_MAX);
}

/* ---------------------------------------------------------------- answers */

static bool told_matches(const void *table, uint32_t position, const void *key)
{
	const struct attribution_intake *in = table;

	return memcmp(&in->told[position].key, key, sizeof(struct attribution_key)) == 0;
}

static struct attribution_key key_of(uint32_t code, const struct attribution_query *q)
{
	return (struct attribution_key){.code = code,
					.offset = q->offset,
					.node = q->node,
					.access = q->location << 2 | (uint32_t)q->loads << 1 |
						  (uint32_t)q->stores};
}

static struct attribution_access access_of(const struct profile *p,
					   const struct attribution_query *q)
{
	const struct location l = locations_get(&p->locations, q->location);

	return (struct attribution_access){.kind = (Jxp__Location__Kind)l.kind,
					   .class_name = strings_get(&p->strings, l.class_name),
					   .field = strings_get(&p->strings, l.field),
					   .declared_in = strings_get(&p->strings, l.declared_in),
					   .type = strings_get(&p->strings, l.type),
					   .loads = q->loads,
					   .stores = q->stores};
}

/* The innermost calls of a node. */
static unsigned path_of(const struct cct *t, uint32_t node,
			struct instance_call path[INSTANCE_DEPTH_MAX])
{
	unsigned count = 0;

	for (; node && count < INSTANCE_DEPTH_MAX; node = cct_node(t, node)->parent)
		path[count++] =
		    (struct instance_call){cct_node(t, node)->method, cct_node(t, node)->bci};
	return count;
}

static bool is_path(const struct attribution *a, const struct attribution_answer *answer,
		    const struct instance_call *path, unsigned matched)
{
	if (answer->count != matched)
		return false;
	for (unsigned i = 0; i < matched; i++) {
		const struct instance_call *c = &answer->calls[matched - 1 - i];

		if (a->image.methods[c->method].name != path[i].method || c->bci != path[i].bci)
			return false;
	}
	return true;
}

/* Puts the answer's calls where the record's were, the innermost matched ones of node. */
static int intern_answer(struct attribution_intake *in, const struct attribution_code *code,
			 const struct attribution_answer *answer, uint32_t node, unsigned matched,
			 uint32_t *out)
{
	struct cct *t = &in->result->profile.cct;
	struct cct_node next = {.tier = cct_node(t, node)->tier};
	int r = 0;

	for (unsigned i = 0; i < matched; i++)
		node = cct_node(t, node)->parent;
	for (unsigned i = 0; r == 0 && i < answer->count; i++) {
		const struct instance_call *c = &answer->calls[i];

		next.parent = node;
		next.method = code->attribution.image.methods[c->method].name;
		next.bci = c->bci;
		next.line = method_intake_line(in->methods, code->is.announced[c->method], c->bci);
		r = cct_add_node(t, &next, &node);
	}
	if (r == 0)
		*out = node;
	return r;
}

static struct attribution_told as_it_is(const struct attribution_query *q)
{
	return (struct attribution_told){.node = q->node, .certainty = CERTAINTY_UNKNOWN};
}

/* Names no more than the compiled method, inlined somewhere in which the access was made. 0 or
 * -ENOMEM. */
static int leave_method(struct attribution_intake *in, const struct attribution_query *q,
			struct attribution_told *told)
{
	struct cct *t = &in->result->profile.cct;
	uint32_t node = q->node;
	struct cct_node compiled;
	int r;

	*told = as_it_is(q);
	if (!node || q->calls == 0)
		return 0;
	if (q->calls == 1) {
		told->certainty = CERTAINTY_METHOD;
		return 0;
	}
	for (uint32_t i = 1; i < q->calls && cct_node(t, node)->parent; i++)
		node = cct_node(t, node)->parent;
	compiled = (struct cct_node){.parent = cct_node(t, node)->parent,
				     .method = cct_node(t, node)->method,
				     .tier = cct_node(t, node)->tier,
				     .bci = -1,
				     .line = -1};
	r = cct_add_node(t, &compiled, &told->node);
	if (r == 0)
		told->certainty = CERTAINTY_METHOD;
	else if (r == -ENOSPC || r == -E2BIG)
		lose(in, LOSS_NODES, 1);
	else
		return r;
	return 0;
}

/* Names whom an answer says, in the place of the innermost matched calls of *told. 0 or -ENOMEM. */
static int take_answer(struct attribution_intake *in, const struct attribution_code *code,
		       const struct attribution_answer *answer, const struct instance_call *path,
		       unsigned matched, struct attribution_told *told)
{
	int r;

	told->certainty = (uint8_t)answer->certainty;
	if ((answer->certainty == CERTAINTY_METHOD && !answer->inlined) ||
	    is_path(&code->attribution, answer, path, matched))
		return 0;
	r = intern_answer(in, code, answer, told->node, matched, &told->node);
	if (r != -ENOSPC && r != -E2BIG)
		return r;
	lose(in, LOSS_NODES, 1);
	told->certainty = CERTAINTY_UNKNOWN;
	return 0;
}

/* What is known of the code says who made the access. 0 or -ENOMEM. */
static int ask_code(struct attribution_intake *in, const struct attribution_code *code,
		    const struct attribution_query *q, struct attribution_told *told)
{
	const struct attribution_access access = access_of(&in->result->profile, q);
	struct instance_call path[INSTANCE_DEPTH_MAX];
	unsigned count = path_of(&in->result->profile.cct, q->node, path);
	unsigned matched = attribution_match(&code->attribution, path, count);
	struct attribution_answer answer;
	int r;

	*told = as_it_is(q);
	/* Whoever asks for more than any program needs is told no more. */
	if (matched == 0 || in->work > ATTRIBUTION_WORK_MAX)
		return leave_method(in, q, told);
	r = attribution_find(&code->attribution, q->offset, &access, &answer);
	in->work += answer.work;
	if (r < 0)
		return r;
	if (answer.certainty == CERTAINTY_UNKNOWN)
		return leave_method(in, q, told);
	return take_answer(in, code, &answer, path, matched, told);
}

static int remember(struct attribution_intake *in, const struct attribution_told *told)
{
	int r = array_reserve_within(&in->told, &in->told_capacity, in->told_count + 1,
				     ATTRIBUTION_TOLD_MAX, sizeof(*in->told));

	if (r == -ENOSPC)
		return 0;
	if (r == 0)
		r = hash_index_insert(&in->told_index, hash_bytes(&told->key, sizeof(told->key)),
				      (uint32_t)in->told_count);
	if (r == 0)
		in->told[in->told_count++] = *told;
	return r;
}

static bool find_told(const struct attribution_intake *in, const struct attribution_key *key,
		      struct attribution_told *told)
{
	uint32_t position;

	if (!hash_index_find(&in->told_index, hash_bytes(key, sizeof(*key)), told_matches, in, key,
			     &position))
		return false;
	*told = in->told[position];
	return true;
}

/* The JVM tells the bytecode of frames of the interpreter, and of native ones. Their methods may be
 * compiled as well. */
static bool is_told_by_jvm(const struct attribution_query *q)
{
	return q->code == 0 && q->calls == 0 && q->node != 0;
}

/* True with what is told of an access whoever the code is. */
static bool tell_without_code(const struct attribution_intake *in,
			      const struct attribution_query *q, struct attribution_told *told)
{
	const struct attribution_access access = access_of(&in->result->profile, q);

	*told = as_it_is(q);
	if (is_told_by_jvm(q))
		told->certainty = CERTAINTY_EXACT;
	return told->certainty == CERTAINTY_EXACT || q->node == 0 ||
	       !access_bytecodes_tell(&access);
}

/* 1 with what is told of an access; 0: its code is to come; or -ENOMEM. */
static int tell(struct attribution_intake *in, const struct attribution_query *q,
		struct attribution_told *told)
{
	struct attribution_code *code;
	struct attribution_key key;
	uint32_t position;
	int r;

	if (tell_without_code(in, q, told))
		return 1;
	r = q->code ? row_table_add(&in->code_table, &code_layout, &q->code, &position) : -ENOSPC;
	if (r == -ENOSPC)
		return leave_method(in, q, told) < 0 ? -ENOMEM : 1;
	if (r < 0)
		return r;
	key = key_of(position, q);
	if (find_told(in, &key, told))
		return 1;
	code = &in->codes[position];
	if (code->is.state == CODE_MADE_ROOM)
		code->is.state = CODE_MET;
	if (never_comes(in, code))
		return leave_method(in, q, told) < 0 ? -ENOMEM : 1;
	if (code->is.state != CODE_KNOWN)
		return 0;
	code->used = ++in->answers;
	r = ask_code(in, code, q, told);
	told->key = key;
	if (r == 0)
		r = remember(in, told);
	return r < 0 ? r : 1;
}

int attribution_intake_tick(struct attribution_intake *in, uint64_t code, uint32_t offset,
			    uint32_t node, struct attribution_told *told)
{
	struct instance_call path[INSTANCE_DEPTH_MAX] = {0};
	struct attribution_answer answer;
	struct attribution_code *known;
	unsigned count, matched;
	uint32_t position;
	int r;

	if (!find_code(in, code, &position) || in->codes[position].is.state != CODE_KNOWN)
		return 0;
	known = &in->codes[position];
	*told = (struct attribution_told){.node = node, .certainty = CERTAINTY_UNKNOWN};
	count = path_of(&in->result->profile.cct, node, path);
	matched = attribution_match(&known->attribution, path, count);
	if (matched == 0 || in->tick_work > ATTRIBUTION_TICK_WORK_MAX)
		return 1;
	r = attribution_find_tick(&known->attribution, offset, &answer);
	in->tick_work += answer.work;
	if (r == 0 && answer.certainty != CERTAINTY_UNKNOWN)
		r = take_answer(in, known, &answer, path, matched, told);
	return r < 0 ? r : 1;
}

/* ---------------------------------------------------------------- ticks, by accesses */

static int compare_instructions(const void *a, const void *b)
{
	const struct attribution_seen *x = a, *y = b;

	return ORDER(ASCENDING(x->code, y->code), ASCENDING(x->offset, y->offset));
}

/* By instruction, of each the surest first, then as they came. */
static int compare_seen(const void *a, const void *b, void *arg)
{
	const struct attribution_seen *x = a, *y = b;
	const struct attribution_told *told = arg;
	int order = compare_instructions(a, b);

	if (order == 0)
		order = told[x->told].certainty - told[y->told].certainty;
	return order ? order : ASCENDING(x->told, y->told);
}

/* 0 or -ENOMEM. */
static int note_seen(struct attribution_intake *in)
{
	size_t kept = 0;

	free(in->seen);
	in->seen_count = 0;
	in->seen = calloc(in->told_count + 1, sizeof(*in->seen));
	if (!in->seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->told_count; i++)
		if (certainty_is_told(in->told[i].certainty))
			in->seen[in->seen_count++] = (struct attribution_seen){
			    in->told[i].key.code, in->told[i].key.offset, i};
	qsort_r(in->seen, in->seen_count, sizeof(*in->seen), compare_seen, in->told);
	for (size_t i = 0; i < in->seen_count; i++)
		if (kept == 0 || compare_instructions(&in->seen[kept - 1], &in->seen[i]) != 0)
			in->seen[kept++] = in->seen[i];
	in->seen_count = kept;
	return 0;
}

static const struct attribution_seen *find_seen(const struct attribution_intake *in, uint32_t code,
						uint32_t offset)
{
	const struct attribution_seen key = {.code = code, .offset = offset};

	return bsearch(&key, in->seen, in->seen_count, sizeof(key), compare_instructions);
}

int attribution_intake_tick_by_access(struct attribution_intake *in, uint64_t code, uint32_t offset,
				      bool called, uint32_t node, struct attribution_told *told)
{
	const struct attribution_seen *seen;
	struct attribution_query query = {.code = code, .node = node};
	uint32_t position;
	int r;

	if (!find_code(in, code, &position) || in->codes[position].is.state != CODE_KNOWN)
		return 0;
	query.offset =
	    called ? offset : attribution_tick_access(&in->codes[position].attribution, offset);
	seen = find_seen(in, position, query.offset);
	if (!seen)
		return 0;
	query.location = in->told[seen->told].key.access >> 2;
	query.loads = in->told[seen->told].key.access & 2;
	query.stores = in->told[seen->told].key.access & 1;
	r = tell(in, &query, told);
	return r > 0 ? certainty_is_told(told->certainty) : r;
}

/* ---------------------------------------------------------------- what waits */

static void count_told(struct attribution_intake *in, const struct attribution_told *told)
{
	if (told->node == 0)
		return;
	in->result->attributed[told->certainty]++;
	cct_mark(&in->result->profile.cct, told->node, told->certainty);
}

static int hand_on(struct attribution_intake *in, const struct attribution_held *held,
		   const struct attribution_told told[2])
{
	struct attribution_held right = *held;

	for (unsigned i = 0; i < 2; i++) {
		right.queries[i].node = told[i].node;
		count_told(in, &told[i]);
	}
	return in->apply(in->arg, &right);
}

/* 1: it was applied; 0: it waits; -ENOMEM. */
static int try(struct attribution_intake *in, const struct attribution_held *held, bool wait)
{
	struct attribution_told told[2];
	bool all = true;
	int r;

	/* Both, so that the code of both is asked for. */
	for (unsigned i = 0; i < 2; i++) {
		r = tell(in, &held->queries[i], &told[i]);
		if (r < 0)
			return r;
		all = all && r > 0;
		if (r == 0 && !wait && leave_method(in, &held->queries[i], &told[i]) < 0)
			return -ENOMEM;
	}
	if (!all && wait)
		return 0;
	r = hand_on(in, held, told);
	return r < 0 ? r : 1;
}

/* Applies what can be, or all. */
static int release_held(struct attribution_intake *in, bool wait)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < in->held_count; i++) {
		int done = r < 0 ? 0 : try(in, &in->held[i], wait);

		if (done < 0)
			r = done;
		if (done <= 0)
			in->held[kept++] = in->held[i];
	}
	in->held_count = kept;
	return r;
}

static void count_waiting(struct attribution_intake *in, const struct attribution_held *held)
{
	uint32_t position;

	for (unsigned i = 0; i < 2; i++)
		if (find_code(in, held->queries[i].code, &position) &&
		    in->codes[position].is.state == CODE_MET)
			in->codes[position].waiting++;
}

int attribution_intake_add(struct attribution_intake *in, const struct attribution_held *held)
{
	int r = try(in, held, in->held_count < ATTRIBUTION_HELD_MAX);

	if (r != 0)
		return r < 0 ? r : 0;
	r = array_reserve(&in->held, &in->held_capacity, in->held_count + 1, sizeof(*in->held));
	if (r < 0)
		return r;
	in->held[in->held_count++] = *held;
	count_waiting(in, held);
	return 0;
}

/* ---------------------------------------------------------------- images */

/* Takes the image of code that was asked for. counts: what is wrong with the image was not counted
 * yet. 0 or -ENOMEM. */
static int take_image(struct attribution_intake *in, struct attribution_code *code,
		      const Jxp__CodeImage *m, bool counts)
{
	uint64_t ignored = 0, *lost = counts ? &in->result->losses[LOSS_CODE] : &ignored;
	int r = code_requests_image(&in->requests, in->methods, &code->is, m, lost);

	return r == 0 ? release_held(in, true) : r < 0 ? r : 0;
}

bool attribution_intake_image(struct attribution_intake *in, const Jxp__CodeImage *m, int *error)
{
	uint32_t position;

	*error = 0;
	if (!find_code(in, m->code, &position) || in->codes[position].is.state != CODE_ASKED)
		return false;
	*error = take_image(in, &in->codes[position], m, true);
	return true;
}

int attribution_intake_offer(struct attribution_intake *in, const Jxp__CodeImage *m)
{
	struct attribution_code *code;
	uint32_t position;
	int r;

	if (m->error[0] || in->requests.open == CODES_OPEN_MAX)
		return 0;
	r = row_table_add(&in->code_table, &code_layout, &m->code, &position);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	code = &in->codes[position];
	if (code->is.state != CODE_MET && code->is.state != CODE_MADE_ROOM)
		return 0;
	in->requests.open++;
	return take_image(in, code, m, false);
}

bool attribution_intake_take_image(struct attribution_intake *in, struct code_image *image,
				   uint32_t *code)
{
	uint64_t number;

	return code_requests_take(&in->requests, image, &number) && find_code(in, number, code);
}

int attribution_intake_analysed(struct attribution_intake *in, uint32_t position, int error,
				struct attribution *attribution)
{
	struct attribution_code *code = &in->codes[position];

	code_requests_done(&in->requests, &code->is, error, &in->result->losses[LOSS_CODE]);
	if (error < 0) {
		forget(code);
		return error == -ENOMEM ? error : release_held(in, true);
	}
	code->attribution = *attribution;
	*attribution = (struct attribution){0};
	in->codes_known++;
	code->used = ++in->answers;
	in->bytes += attribution_memory_bytes(&code->attribution);
	make_room(in, code);
	return release_held(in, true);
}

int attribution_intake_finish(struct attribution_intake *in)
{
	const struct attribution_options options = {0};
	struct code_image image;
	uint32_t code;
	int r = 0;

	while (r == 0 && attribution_intake_take_image(in, &image, &code)) {
		struct attribution attribution = {0};
		int error = attribution_make(&attribution, &image, &options);

		r = attribution_intake_analysed(in, code, error, &attribution);
		code_image_release(&image);
	}
	if (r == 0)
		r = release_held(in, false);
	return r < 0 ? r : note_seen(in);
}

size_t attribution_intake_memory_bytes(const struct attribution_intake *in)
{
	return in->bytes + row_table_memory_bytes(&in->code_table, &code_layout) +
	       code_requests_memory_bytes(&in->requests) + in->told_capacity * sizeof(*in->told) +
	       in->seen_count * sizeof(*in->seen) + in->held_capacity * sizeof(*in->held) +
	       in->told_index.capacity * sizeof(struct hash_slot);
}
