#include "profile/attribution/attribution.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/attribution/array_types.h"
#include "profile/loops/native_code.h"

/* ---------------------------------------------------------------- making one */

static const struct instance_place no_place = {INSTANCE_NONE, -1};

/* Where records are dense, an instruction's own is the first that ends behind its beginning. */
static struct instance_place dense_place(const struct native_code *n, const struct instances *s,
					 uint32_t offset)
{
	const struct code_image *image = n->image;
	size_t at = SEARCH_FIRST(i, image->record_count, image->records[i].offset > offset);

	return n->dense && at < image->record_count ? s->records[at] : no_place;
}

/* The record of a call of the run time: that of stubs that are called like C is elsewhere. */
static struct instance_place place_of_call(const struct native_code *n, const struct instances *s,
					   const struct native_insn *insn)
{
	const struct code_record *r = native_record_at(n, insn->offset + insn->does.code.length);

	return r ? s->records[r - n->image->records] : no_place;
}

#define LOCK_PREFIX 0xf0

static void describe(const struct native_code *n, const struct instances *s,
		     struct nearby_search *search, size_t at, bool ignore_dense,
		     struct attribution_place *p)
{
	const struct native_insn *insn = &n->insns[at];

	*p = (struct attribution_place){.offset = insn->offset,
					.null_check = no_place,
					.dense = no_place,
					.called = insn->call != NATIVE_NO_CALL};
	nearby_find(search, at, &p->before, &p->behind);
	if (p->called) {
		p->offset += insn->does.code.length - 1u;
		p->dense = place_of_call(n, s, insn);
		return;
	}
	if (!nearby_null_check(n, s, p->offset, &p->null_check))
		p->null_check = no_place;
	if (!ignore_dense)
		p->dense = dense_place(n, s, p->offset);
	p->locked = n->image->bytes[p->offset] == LOCK_PREFIX;
	p->twins = twins_find(n, at);
	p->shape = access_shape_of(n, insn);
}

static bool calls_stub(const struct native_code *n, const struct native_insn *insn)
{
	return insn->call == NATIVE_CALL_LEAF || insn->call == NATIVE_CALL_BARRIER ||
	       insn->call == NATIVE_CALL_NOTHING || native_calls_jvm(n, insn);
}

/* What effects.h does not follow, swaps and their like, accesses memory, too; and so do stubs. */
static bool accesses(const struct native_code *n, const struct native_insn *insn)
{
	if (insn->call)
		return calls_stub(n, insn);
	return insn->does.code.memory.loads || insn->does.code.memory.stores ||
	       insn->does.code.memory.strange || insn->does.code.has_memory;
}

static int describe_all(struct attribution *a, const struct native_code *n, bool ignore_dense)
{
	struct nearby_search *search = nearby_search_new(n, &a->instances);
	size_t count = 0;
	bool made;

	for (size_t i = 0; i < n->insn_count; i++)
		count += accesses(n, &n->insns[i]);
	a->places = calloc(count + 1, sizeof(*a->places));
	for (size_t i = 0; a->places && search && i < n->insn_count; i++)
		if (accesses(n, &n->insns[i]))
			describe(n, &a->instances, search, i, ignore_dense,
				 &a->places[a->place_count++]);
	made = search && a->places;
	nearby_search_free(search);
	return made ? 0 : -ENOMEM;
}

static int make_spans(struct attribution *a, const struct native_code *n)
{
	struct span_anchor *anchors = calloc(n->insn_count + 1, sizeof(*anchors));
	size_t next = 0;
	int r;

	if (!anchors)
		return -ENOMEM;
	for (size_t i = 0; i < n->insn_count; i++) {
		uint32_t offset = n->insns[i].offset;

		anchors[i].place = SPAN_NO_PLACE;
		while (next < a->place_count && a->places[next].offset < offset)
			next++;
		if (next < a->place_count && a->places[next].offset == offset &&
		    !a->places[next].called)
			anchors[i] =
			    (struct span_anchor){(uint32_t)next, a->places[next].shape.size > 0};
	}
	r = spans_make(&a->spans, n, anchors);
	free(anchors);
	return r;
}

static int make(struct attribution *a, const struct code_image *image, const struct native_code *n,
		const struct attribution_options *options)
{
	bool *usable = calloc(image->record_count + 1, sizeof(*usable));
	bool *called = calloc(image->record_count + 1, sizeof(*called));
	int r = usable && called ? 0 : -ENOMEM;

	if (r == 0) {
		nearby_records(n, options->ignore_dense, usable, called);
		r = instances_make(&a->instances, image, usable, called);
	}
	if (r == 0)
		r = describe_all(a, n, options->ignore_dense);
	if (r == 0)
		r = make_spans(a, n);
	if (r == 0)
		r = sites_make(&a->sites, image);
	free(usable);
	free(called);
	return r;
}

/* What only making needs. */
static void forget_code(struct code_image *image)
{
	free(image->bytes);
	free(image->calls);
	free(image->null_checks);
	image->bytes = NULL;
	image->calls = NULL;
	image->null_checks = NULL;
	image->size = 0;
	image->call_count = image->null_check_count = 0;
}

int attribution_make(struct attribution *a, struct code_image *image,
		     const struct attribution_options *options)
{
	size_t null_checks = image->null_check_count;
	struct native_code n;
	int r;

	*a = (struct attribution){0};
	if (options->ignore_null_checks)
		image->null_check_count = 0;
	r = native_code_make(&n, image);
	if (r == 0)
		r = array_types_make(image);
	if (r == 0)
		r = make(a, image, &n, options);
	native_code_release(&n);
	image->null_check_count = null_checks;
	if (r < 0) {
		attribution_release(a);
		return r;
	}
	a->image = *image;
	*image = (struct code_image){0};
	forget_code(&a->image);
	return 0;
}

void attribution_release(struct attribution *a)
{
	code_image_release(&a->image);
	instances_release(&a->instances);
	spans_release(&a->spans);
	sites_release(&a->sites);
	free(a->places);
	*a = (struct attribution){0};
}

size_t attribution_memory_bytes(const struct attribution *a)
{
	return code_image_memory_bytes(&a->image) + instances_memory_bytes(&a->instances) +
	       a->image.record_count * sizeof(*a->instances.records) +
	       a->place_count * sizeof(*a->places) + a->spans.capacity * sizeof(*a->spans.list) +
	       sites_memory_bytes(&a->sites, a->image.method_count);
}

/* ---------------------------------------------------------------- how near */

#define LEVELS_MAX   6u
#define OTHER_METHOD 6.0
#define OUT_OF_ORDER 3.0
#define UNSEEN_BYTES 60.0 /* a callee without a record costs 1 for as many, */
#define UNSEEN_SIZE  3.0  /* at most this */

/* A fit that is not the best costs this. A call of a stub stands for a call rather than for
 * anything else. */
static double fit_cost(enum access_fit fit, bool called)
{
	if (fit == ACCESS_FIT || (called && fit != ACCESS_FIT_BARRIER))
		return 0;
	return fit == ACCESS_FIT_UNSAFE ? 6 : 8;
}

static double levels(unsigned count)
{
	return count < LEVELS_MAX ? count : LEVELS_MAX;
}

/* Between a candidate's calls and those of a point that comes before it, or behind. */
static double distance(const struct instance_call *c, unsigned c_count,
		       const struct instance_call *p, unsigned p_count, bool behind)
{
	unsigned same = 0;
	double cost;

	while (same < c_count && same < p_count && c[same].method == p[same].method &&
	       c[same].bci == p[same].bci)
		same++;
	if (same == c_count || same == p_count)
		return levels(c_count - same) + levels(p_count - same);
	cost = levels(c_count - same - 1) + levels(p_count - same - 1);
	if (c[same].method != p[same].method)
		return cost + OTHER_METHOD;
	cost += log(1 + fabs((double)c[same].bci - p[same].bci)) / 2;
	if (behind ? c[same].bci > p[same].bci : c[same].bci < p[same].bci)
		cost += OUT_OF_ORDER;
	return cost;
}

static double distances(const struct attribution *a, const struct nearby_points *points,
			bool behind, const struct instance_call *c, unsigned count)
{
	struct instance_call p[INSTANCE_DEPTH_MAX];
	double cost = 0;

	for (unsigned i = 0; i < points->count; i++) {
		unsigned p_count = instances_chain(&a->instances, points->points[i], p);

		cost += (i == 0 ? 2 : 1) * distance(c, count, p, p_count, behind);
	}
	return cost;
}

static double unseen(const struct attribution *a, const struct instance *i)
{
	double size = a->image.methods[i->method].bytecode_bytes / UNSEEN_BYTES;

	return i->level ? (1u << i->level) + (size < UNSEEN_SIZE ? size : UNSEEN_SIZE) : 0;
}

/* ---------------------------------------------------------------- candidates */

struct access_candidate {
	struct instance_place place;
	enum access_fit fit;
	double cost; /* once it is known how near it is */
};

struct access_candidates {
	struct access_candidate *list;
	size_t count, capacity;
};

/* Bytecodes of methods that fit, those of each in a row. */
struct fitting {
	uint32_t bci;
	enum access_fit fit;
};

#define FITTING_MAX    (1u << 14) /* of all methods */
#define CANDIDATES_MAX (1u << 13)

struct fittings {
	struct fitting *list;
	size_t count, capacity;
	uint32_t *first; /* by method, and one more */
};

/* Candidates are to fit this. */
struct wanted {
	const struct attribution_access *access; /* NULL: nothing is known but */
	const struct access_shape *shape;
	bool called; /* in a stub */
};

static enum access_fit fit(const struct code_image *image, uint32_t method, uint32_t bci,
			   const struct wanted *w)
{
	if (!w->access)
		return access_shape_fits(image, method, bci, w->shape);
	return w->called ? access_stub_fits(image, method, bci, w->access)
			 : access_bytecode_fits(image, method, bci, w->access);
}

static int fit_method(struct fittings *f, const struct attribution *a, uint32_t method,
		      const struct wanted *w)
{
	for (uint32_t i = a->sites.first[method];
	     i < a->sites.first[method + 1] && f->count < FITTING_MAX; i++) {
		enum access_fit how = fit(&a->image, method, a->sites.bcis[i], w);
		int r;

		if (how == ACCESS_FIT_NONE)
			continue;
		r = array_reserve(&f->list, &f->capacity, f->count + 1, sizeof(*f->list));
		if (r < 0)
			return r;
		f->list[f->count++] = (struct fitting){a->sites.bcis[i], how};
	}
	return 0;
}

static int fit_methods(struct fittings *f, const struct attribution *a, const struct wanted *w)
{
	size_t methods = a->image.method_count;
	int r = 0;

	f->first = calloc(methods + 1, sizeof(*f->first));
	if (!f->first)
		return -ENOMEM;
	for (uint32_t m = 0; r == 0 && m < methods; m++) {
		f->first[m] = (uint32_t)f->count;
		r = fit_method(f, a, m, w);
	}
	f->first[methods] = (uint32_t)f->count;
	return r;
}

static int add_candidates(struct access_candidates *c, const struct fittings *f,
			  const struct instances *s, uint32_t instance)
{
	uint32_t method = s->list[instance].method;
	size_t count = f->first[method + 1] - f->first[method];
	int r;

	if (count == 0)
		return 0;
	r = array_reserve(&c->list, &c->capacity, c->count + count, sizeof(*c->list));
	if (r < 0)
		return r;
	for (uint32_t i = f->first[method]; i < f->first[method + 1]; i++)
		c->list[c->count++] = (struct access_candidate){
		    {instance, (int32_t)f->list[i].bci}, f->list[i].fit, 0};
	return r;
}

static int find_candidates(const struct attribution *a, const struct wanted *w,
			   struct access_candidates *c)
{
	struct fittings f = {0};
	int r = fit_methods(&f, a, w);

	for (uint32_t i = 0; r == 0 && f.count > 0 && i < a->instances.count; i++)
		if (c->count < CANDIDATES_MAX)
			r = add_candidates(c, &f, &a->instances, i);
	free(f.list);
	free(f.first);
	return r;
}

/* While they are in order: by instances, then by bytecodes. */
static struct access_candidate *find_at(const struct access_candidates *c,
					struct instance_place place)
{
	size_t at =
	    SEARCH_FIRST(i, c->count, instance_places_order(&c->list[i].place, &place) >= 0);
	bool found = at < c->count && instance_places_order(&c->list[at].place, &place) == 0;

	return found ? &c->list[at] : NULL;
}

/* The candidate that calls an instance; NULL: none does. */
static struct access_candidate *call_of(const struct instances *s,
					const struct access_candidates *c, size_t instance)
{
	const struct instance *i = &s->list[instance];

	return find_at(c, (struct instance_place){i->caller, i->bci});
}

/* Drops calls that lead to something that fits, where they may stand for what the compiler has code
 * of its own for. */
static void drop_leading(const struct instances *s, struct access_candidates *c)
{
	bool leads[INSTANCES_MAX] = {false};

	for (size_t i = 0; i < c->count; i++)
		leads[c->list[i].place.instance] = true;
	/* Callers stand before what they call. */
	for (size_t i = s->count; i-- > 1;) {
		struct access_candidate *call = leads[i] ? call_of(s, c, i) : NULL;

		if (call && call->fit == ACCESS_FIT_PERHAPS)
			call->fit = ACCESS_FIT_NONE;
		leads[s->list[i].caller] |= leads[i];
	}
}

/* What Unsafe's calls lead to. */
static void drop_below_unsafe(const struct instances *s, struct access_candidates *c)
{
	bool below[INSTANCES_MAX] = {false};

	for (size_t i = 1; i < s->count; i++) {
		const struct access_candidate *call = call_of(s, c, i);

		below[i] = below[s->list[i].caller] || (call && call->fit == ACCESS_FIT_UNSAFE);
	}
	for (size_t i = 0; i < c->count; i++)
		if (below[c->list[i].place.instance])
			c->list[i].fit = ACCESS_FIT_NONE;
}

/* Where calls may stand for what the compiler has code of its own for, and for what is called
 * there, the innermost ones count; of Unsafe's the outermost ones. */
static void drop_callers(const struct instances *s, struct access_candidates *c)
{
	size_t kept = 0;

	drop_leading(s, c);
	drop_below_unsafe(s, c);
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].fit != ACCESS_FIT_NONE)
			c->list[kept++] = c->list[i];
	c->count = kept;
}

/* Those that are no bytecodes for it, but calls with code of the compiler's own: Unsafe's, where
 * there are any. */
static void keep_calls(struct access_candidates *c)
{
	enum access_fit best = ACCESS_FIT_NONE;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].fit > best && c->list[i].fit <= ACCESS_FIT_UNSAFE)
			best = c->list[i].fit;
	for (size_t i = 0; i < c->count && best != ACCESS_FIT_NONE; i++)
		if (c->list[i].fit == best)
			c->list[kept++] = c->list[i];
	if (kept > 0)
		c->count = kept;
}

static void keep_below(const struct instances *s, struct instance_place call,
		       struct access_candidates *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		if (instances_is_below(s, c->list[i].place.instance, call)) {
			/* The others are kept, too, behind these. */
			struct access_candidate other = c->list[kept];

			c->list[kept++] = c->list[i];
			c->list[i] = other;
		}
	if (kept > 0)
		c->count = kept;
}

/* Is what was found the only one that fits, but for other bytecodes of its call? */
static bool is_alone(const struct access_candidates *c, const struct access_candidate *found)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].fit >= found->fit &&
		    c->list[i].place.instance != found->place.instance)
			return false;
	return true;
}

/* Does a come before b? *told: whether their calls tell, which they do not where they are of
 * different methods at the same call. */
static bool comes_before(const struct instances *s, struct instance_place a,
			 struct instance_place b, bool *told)
{
	struct instance_call x[INSTANCE_DEPTH_MAX], y[INSTANCE_DEPTH_MAX];
	unsigned x_count = instances_chain(s, a, x), y_count = instances_chain(s, b, y), i = 0;

	while (i < x_count && i < y_count && x[i].method == y[i].method && x[i].bci == y[i].bci)
		i++;
	*told = i < x_count && i < y_count && x[i].method == y[i].method;
	return *told && x[i].bci < y[i].bci;
}

#define TWINS_MAX 4u /* that are told apart */
#define TWIN_COST 3.0

/* The count that cost least of those that fit as well as best and cost about the same. False:
 * there are not as many. */
static bool find_cheapest(const struct access_candidates *c, const struct access_candidate *best,
			  const struct access_candidate *cheapest[TWINS_MAX], unsigned count)
{
	unsigned found = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct access_candidate *of = &c->list[i];
		unsigned at = found;

		if (of->fit != best->fit || of->cost > best->cost + TWIN_COST)
			continue;
		while (at > 0 && of->cost < cheapest[at - 1]->cost)
			at--;
		if (at == count)
			continue;
		found += found < count;
		for (unsigned k = found - 1; k > at; k--)
			cheapest[k] = cheapest[k - 1];
		cheapest[at] = of;
	}
	return found == count;
}

/* For an access with twins, each of which has a candidate of its own: the one that is its own, of
 * those that are nearest, in the order of execution. NULL: there are not as many. */
static const struct access_candidate *among_twins(const struct instances *s, struct twins twins,
						  const struct access_candidates *c,
						  const struct access_candidate *best)
{
	const struct access_candidate *near[TWINS_MAX];
	unsigned before[TWINS_MAX] = {0};

	if (twins.count < 2 || twins.count > TWINS_MAX ||
	    !find_cheapest(c, best, near, twins.count))
		return NULL;
	for (unsigned i = 0; i < twins.count; i++)
		for (unsigned k = 0; k < i; k++) {
			bool told, first = comes_before(s, near[k]->place, near[i]->place, &told);

			if (!told)
				return NULL;
			before[first ? i : k]++;
		}
	for (unsigned i = 0; i < twins.count; i++)
		if (before[i] == twins.before)
			return near[i];
	return NULL;
}

static const struct access_candidate *nearest(const struct attribution *a,
					      const struct attribution_place *p, bool field,
					      struct access_candidates *c)
{
	const struct access_candidate *best = NULL, *twin;

	for (size_t i = 0; i < c->count; i++) {
		struct instance_call calls[INSTANCE_DEPTH_MAX];
		struct access_candidate *of = &c->list[i];
		unsigned count = instances_chain(&a->instances, of->place, calls);

		of->cost = unseen(a, &a->instances.list[of->place.instance]) +
			   fit_cost(of->fit, p->called) +
			   distances(a, &p->before, false, calls, count) +
			   distances(a, &p->behind, true, calls, count);
		if (!best || of->cost < best->cost)
			best = of;
	}
	twin = best && field ? among_twins(&a->instances, p->twins, c, best) : NULL;
	return twin ? twin : best;
}

/* ---------------------------------------------------------------- the answer */

#define WORK_OF_CANDIDATE UINT64_C(512)

static const struct attribution_place *place_at(const struct attribution *a, uint32_t offset)
{
	size_t at = SEARCH_FIRST(i, a->place_count, a->places[i].offset >= offset);

	return at < a->place_count && a->places[at].offset == offset ? &a->places[at] : NULL;
}

static void choose(const struct attribution *a, const struct attribution_place *p,
		   Jxp__Location__Kind kind, struct access_candidates *c,
		   struct attribution_answer *answer)
{
	const struct access_candidate *found = NULL;
	struct access_candidates all;

	if (p->null_check.instance != INSTANCE_NONE)
		found = find_at(c, p->null_check);
	if (!found && p->dense.instance != INSTANCE_NONE)
		found = find_at(c, p->dense);
	if (found) {
		answer->certainty = CERTAINTY_EXACT;
	} else {
		drop_callers(&a->instances, c);
		if (p->locked && kind != JXP__LOCATION__KIND__HEADER)
			keep_calls(c);
		all = *c; /* What is left out from here on stays, behind the others. */
		if (p->null_check.instance != INSTANCE_NONE)
			keep_below(&a->instances, p->null_check, c);
		found = nearest(a, p, kind == JXP__LOCATION__KIND__FIELD, c);
		answer->certainty = is_alone(&all, found) ? CERTAINTY_CHECKED : CERTAINTY_INFERRED;
	}
	answer->count = instances_chain(&a->instances, found->place, answer->calls);
}

/* The flow of control was not followed to this instruction: what is known is the next record.
 */
static struct attribution_place without_flow(const struct attribution *a, uint32_t offset)
{
	const struct code_image *image = &a->image;
	struct attribution_place p = {.offset = offset, .null_check = no_place, .dense = no_place};

	for (size_t i = 0; i < image->record_count && p.behind.count == 0; i++)
		if (image->records[i].offset > offset &&
		    a->instances.records[i].instance != INSTANCE_NONE)
			p.behind.points[p.behind.count++] = a->instances.records[i];
	return p;
}

/* The JVM tells which bytecode a call of the run time is of. */
static bool is_elsewhere(const struct attribution_place *p, const struct access_candidates *c)
{
	return p->called && p->dense.instance != INSTANCE_NONE && !find_at(c, p->dense);
}

static bool is_inlined(const struct attribution *a)
{
	return a->instances.count > 1 && a->instances.list[1].level == 0;
}

int attribution_find(const struct attribution *a, uint32_t offset,
		     const struct attribution_access *access, struct attribution_answer *answer)
{
	const struct attribution_place *p = place_at(a, offset);
	struct attribution_place without;
	struct access_candidates c = {0};
	int r = 0;

	answer->certainty = CERTAINTY_UNKNOWN;
	answer->count = 0;
	answer->work = 0;
	answer->inlined = is_inlined(a);
	if (!access_bytecodes_tell(access))
		return 0;
	if (!p) {
		without = without_flow(a, offset);
		p = &without;
	}
	r = find_candidates(a, &(struct wanted){.access = access, .called = p->called}, &c);
	answer->work = a->image.bytecode_bytes + WORK_OF_CANDIDATE * c.count;
	if (r == 0 && (c.count == 0 || is_elsewhere(p, &c))) {
		answer->certainty = CERTAINTY_METHOD;
		answer->calls[0] = (struct instance_call){a->image.method, -1};
		answer->count = 1;
	} else if (r == 0) {
		choose(a, p, access->kind, &c, answer);
	}
	free(c.list);
	return r;
}

/* The place of a tick that is told by the access at p. INSTANCE_NONE: nothing tells it. */
static struct instance_place choose_of_tick(const struct attribution *a,
					    const struct attribution_place *p,
					    struct access_candidates *c)
{
	if (p->null_check.instance != INSTANCE_NONE && find_at(c, p->null_check))
		return p->null_check;
	if (p->dense.instance != INSTANCE_NONE)
		return p->dense;
	if (c->count > 0 && p->null_check.instance != INSTANCE_NONE)
		keep_below(&a->instances, p->null_check, c);
	if (c->count > 0)
		return nearest(a, p, false, c)->place;
	if (p->behind.count > 0)
		return p->behind.points[0];
	return p->before.count > 0 ? p->before.points[0] : no_place;
}

uint32_t attribution_tick_access(const struct attribution *a, uint32_t offset)
{
	uint32_t at = spans_at(&a->spans, offset);

	return at == SPAN_NO_PLACE ? UINT32_MAX : a->places[at].offset;
}

int attribution_find_tick(const struct attribution *a, uint32_t offset,
			  struct attribution_answer *answer)
{
	uint32_t at = spans_at(&a->spans, offset);
	const struct attribution_place *p = at == SPAN_NO_PLACE ? NULL : &a->places[at];
	struct instance_place found = no_place;
	struct access_candidates c = {0};
	int r = 0;

	*answer =
	    (struct attribution_answer){.certainty = CERTAINTY_UNKNOWN, .inlined = is_inlined(a)};
	if (p && p->shape.size > 0)
		r = find_candidates(a, &(struct wanted){.shape = &p->shape}, &c);
	answer->work = a->image.bytecode_bytes + WORK_OF_CANDIDATE * c.count;
	if (r == 0 && p)
		found = choose_of_tick(a, p, &c);
	if (found.instance != INSTANCE_NONE) {
		answer->certainty = CERTAINTY_INFERRED;
		answer->count = instances_chain(&a->instances, found, answer->calls);
	}
	free(c.list);
	return r;
}

/* ---------------------------------------------------------------- paths */

static bool ends_in(const struct attribution *a, struct instance_place place,
		    const struct instance_call *path, unsigned count, unsigned *matched)
{
	for (*matched = 0; place.instance != INSTANCE_NONE; ++*matched) {
		const struct instance *i = &a->instances.list[place.instance];

		if (*matched == count ||
		    a->image.methods[i->method].name != path[*matched].method ||
		    place.bci != path[*matched].bci)
			return false;
		place = (struct instance_place){i->caller, i->bci};
	}
	return true;
}

unsigned attribution_match(const struct attribution *a, const struct instance_call *path,
			   unsigned count)
{
	unsigned most = 0, matched;

	for (size_t i = 0; i < a->image.record_count; i++)
		if (ends_in(a, a->instances.records[i], path, count, &matched) && matched > most)
			most = matched;
	/* At its edges the compiled method has no record: the walk has its beginning. */
	if (most == 0 && count > 0 && path[0].method == a->image.methods[a->image.method].name)
		return 1;
	return most;
}
