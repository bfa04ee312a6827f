#include "attach/agent/code/search.h"

#include "attach/agent/code/barrier.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"

/* Where the walk stands, and what it still knows of the registers it started with. */
struct code_walk {
	uint64_t ip;
	uint64_t stale; /* registers and flags that were written since the start */
	bool moved;     /* at least one instruction was passed */
};

static bool fetch(uint64_t ip, struct insn *out)
{
	uint8_t copy[INSN_MAX_BYTES];
	struct code_blob blob;
	size_t available;

	/* Committed code cache is never unmapped, so code that the map knows is read in place. */
	if (codemap_find(ip, &blob)) {
		available = (size_t)(blob.start + blob.size - ip);
		return insn_decode((const uint8_t *)(uintptr_t)ip,
				   available < INSN_MAX_BYTES ? available : INSN_MAX_BYTES, ip,
				   out);
	}
	available = safe_read_some(ip, copy, sizeof(copy));
	return available > 0 && insn_decode(copy, available, ip, out);
}

bool search_is_java_code(uint64_t ip)
{
	struct code_blob blob;

	return codemap_find(ip, &blob) && (blob.type == CODE_COMPILED || code_is_stub(blob.type));
}

bool search_fetch(uint64_t ip, struct insn *out)
{
	if (!fetch(ip, out))
		return false;
	if (barrier_tests_store(out))
		out->loads = out->memory.loads = false;
	return true;
}

static bool register_known(const struct code_walk *w, int reg)
{
	return reg < 0 || !(w->stale & REGISTER_GENERAL(reg));
}

/* The condition of a jump uses the flags, and of jrcxz and loop also rcx. */
static bool follow_conditional(struct code_walk *w, const struct insn *in, const gregset_t regs)
{
	bool known, taken;

	if ((w->stale & REGISTER_FLAGS) || !register_known(w, RCX) || !in->target_direct)
		return false;
	taken = insn_branch_taken(in, regs, &known);
	if (!known)
		return false;
	w->ip = taken ? in->target : in->ip + in->length;
	return true;
}

/* Jumps and calls: direct, through a register, or through memory that has not changed because
 * nothing ran since the registers were taken. */
static bool follow_transfer(struct code_walk *w, const struct insn *in, const gregset_t regs)
{
	uint64_t target;

	if (in->target_direct) {
		w->ip = in->target;
		return true;
	}
	if (in->target_register >= 0) {
		if (!register_known(w, in->target_register))
			return false;
		w->ip = register_value(regs, in->target_register);
		return true;
	}
	if (w->moved || !in->has_memory ||
	    !safe_read(insn_effective_address(in, regs), &target, sizeof(target)))
		return false;
	w->ip = target;
	return true;
}

static bool follow_return(struct code_walk *w, const gregset_t regs)
{
	uint64_t target;

	if (w->moved || !safe_read((uint64_t)regs[REG_RSP], &target, sizeof(target)))
		return false;
	w->ip = target;
	return true;
}

/* Moves on to the instruction that runs next. False when that cannot be known from here. */
static bool advance(struct code_walk *w, const struct insn *in, const gregset_t regs)
{
	bool followed = true;

	switch (in->flow) {
	case FLOW_NEXT:
		w->ip = in->ip + in->length;
		break;
	case FLOW_CONDITIONAL:
		followed = follow_conditional(w, in, regs);
		break;
	case FLOW_JUMP:
	case FLOW_CALL:
		followed = follow_transfer(w, in, regs);
		break;
	case FLOW_RETURN:
		followed = follow_return(w, regs);
		break;
	case FLOW_STOP:
		followed = false;
		break;
	}
	if (!followed)
		return false;
	w->stale |= in->writes;
	w->moved = true;
	return true;
}

static bool is_access(const struct insn *in)
{
	return in->flow == FLOW_NEXT && (in->loads || in->stores);
}

/* Can the access be seen as if the thread stood at it? */
static bool in_sight(const struct code_walk *w, const struct insn *in, uint64_t start)
{
	struct code_blob here, there;

	if (!w->moved)
		return true;
	/* The stack, and the method it is in. */
	if (in->string || !register_known(w, RSP) || !codemap_find(start, &here) ||
	    !codemap_find(in->ip, &there) || here.start != there.start)
		return false;
	return register_known(w, in->memory.base) && register_known(w, in->memory.index);
}

enum search_result search_access(uint64_t ip, const gregset_t regs, struct insn *found,
				 uint64_t *stop_ip)
{
	struct code_walk w = {.ip = ip};

	for (unsigned i = 0; i < SEARCH_MAX_INSNS; i++) {
		struct insn in;
		bool stop;

		if (!search_is_java_code(w.ip) || !search_fetch(w.ip, &in))
			return SEARCH_FAILED;
		stop = is_access(&in);
		if (stop && in_sight(&w, &in, ip)) {
			*found = in;
			return SEARCH_HERE;
		}
		if (stop || !advance(&w, &in, regs)) {
			if (!w.moved)
				return SEARCH_FAILED;
			*stop_ip = w.ip;
			return SEARCH_BREAK;
		}
	}
	return SEARCH_FAILED;
}
