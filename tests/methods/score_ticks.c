/*
 * What is said of ticks, against what the JVM says of the instruction that the thread waited for:
 * the one before the tick in its block, unless that is a call.
 *
 * Compilers give records to whatever they make, also to what is left of other nodes: values that
 * were the same elsewhere, constants, copies. A record counts where its bytecode can have become
 * the instruction.
 */
#include "common/code/java_op.h"
#include "common/code/opcode.h"
#include "profile/loops/native_code.h"
#include "tests/methods/score.h"

static bool is_between(uint8_t op, uint8_t first, uint8_t last)
{
	return op >= first && op <= last;
}

static bool accesses_element(uint8_t op)
{
	return java_op_loads_element(op) || java_op_stores_element(op);
}

static bool decides(uint8_t op)
{
	return is_between(op, JAVA_LCMP, JAVA_DCMPG) || is_between(op, JAVA_IFEQ, JAVA_IF_ACMPNE) ||
	       op == JAVA_TABLESWITCH || op == JAVA_LOOKUPSWITCH || op == JAVA_CHECKCAST ||
	       op == JAVA_INSTANCEOF || op == JAVA_IFNULL || op == JAVA_IFNONNULL;
}

/* Constants, copies, and what makes an address of a reference of 4 bytes are of no bytecode. */
static bool computes(const struct native_code *n, const struct native_insn *insn)
{
	const uint8_t *end = n->image->bytes + insn->offset + insn->does.code.length;
	uint64_t others = REGISTER_GENERAL(RSP) | REGISTER_GENERAL(R12);
	bool shifts_by_3 = insn->does.code.length >= 3 && end[-3] == 0xc1 && end[-1] == 3;

	return insn->does.kind != EFFECT_COPY && insn->does.kind != EFFECT_CONSTANT &&
	       insn->does.kind != EFFECT_PAUSE && insn->does.writes != 0 &&
	       !(insn->does.reads & others) && !shifts_by_3;
}

/* Can the bytecode have become the instruction? */
static bool can_be(const struct truth *t, const struct native_code *n,
		   const struct native_insn *insn, struct instance_call c)
{
	const struct code_method *m = &t->all.image.methods[c.method];
	const struct operand *memory = &insn->does.code.memory;
	struct access_shape shape = access_shape_of(n, insn);
	uint8_t op;

	if (c.bci < 0 || (uint32_t)c.bci >= m->bytecode_bytes || insn->call || insn->returns)
		return false;
	if (shape.size > 0)
		return access_shape_fits(&t->all.image, c.method, (uint32_t)c.bci, &shape) !=
		       ACCESS_FIT_NONE;
	if (memory->loads || memory->stores || memory->strange)
		return false;
	op = t->all.image.bytecodes[m->bytecode + (uint32_t)c.bci];
	if (insn->branches || insn->does.kind == EFFECT_COMPARE)
		return decides(op) || accesses_element(op);
	return computes(n, insn) && (is_between(op, JAVA_IADD, JAVA_DCMPG) || accesses_element(op));
}

/* The one that the thread waited for. NULL: no instruction begins at the offset. */
static const struct native_insn *waited_for(const struct native_code *n, uint32_t offset)
{
	const struct native_insn *insn = native_insn_at(n, offset);
	uint16_t b = flow_block_at(n->graph, offset);

	if (!insn || insn == &n->insns[n->first_insn[b]] || insn[-1].call)
		return insn;
	return insn - 1;
}

/* By address, of records that a JVM has without dense ones. */
static struct instance_place record_at(const struct truth *t, uint32_t offset, enum tick_rule rule)
{
	const struct instances *s = &t->hidden.instances;
	struct instance_place found = {INSTANCE_NONE, -1};

	for (size_t i = 0; i < t->hidden.image.record_count; i++) {
		bool behind = t->hidden.image.records[i].offset > offset;

		if (s->records[i].instance == INSTANCE_NONE)
			continue;
		if (behind && rule == TICK_NEXT)
			return s->records[i];
		if (!behind && rule == TICK_BEFORE)
			found = s->records[i];
	}
	return found;
}

/* What dense records say: the first that ends behind the instruction's beginning. */
static struct instance_place dense_at(const struct truth *t, uint32_t offset)
{
	for (size_t i = 0; i < t->all.image.record_count; i++)
		if (t->all.image.records[i].offset > offset)
			return t->all.instances.records[i];
	return (struct instance_place){INSTANCE_NONE, -1};
}

static unsigned said_by(const struct truth *t, uint32_t offset, enum tick_rule rule,
			struct instance_call calls[INSTANCE_DEPTH_MAX])
{
	struct attribution_answer answer;
	struct instance_place record;

	if (rule != TICK_ACCESS || attribution_find_tick(&t->hidden, offset, &answer) < 0 ||
	    answer.count == 0) {
		record = record_at(t, offset, rule == TICK_BEFORE ? TICK_BEFORE : TICK_NEXT);
		return record.instance == INSTANCE_NONE
			   ? 0
			   : instances_chain(&t->hidden.instances, record, calls);
	}
	for (unsigned i = 0; i < answer.count; i++)
		calls[i] = answer.calls[i];
	return answer.count;
}

void score_ticks(struct score *s, const struct truth *t, const struct native_code *n,
		 uint32_t offset, uint64_t count)
{
	struct instance_call right[INSTANCE_DEPTH_MAX], said[INSTANCE_DEPTH_MAX];
	const struct native_insn *insn = n->dense ? waited_for(n, offset) : NULL;
	struct instance_place place = {INSTANCE_NONE, -1};
	unsigned depth = 0;

	if (insn)
		place = dense_at(t, insn->offset);
	if (place.instance != INSTANCE_NONE)
		depth = instances_chain(&t->all.instances, place, right);
	for (enum tick_rule rule = 0; rule < TICK_RULES; rule++) {
		unsigned said_depth;

		if (depth == 0 || !can_be(t, n, insn, right[depth - 1])) {
			s->ticks[rule][NOT_SAID] += count;
			continue;
		}
		said_depth = said_by(t, offset, rule, said);
		s->ticks[rule][compare_chains(right, depth, said, said_depth)] += count;
		if (said_depth == 0)
			said[said_depth++] = (struct instance_call){UINT32_MAX, -1};
		s->tick_lines[rule][compare_lines(t, right[depth - 1], said[said_depth - 1])] +=
		    count;
	}
}
