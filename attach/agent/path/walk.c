#include "attach/agent/path/walk.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/extent.h"
#include "common/code/opcode.h"
#include "attach/agent/path/foretell_stop.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/machine.h"

/* The most instructions of one walk. A loop that is passed through is left by a breakpoint behind
 * it sooner. */
#define INSNS_MAX 2048u

static bool is_java(const struct code_blob *blob)
{
	return blob->type == CODE_COMPILED || code_is_stub(blob->type);
}

/* blob has no type where there is no code that is known. */
static const struct loop_nest *nest_at(uint64_t ip, struct code_blob *blob)
{
	blob->type = CODE_NONE;
	return codemap_find(ip, blob) && is_java(blob) ? loops_of(blob) : NULL;
}

unsigned walk_types(uint64_t ip, bool *known)
{
	struct code_blob blob;
	const struct loop_nest *nest = nest_at(ip, &blob);
	unsigned loop, types = 0;

	*known = nest;
	if (!nest)
		return 0;
	loop = loop_at(nest, ip);
	if (loop == LOOP_NONE || loop_calls(nest, loop))
		return 1u << ACCESS_LOAD | 1u << ACCESS_STORE;
	types |= (unsigned)(loop_access(nest, loop, ACCESS_LOAD) != 0) << ACCESS_LOAD;
	types |= (unsigned)(loop_access(nest, loop, ACCESS_STORE) != 0) << ACCESS_STORE;
	return types;
}

/* A repeated string instruction is a loop of accesses by itself: it stands for its own time. */
static bool is_repeated(const struct code_blob *blob, uint64_t ip)
{
	struct opcode o;

	return opcode_read((const uint8_t *)(uintptr_t)ip, (size_t)(blob->start + blob->size - ip),
			   &o) &&
	       (o.repeat || o.repeat_not) && o.map == OPCODE_ONE_BYTE && !o.has_modrm;
}

/* From now on, this loop counts. */
static void turn_to(struct walk_scope *s, const struct loop_nest *nest, unsigned loop)
{
	enum access_type type = (enum access_type)s->type;

	s->header[0] = loop_header(nest, loop);
	s->framed = loop_is_framed(nest, loop, type);
	/* What a loop calls may make others. */
	s->spills = loop == LOOP_NONE || (s->framed && !loop_calls(nest, loop));
}

void walk_begin(struct walk_scope *scope, enum access_type type, unsigned skip, uint64_t ip)
{
	struct code_blob blob;
	const struct loop_nest *nest = nest_at(ip, &blob);
	unsigned loop = nest ? loop_at(nest, ip) : LOOP_NONE;

	*scope = (struct walk_scope){.type = (uint8_t)type, .spills = true};
	/* Flat code may make no more than one. */
	if (loop == LOOP_NONE)
		return;
	scope->skip = is_repeated(&blob, ip) ? 0 : (uint8_t)skip;
	scope->wait = loop_access(nest, loop, type);
	turn_to(scope, nest, loop);
}

bool walk_come_round(struct walk_scope *s, uint64_t *stop_ip)
{
	*stop_ip = s->spill && !s->spills ? s->spill : s->wait;
	s->wait = s->spill = 0;
	s->skip = s->depth = 0;
	s->spills = true;
	return *stop_ip != 0;
}

/* ---------------------------------------------------------------- where it is */

enum where {
	IN_OWN,     /* the instruction counts */
	IN_ANOTHER, /* in a loop that is in the own one: passed through */
	OUTSIDE,
};

static enum where where(const struct walk *w)
{
	uint64_t own = w->scope->header[w->scope->depth];
	unsigned loop = loop_at(w->nest, w->machine.ip);

	if (loop_header(w->nest, loop) == own)
		return IN_OWN;
	if (own && loop_has_around(w->nest, loop, own))
		return IN_ANOTHER;
	return OUTSIDE;
}

/* The innermost method or stub around the place that the walk is at. False when it is not one of
 * Java's. */
static bool look_around(struct walk *w)
{
	uint64_t ip = w->machine.ip;

	if (w->nest && ip >= w->blob.start && ip < w->blob.start + w->blob.size)
		return true;
	w->nest = NULL;
	return codemap_find(ip, &w->blob) && is_java(&w->blob);
}

/* On from behind the call that the walk is in. */
static enum walk_outcome step_out(struct walk *w, uint64_t *stop_ip)
{
	*stop_ip = w->scope->back[w->scope->depth--];
	return WALK_STOP;
}

/* The walk is where nothing counts. */
static enum walk_outcome leave(struct walk *w, uint64_t *stop_ip)
{
	struct walk_scope *s = w->scope;

	if (s->depth > 0)
		return step_out(w, stop_ip);
	if (!s->wait)
		return WALK_NONE;
	s->spills |= s->framed;
	*stop_ip = s->wait;
	return WALK_STOP;
}

/* A breakpoint is needed. Where the branches do not matter, there is no need to stop at them. */
static enum walk_outcome stop(struct walk *w, uint64_t *stop_ip)
{
	*stop_ip = w->machine.ip;
	(void)foretell_stop(w->machine.ip, (enum access_type)w->scope->type,
			    w->scope->header[w->scope->depth], w->scope->spills, stop_ip);
	if (!w->moved && *stop_ip == w->started)
		return w->scope->depth > 0 ? step_out(w, stop_ip) : WALK_FAILED;
	return WALK_STOP;
}

/* ---------------------------------------------------------------- what it touches */

static void touch(struct walk *w, const struct machine_effect *e)
{
	if (!e->loads && !e->stores)
		return;
	if (!e->address_known || w->touched_count == WALK_TOUCHED_MAX) {
		w->blurred = true;
	} else {
		w->touched[w->touched_count].address = e->address;
		w->touched[w->touched_count++].size = e->size;
	}
}

static bool untouched(const struct walk *w, const struct machine_effect *e)
{
	for (unsigned i = 0; i < w->touched_count; i++)
		if (extent_overlap(e->address, e->size, w->touched[i].address, w->touched[i].size))
			return false;
	return !w->blurred;
}

/* Is the instruction, whose effect is known, the access? Or one of those to be passed over? */
static bool is_it(struct walk *w, uint64_t ip, const struct machine_effect *e,
		  struct walk_access *access)
{
	enum access_type type = (enum access_type)w->scope->type;

	if (!(type == ACCESS_LOAD ? e->loads : e->stores) || !search_fetch(ip, &access->insn) ||
	    !loop_counts(&access->insn, type))
		return false;
	if (!w->scope->spills && loop_is_spill(&access->insn)) {
		if (w->scope->depth == 0)
			w->scope->spill = ip;
		return false;
	}
	if (w->scope->skip > 0) {
		w->scope->skip--;
		return false;
	}
	access->here = !w->moved;
	access->plain = !w->backward;
	access->foretold = e->address_known && access->insn.has_memory && !access->insn.string &&
			   !access->insn.unsupported && !insn_is_masked(&access->insn) &&
			   untouched(w, e);
	access->address = e->address;
	return true;
}

/* ---------------------------------------------------------------- the walk */

/* False when the walk is to go on behind this call: calls are too deep, or what it does is not the
 * caller's. */
static bool enter_call(struct walk *w, uint64_t back)
{
	struct walk_scope *s = w->scope;
	const struct loop_nest *nest;
	struct code_blob blob;

	if (s->depth == WALK_CALLS_MAX)
		return false;
	/* The walk finds out what is not Java's code when it is there. */
	nest = nest_at(w->machine.ip, &blob);
	if (nest ? loops_make(nest, (enum access_type)s->type) : is_java(&blob))
		return false;
	s->header[++s->depth] = 0;
	s->back[s->depth] = back;
	return true;
}

/* Back in the caller, whose loop around the call counts, if there is one. False when that cannot be
 * told. */
static bool enter_caller(struct walk *w)
{
	struct walk_scope *s = w->scope;
	const struct loop_nest *nest;
	struct code_blob blob;

	if (s->depth > 0) {
		s->depth--;
		return true;
	}
	if (s->header[0])
		return true; /* It has left its loop, which will show. */
	nest = nest_at(w->machine.ip, &blob);
	if (nest)
		turn_to(s, nest, loop_at(nest, w->machine.ip));
	return nest || !is_java(&blob);
}

/* Over one instruction. WALK_STOP when the walk goes on. */
static enum walk_outcome pass(struct walk *w, bool own, struct walk_access *access,
			      uint64_t *stop_ip, bool *done)
{
	struct machine *m = &w->machine;
	uint64_t ip = m->ip, end = w->blob.start + w->blob.size;
	struct machine_effect effect;
	enum machine_step step;

	*done = true;
	step = machine_pass(m, (const uint8_t *)(uintptr_t)ip, (size_t)(end - ip), &effect);
	if (own && is_it(w, ip, &effect, access)) {
		access->passed = step == MACHINE_PASSED;
		access->framed = w->started >= w->blob.start && w->started < end &&
				 machine_stack(m).known && machine_stack(m).bits == m->stack_low;
		return WALK_ACCESS;
	}
	if (step != MACHINE_PASSED)
		return stop(w, stop_ip);
	touch(w, &effect);
	w->moved = true;
	w->backward |= m->ip <= ip;
	if (effect.called && !enter_call(w, ip + effect.length)) {
		*stop_ip = ip + effect.length;
		return WALK_STOP;
	}
	if (effect.returned && !enter_caller(w))
		return WALK_UNKNOWN;
	*done = false;
	return WALK_STOP;
}

enum walk_outcome walk_on(struct walk *w, struct walk_scope *scope, const struct machine_view *view,
			  uint64_t ip, const gregset_t regs, struct walk_access *access,
			  uint64_t *stop_ip)
{
	enum walk_outcome end;
	bool done = false;

	/* Not cleared as a whole: it is large. */
	w->scope = scope;
	w->nest = NULL;
	w->started = ip;
	w->moved = w->backward = w->blurred = false;
	w->touched_count = 0;
	machine_init(&w->machine, view, ip, regs);
	for (unsigned i = 0; i < INSNS_MAX; i++) {
		enum where at;

		if (!look_around(w))
			return scope->depth > 0 ? step_out(w, stop_ip) : WALK_FAILED;
		if (!w->nest)
			w->nest = loops_of(&w->blob);
		if (!w->nest)
			return WALK_UNKNOWN;
		/* A stub may use r15 as it likes. */
		if (i == 0 && w->blob.type != CODE_COMPILED)
			w->machine.thread = 0;
		at = where(w);
		if (at == OUTSIDE)
			return leave(w, stop_ip);
		end = pass(w, at == IN_OWN, access, stop_ip, &done);
		if (done)
			return end;
	}
	return stop(w, stop_ip);
}
