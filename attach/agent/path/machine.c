#include "attach/agent/path/machine.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/extent.h"
#include "common/code/insn.h"
#include "attach/agent/code/safe_read.h"
#include "common/code/opcode.h"

static const struct machine_value unknown;

static struct machine_value known(uint64_t bits)
{
	return (struct machine_value){.bits = bits, .known = true};
}

void machine_init(struct machine *m, const struct machine_view *view, uint64_t ip,
		  const gregset_t regs)
{
	m->view = view;
	m->ip = ip;
	m->stack_low = (uint64_t)regs[REG_RSP];
	m->thread = (uint64_t)regs[REG_R15];
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		m->regs[i] = known(register_value(regs, i));
	m->flags = (uint32_t)regs[REG_EFL];
	m->flags_known = MACHINE_FLAGS;
	m->store_count = 0;
	m->memory_unknown = false;
	m->faulted = false;
}

void machine_registers(const struct machine *m, gregset_t regs)
{
	memset(regs, 0, sizeof(gregset_t));
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		register_set(regs, i, m->regs[i].known ? m->regs[i].bits : 0);
	regs[REG_RIP] = (greg_t)m->ip;
	regs[REG_EFL] = (greg_t)m->flags;
}

/* ---------------------------------------------------------------- values */

static uint64_t mask_of(unsigned size)
{
	return size == 8 ? ~UINT64_C(0) : (UINT64_C(1) << (8 * size)) - 1;
}

static uint64_t sign_of(unsigned size)
{
	return UINT64_C(1) << (8 * size - 1);
}

static uint64_t extended(uint64_t bits, unsigned size)
{
	return ((bits & mask_of(size)) ^ sign_of(size)) - sign_of(size);
}

/* ah, ch, dh and bh: without REX, the upper four of eight-bit registers. */
static bool is_high(const struct opcode *o, unsigned reg, unsigned size)
{
	return size == 1 && !o->has_rex && !o->vex && reg >= 4 && reg < 8;
}

static struct machine_value get(const struct machine *m, const struct opcode *o, unsigned reg,
				unsigned size)
{
	struct machine_value v = m->regs[is_high(o, reg, size) ? reg - 4 : reg];

	if (is_high(o, reg, size))
		v.bits >>= 8;
	v.bits &= mask_of(size);
	return v;
}

/* Four bytes clear the upper half; one and two leave the rest as it is. */
static void set(struct machine *m, const struct opcode *o, unsigned reg, unsigned size,
		struct machine_value v)
{
	struct machine_value *r = &m->regs[is_high(o, reg, size) ? reg - 4 : reg];
	unsigned shift = is_high(o, reg, size) ? 8 : 0;

	if (size >= 4) {
		*r = v;
		r->bits &= mask_of(size);
		return;
	}
	r->bits = (r->bits & ~(mask_of(size) << shift)) | (v.bits & mask_of(size)) << shift;
	r->known = r->known && v.known;
}

/* ---------------------------------------------------------------- memory */

static bool is_stack(const struct machine *m, uint64_t address)
{
	const uint64_t frame_bytes = 4096;

	return m->regs[RSP].known && address - m->regs[RSP].bits < frame_bytes;
}

static bool is_watched(const struct machine_view *v, uint64_t address, unsigned size)
{
	for (unsigned i = 0; i < v->watched_count; i++)
		if (extent_overlap(address, size, v->watched[i].address, v->watched[i].length))
			return true;
	return false;
}

/* Half a page is more than the fields of a JavaThread that compiled code uses, and less than it
 * has. */
#define THREAD_BYTES 768u

static bool is_at_hand(const struct machine *m, uint64_t address, unsigned size)
{
	const struct machine_view *v = m->view;
	uint64_t last = address + size - 1;

	if (!v || address < REGION_LOWEST_ADDRESS || last < address || is_watched(v, address, size))
		return false;
	return (address >= m->stack_low && last < v->stack_high) ||
	       (region_is_heap(v->regions, address) && region_is_heap(v->regions, last)) ||
	       (m->thread && address - m->thread < THREAD_BYTES) ||
	       (codemap_covers(address) && codemap_covers(last));
}

bool machine_read(const struct machine *m, uint64_t address, void *to, unsigned size)
{
	if (!is_at_hand(m, address, size))
		return safe_read(address, to, size);
	memcpy(to, (const void *)(uintptr_t)address, size);
	return true;
}

static struct machine_value load(struct machine *m, struct machine_value at, unsigned size)
{
	uint64_t word[1] = {0};

	if (!at.known)
		return unknown;
	for (unsigned i = m->store_count; i-- > 0;) {
		const struct machine_store *s = &m->stores[i];
		uint64_t offset = at.bits - s->address;

		if (at.bits >= s->address + s->size || s->address >= at.bits + size)
			continue;
		if (!s->value.known || offset >= s->size || offset + size > s->size)
			return unknown;
		return known(s->value.bits >> (8 * offset) & mask_of(size));
	}
	/* Compiled code's stores through pointers do not touch its own frame. */
	if (m->memory_unknown && !is_stack(m, at.bits))
		return unknown;
	if (machine_read(m, at.bits, word, size))
		return known(word[0]);
	m->faulted = true;
	return unknown;
}

struct machine_value machine_memory(struct machine *m, uint64_t address, unsigned size)
{
	return load(m, known(address), size);
}

/* Has it been stored over since? Or is it below the stack pointer, in a frame that has been left,
 * or a probe for room? Code that uses that again stores to it first. */
static bool is_over(const struct machine *m, unsigned store)
{
	const uint64_t reach = UINT64_C(128) * 1024;
	const struct machine_store *s = &m->stores[store];
	uint64_t sp = m->regs[RSP].bits;

	if (m->regs[RSP].known && s->address + s->size <= sp && s->address >= sp - reach)
		return true;
	for (unsigned i = store + 1; i < m->store_count; i++)
		if (m->stores[i].address <= s->address &&
		    m->stores[i].address + m->stores[i].size >= s->address + s->size)
			return true;
	return false;
}

static void forget_stores(struct machine *m)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < m->store_count; i++)
		if (!is_over(m, i))
			m->stores[kept++] = m->stores[i];
	m->store_count = kept;
}

static void store(struct machine *m, struct machine_value at, uint32_t size, struct machine_value v)
{
	/* An implicit null check. */
	if (at.known && at.bits < REGION_LOWEST_ADDRESS)
		m->faulted = true;
	if (m->store_count == MACHINE_STORES)
		forget_stores(m);
	if (!at.known || m->store_count == MACHINE_STORES) {
		m->memory_unknown = true;
		/* A forgotten store to the frame would make the frame unknown, too. */
		if (at.known && is_stack(m, at.bits))
			m->regs[RSP].known = false;
		return;
	}
	m->stores[m->store_count++] =
	    (struct machine_store){.address = at.bits, .size = size, .value = v};
}

static void push(struct machine *m, struct machine_value v)
{
	m->regs[RSP].bits -= 8;
	store(m, m->regs[RSP], 8, v);
}

static struct machine_value pop(struct machine *m)
{
	struct machine_value v = load(m, m->regs[RSP], 8);

	m->regs[RSP].bits += 8;
	return v;
}

static struct machine_value effective_address(const struct machine *m, const struct opcode *o)
{
	struct machine_value at = known((uint64_t)(int64_t)o->memory.displacement);

	if (o->unusual || o->evex)
		return unknown;
	if (o->memory.rip_relative)
		at.bits += m->ip + o->length;
	if (o->memory.base >= 0) {
		at.bits += m->regs[o->memory.base].bits;
		at.known = m->regs[o->memory.base].known;
	}
	if (o->memory.index >= 0) {
		at.bits += m->regs[o->memory.index].bits * o->memory.scale;
		at.known = at.known && m->regs[o->memory.index].known;
	}
	return at;
}

/* ---------------------------------------------------------------- operands */

/* One instruction being passed. */
struct passed_insn {
	struct machine *m;
	struct opcode o;
	struct machine_value at; /* of the memory operand, if it has one */
	struct machine_effect *effect;
};

static void note_operand(struct passed_insn *p, unsigned size, bool loads, bool stores)
{
	p->effect->loads |= loads;
	p->effect->stores |= stores;
	p->effect->address_known = p->at.known;
	p->effect->address = p->at.bits;
	p->effect->size = size;
}

/* The operand of modrm. */
static struct machine_value get_rm(struct passed_insn *p, unsigned size)
{
	if (!p->o.has_memory)
		return get(p->m, &p->o, opcode_rm(&p->o), size);
	note_operand(p, size, true, false);
	return load(p->m, p->at, size);
}

static void set_rm(struct passed_insn *p, unsigned size, struct machine_value v)
{
	if (!p->o.has_memory) {
		set(p->m, &p->o, opcode_rm(&p->o), size, v);
		return;
	}
	note_operand(p, size, false, true);
	v.bits &= mask_of(size);
	store(p->m, p->at, size, v);
}

static unsigned wide_size(const struct opcode *o)
{
	if (o->rex & OPCODE_REX_W)
		return 8;
	return o->operand16 ? 2 : 4;
}

/* Even opcodes of a pair are of bytes. */
static unsigned operand_size(const struct opcode *o)
{
	return o->code & 1 ? wide_size(o) : 1;
}

/* ---------------------------------------------------------------- flags */

static void set_flag(struct machine *m, uint32_t flag, bool value)
{
	m->flags = value ? m->flags | flag : m->flags & ~flag;
	m->flags_known |= flag;
}

static void set_result_flags(struct machine *m, uint64_t result, unsigned size)
{
	set_flag(m, MACHINE_ZERO, (result & mask_of(size)) == 0);
	set_flag(m, MACHINE_SIGN, result & sign_of(size));
	set_flag(m, MACHINE_PARITY, !(__builtin_popcount(result & 0xff) & 1));
}

/* ALU operations, by their number in opcodes. */
enum alu { ALU_ADD, ALU_OR, ALU_ADC, ALU_SBB, ALU_AND, ALU_SUB, ALU_XOR, ALU_CMP };

static struct machine_value logic(struct machine *m, uint64_t result, unsigned size)
{
	set_result_flags(m, result, size);
	set_flag(m, MACHINE_CARRY, false);
	set_flag(m, MACHINE_OVERFLOW, false);
	return known(result & mask_of(size));
}

static struct machine_value added(struct machine *m, uint64_t a, uint64_t b, bool carry,
				  unsigned size)
{
	uint64_t sum = (a + b + carry) & mask_of(size);

	set_result_flags(m, sum, size);
	set_flag(m, MACHINE_CARRY, carry ? sum <= a : sum < a);
	set_flag(m, MACHINE_OVERFLOW, (~(a ^ b) & (a ^ sum)) & sign_of(size));
	return known(sum);
}

static struct machine_value subtracted(struct machine *m, uint64_t a, uint64_t b, bool borrow,
				       unsigned size)
{
	uint64_t difference = (a - b - borrow) & mask_of(size);

	set_result_flags(m, difference, size);
	set_flag(m, MACHINE_CARRY, borrow ? a <= b : a < b);
	set_flag(m, MACHINE_OVERFLOW, ((a ^ b) & (a ^ difference)) & sign_of(size));
	return known(difference);
}

static struct machine_value alu(struct machine *m, enum alu operation, struct machine_value x,
				struct machine_value y, unsigned size)
{
	bool carry = m->flags & MACHINE_CARRY;
	uint64_t a = x.bits & mask_of(size), b = y.bits & mask_of(size);
	bool uses_carry = operation == ALU_ADC || operation == ALU_SBB;

	if (!x.known || !y.known || (uses_carry && !(m->flags_known & MACHINE_CARRY))) {
		m->flags_known = 0;
		return unknown;
	}
	switch (operation) {
	case ALU_ADD:
		return added(m, a, b, false, size);
	case ALU_ADC:
		return added(m, a, b, carry, size);
	case ALU_SUB:
	case ALU_CMP:
		return subtracted(m, a, b, false, size);
	case ALU_SBB:
		return subtracted(m, a, b, carry, size);
	case ALU_AND:
		return logic(m, a & b, size);
	case ALU_OR:
		return logic(m, a | b, size);
	case ALU_XOR:
		return logic(m, a ^ b, size);
	}
	return unknown;
}

/* The sixteen conditions of jcc, setcc and cmovcc in the order of their numbers; the lowest bit
 * negates. False in *decided when the flags are not known. */
static bool condition(const struct machine *m, unsigned number, bool *decided)
{
	static const uint32_t needs[8] = {
	    MACHINE_OVERFLOW,
	    MACHINE_CARRY,
	    MACHINE_ZERO,
	    MACHINE_CARRY | MACHINE_ZERO,
	    MACHINE_SIGN,
	    MACHINE_PARITY,
	    MACHINE_SIGN | MACHINE_OVERFLOW,
	    MACHINE_SIGN | MACHINE_OVERFLOW | MACHINE_ZERO,
	};
	uint32_t need = needs[number >> 1 & 7];
	bool less = !(m->flags & MACHINE_SIGN) != !(m->flags & MACHINE_OVERFLOW);
	bool holds;

	*decided = (m->flags_known & need) == need;
	switch (number >> 1 & 7) {
	case 6:
		holds = less;
		break;
	case 7:
		holds = less || m->flags & MACHINE_ZERO;
		break;
	default:
		holds = m->flags & need;
		break;
	}
	return holds != (number & 1);
}

/* ---------------------------------------------------------------- instructions */

static void pass_alu(struct passed_insn *p, enum alu operation, struct machine_value a,
		     struct machine_value b, unsigned size, bool to_rm)
{
	struct machine_value result = alu(p->m, operation, a, b, size);

	if (operation == ALU_CMP)
		return;
	if (to_rm)
		set_rm(p, size, result);
	else
		set(p->m, &p->o, opcode_reg(&p->o), size, result);
}

/* 00 to 3f: operation, direction and size are in the opcode. */
static void pass_alu_row(struct passed_insn *p)
{
	enum alu operation = (enum alu)(p->o.code >> 3 & 7);
	unsigned size = operand_size(&p->o), reg = opcode_reg(&p->o);
	bool same = p->o.has_modrm && !p->o.has_memory && opcode_rm(&p->o) == reg;

	if ((p->o.code & 7) >= 4) { /* al, ax, eax or rax with an immediate */
		struct machine_value result = alu(p->m, operation, get(p->m, &p->o, RAX, size),
						  known((uint64_t)p->o.immediate), size);

		if (operation != ALU_CMP)
			set(p->m, &p->o, RAX, size, result);
		return;
	}
	if (same && (operation == ALU_XOR || operation == ALU_SUB)) /* Zero, whatever it was. */
		pass_alu(p, operation, known(0), known(0), size, true);
	else if (p->o.code & 2)
		pass_alu(p, operation, get(p->m, &p->o, reg, size), get_rm(p, size), size, false);
	else
		pass_alu(p, operation, get_rm(p, size), get(p->m, &p->o, reg, size), size, true);
}

/* 80, 81 and 83 */
static void pass_alu_immediate(struct passed_insn *p)
{
	unsigned size = operand_size(&p->o);

	pass_alu(p, (enum alu)opcode_group(&p->o), get_rm(p, size), known((uint64_t)p->o.immediate),
		 size, true);
}

static void pass_test(struct passed_insn *p, struct machine_value other, unsigned size)
{
	(void)alu(p->m, ALU_AND, get_rm(p, size), other, size);
}

static void pass_increment(struct passed_insn *p, enum alu operation)
{
	unsigned size = operand_size(&p->o);
	uint32_t carry = p->m->flags & MACHINE_CARRY,
		 carry_known = p->m->flags_known & MACHINE_CARRY;
	struct machine_value result = alu(p->m, operation, get_rm(p, size), known(1), size);

	p->m->flags = (p->m->flags & ~MACHINE_CARRY) | carry;
	p->m->flags_known = (p->m->flags_known & ~MACHINE_CARRY) | carry_known;
	set_rm(p, size, result);
}

static struct machine_value shifted(struct machine *m, unsigned how, uint64_t a, unsigned count,
				    unsigned size)
{
	unsigned bits = 8 * size;
	uint64_t result;
	bool out;

	if (how == 5 || how == 7) { /* shr, sar */
		uint64_t wide = how == 7 ? extended(a, size) : a;
		uint64_t fill = how == 7 && a & sign_of(size) ? ~UINT64_C(0) : 0;

		result = count < 64 ? wide >> count : 0;
		if (fill && count)
			result |= ~(~UINT64_C(0) >> count);
		out = wide >> (count - 1) & 1;
	} else {
		result = a << count;
		out = count <= bits && a >> (bits - count) & 1;
	}
	result &= mask_of(size);
	set_result_flags(m, result, size);
	set_flag(m, MACHINE_CARRY, out);
	if (count > bits && how != 7)
		m->flags_known &= ~MACHINE_CARRY;
	if (count != 1)
		m->flags_known &= ~MACHINE_OVERFLOW;
	else if (how == 5)
		set_flag(m, MACHINE_OVERFLOW, a & sign_of(size));
	else if (how == 7)
		set_flag(m, MACHINE_OVERFLOW, false);
	else
		set_flag(m, MACHINE_OVERFLOW, out != !!(result & sign_of(size)));
	return known(result);
}

/* c0, c1 and d0 to d3; false for rotations. */
static bool pass_shift(struct passed_insn *p, struct machine_value count)
{
	unsigned size = operand_size(&p->o), how = opcode_group(&p->o);
	struct machine_value value;

	if (how < 4)
		return false;
	if (how == 6)
		how = 4; /* Another encoding of shl. */
	value = get_rm(p, size);
	count.bits &= size == 8 ? 63 : 31;
	if (count.known && count.bits == 0) {
		set_rm(p, size, value);
		return true;
	}
	if (value.known && count.known) {
		value = shifted(p->m, how, value.bits, (unsigned)count.bits, size);
	} else {
		p->m->flags_known = 0;
		value = unknown;
	}
	set_rm(p, size, value);
	return true;
}

/* f6 and f7; false for what is not modelled. */
static bool pass_group3(struct passed_insn *p)
{
	unsigned size = operand_size(&p->o);
	struct machine_value v;

	switch (opcode_group(&p->o)) {
	case 0:
	case 1:
		pass_test(p, known((uint64_t)p->o.immediate), size);
		return true;
	case 2:
		v = get_rm(p, size);
		v.bits = ~v.bits;
		set_rm(p, size, v);
		return true;
	case 3:
		set_rm(p, size, alu(p->m, ALU_SUB, known(0), get_rm(p, size), size));
		return true;
	default:
		return false;
	}
}

static void pass_multiply(struct passed_insn *p, struct machine_value a, struct machine_value b)
{
	unsigned size = wide_size(&p->o);

	p->m->flags_known = 0;
	set(p->m, &p->o, opcode_reg(&p->o), size,
	    (struct machine_value){.bits = a.bits * b.bits, .known = a.known && b.known});
}

static void pass_extension(struct passed_insn *p, unsigned from, bool with_sign)
{
	struct machine_value v = get_rm(p, from);

	if (with_sign)
		v.bits = extended(v.bits, from);
	set(p->m, &p->o, opcode_reg(&p->o), wide_size(&p->o), v);
}

static void pass_lea(struct passed_insn *p)
{
	set(p->m, &p->o, opcode_reg(&p->o), wide_size(&p->o), p->at);
}

/* The sign of rax all over rdx (99), or of its lower half over itself (98). */
static void pass_sign(struct passed_insn *p)
{
	unsigned size = wide_size(&p->o);
	struct machine_value v = p->m->regs[RAX];

	if (p->o.code == 0x98) {
		v.bits = extended(v.bits, size / 2);
		set(p->m, &p->o, RAX, size, v);
		return;
	}
	v.bits = v.bits & sign_of(size) ? ~UINT64_C(0) : 0;
	set(p->m, &p->o, RDX, size, v);
}

static void pass_cmov(struct passed_insn *p)
{
	unsigned size = wide_size(&p->o), reg = opcode_reg(&p->o);
	struct machine_value v = get_rm(p, size);
	bool decided, holds = condition(p->m, p->o.code & 15, &decided);

	if (!decided)
		v = unknown;
	else if (!holds)
		v = get(p->m, &p->o, reg, size);
	/* The upper half is cleared in either case. */
	set(p->m, &p->o, reg, size, v);
}

static void pass_setcc(struct passed_insn *p)
{
	bool decided, holds = condition(p->m, p->o.code & 15, &decided);

	set_rm(p, 1, (struct machine_value){.bits = holds, .known = decided});
}

/* bt; of a register, or an immediate bit of memory. False where the bit may lie elsewhere. */
static bool pass_bit_test(struct passed_insn *p, struct machine_value bit)
{
	unsigned size = wide_size(&p->o);
	struct machine_value v;

	if (p->o.code == 0xa3 && p->o.has_memory)
		return false;
	v = get_rm(p, size);
	p->m->flags_known &= MACHINE_ZERO;
	if (v.known && bit.known)
		set_flag(p->m, MACHINE_CARRY, v.bits >> (bit.bits & (8 * size - 1)) & 1);
	return true;
}

static void pass_exchange(struct passed_insn *p)
{
	unsigned size = operand_size(&p->o), reg = opcode_reg(&p->o);
	struct machine_value v = get_rm(p, size);

	set_rm(p, size, get(p->m, &p->o, reg, size));
	set(p->m, &p->o, reg, size, v);
}

/* ---------------------------------------------------------------- opcodes */

static bool is_alu_row(uint8_t code)
{
	return code < 0x40 && (code & 7) < 6;
}

/* Passes an instruction whose opcode is one byte. False when it is not modelled. */
static bool pass_one_byte(struct passed_insn *p)
{
	struct machine *m = p->m;
	const struct opcode *o = &p->o;
	unsigned size = operand_size(o), low = (o->code & 7u) | (o->rex & OPCODE_REX_B ? 8u : 0);

	if (is_alu_row(o->code)) {
		pass_alu_row(p);
		return true;
	}
	switch (o->code & 0xf8) {
	case 0x50:
		if (o->operand16)
			return false;
		push(m, m->regs[low]);
		return true;
	case 0x58:
		if (o->operand16)
			return false;
		m->regs[low] = pop(m);
		return true;
	case 0xb0:
		set(m, o, low, 1, known((uint64_t)o->immediate));
		return true;
	case 0xb8:
		set(m, o, low, wide_size(o), known((uint64_t)o->immediate));
		return true;
	default:
		break;
	}
	switch (o->code) {
	case 0x63:
		pass_extension(p, o->rex & OPCODE_REX_W ? 4 : wide_size(o), true);
		return true;
	case 0x69:
	case 0x6b:
		pass_multiply(p, get_rm(p, wide_size(o)), known((uint64_t)o->immediate));
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		pass_alu_immediate(p);
		return true;
	case 0x84:
	case 0x85:
		pass_test(p, get(m, o, opcode_reg(o), size), size);
		return true;
	case 0x86:
	case 0x87:
		pass_exchange(p);
		return true;
	case 0x88:
	case 0x89:
		set_rm(p, size, get(m, o, opcode_reg(o), size));
		return true;
	case 0x8a:
	case 0x8b:
		set(m, o, opcode_reg(o), size, get_rm(p, size));
		return true;
	case 0x8d:
		pass_lea(p);
		return true;
	case 0x90:
		return o->rex & OPCODE_REX_B ? false : true;
	case 0x98:
	case 0x99:
		pass_sign(p);
		return true;
	case 0xa8:
	case 0xa9:
		(void)alu(m, ALU_AND, get(m, o, RAX, size), known((uint64_t)o->immediate), size);
		return true;
	case 0xc0:
	case 0xc1:
		return pass_shift(p, known((uint64_t)o->immediate));
	case 0xd0:
	case 0xd1:
		return pass_shift(p, known(1));
	case 0xd2:
	case 0xd3:
		return pass_shift(p, get(m, o, RCX, 1));
	case 0xc6:
	case 0xc7:
		set_rm(p, size, known((uint64_t)o->immediate));
		return true;
	case 0xc9:
		m->regs[RSP] = m->regs[RBP];
		m->regs[RBP] = pop(m);
		return true;
	case 0xf6:
	case 0xf7:
		return pass_group3(p);
	case 0xfe:
	case 0xff:
		if (opcode_group(o) > 1)
			return false;
		pass_increment(p, opcode_group(o) ? ALU_SUB : ALU_ADD);
		return true;
	default:
		return false;
	}
}

/* Behind 0f. */
static bool pass_two_byte(struct passed_insn *p)
{
	const struct opcode *o = &p->o;

	switch (o->code & 0xf0) {
	case 0x40:
		pass_cmov(p);
		return true;
	case 0x90:
		pass_setcc(p);
		return true;
	default:
		break;
	}
	switch (o->code) {
	case 0x18: /* prefetches and nops */
	case 0x1f:
		return true;
	case 0xa3:
		return pass_bit_test(p, get(p->m, o, opcode_reg(o), wide_size(o)));
	case 0xba:
		return opcode_group(o) == 4 && pass_bit_test(p, known((uint64_t)o->immediate));
	case 0xaf:
		pass_multiply(p, get(p->m, o, opcode_reg(o), wide_size(o)),
			      get_rm(p, wide_size(o)));
		return true;
	case 0xb6:
	case 0xb7:
		pass_extension(p, o->code & 1 ? 2 : 1, false);
		return true;
	case 0xbe:
	case 0xbf:
		pass_extension(p, o->code & 1 ? 2 : 1, true);
		return true;
	default:
		return false;
	}
}

/* Prefixes that change what an instruction is are for the whole decoder. */
static bool is_modelled(const struct opcode *o)
{
	return !o->vex && !o->unusual && !o->repeat && !o->repeat_not &&
	       (o->map == OPCODE_ONE_BYTE || o->map == OPCODE_0F);
}

/* Arithmetic between vector registers: nothing that is followed here changes. */
static bool is_among_vectors(const struct opcode *o)
{
	if (o->has_memory || !o->has_modrm || o->map != OPCODE_0F)
		return false;
	switch (o->code) {
	case 0x10 ... 0x17:
	case 0x28:
	case 0x29:
	case 0x51 ... 0x6d:
	case 0x6f:
	case 0x70 ... 0x76:
	case 0x7c:
	case 0x7d:
	case 0x7f:
	case 0xc2:
	case 0xc6:
	case 0xd0 ... 0xd6:
	case 0xd8 ... 0xf6:
	case 0xf8 ... 0xfe:
		return true;
	default:
		return false;
	}
}

/* By what the whole decoder says it writes. */
static bool pass_other(struct machine *m, const uint8_t *bytes, size_t available,
		       struct machine_effect *effect)
{
	struct machine_value at = known(0);
	struct insn in;

	if (!insn_decode(bytes, available, m->ip, &in) || in.flow != FLOW_NEXT)
		return false;
	effect->loads = in.loads;
	effect->stores = in.stores;
	if (in.has_memory) {
		at.bits = (uint64_t)in.memory.displacement;
		if (in.memory.base >= 0) {
			at.bits += m->regs[in.memory.base].bits;
			at.known = m->regs[in.memory.base].known;
		}
		if (in.memory.index >= 0) {
			at.bits += m->regs[in.memory.index].bits * in.memory.scale;
			at.known = at.known && m->regs[in.memory.index].known;
		}
		effect->address_known = at.known;
		effect->address = at.bits;
		effect->size = in.memory.size;
	}
	if (in.stores)
		store(m, in.has_memory ? at : unknown, in.memory.size, unknown);
	if (in.stack_delta < 0)
		m->memory_unknown = true;
	/* Through an operand that is not evaluated, and may be of the frame. */
	if (in.stores && in.unsupported)
		m->regs[RSP].known = false;
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		if (insn_writes(&in, i))
			m->regs[i].known = false;
	if (in.writes & REGISTER_FLAGS)
		m->flags_known = 0;
	if (m->faulted)
		return false;
	m->ip += in.length;
	return true;
}

/* ---------------------------------------------------------------- where it goes */

static enum machine_step branch(struct machine *m, const struct opcode *o)
{
	bool decided, taken;

	if (o->map == OPCODE_ONE_BYTE && (o->code & 0xfc) == 0xe0)
		return MACHINE_UNDECIDED; /* loop and jrcxz: compilers do not make them. */
	taken = condition(m, o->code & 15, &decided);
	if (!decided)
		return MACHINE_UNDECIDED;
	m->ip = taken ? opcode_target(o, m->ip) : m->ip + o->length;
	return MACHINE_PASSED;
}

static enum machine_step transfer(struct machine *m, struct machine_value target, uint64_t behind,
				  bool calls)
{
	if (!target.known || !m->regs[RSP].known)
		return MACHINE_UNDECIDED;
	if (calls)
		push(m, known(behind));
	m->ip = target.bits;
	return MACHINE_PASSED;
}

static enum machine_step transfer_indirect(struct passed_insn *p, bool calls)
{
	struct machine *m = p->m;
	struct machine_value target =
	    p->o.has_memory ? load(m, p->at, 8) : m->regs[opcode_rm(&p->o)];

	if (p->o.unusual || p->o.operand16)
		return MACHINE_STOPPED;
	return transfer(m, target, m->ip + p->o.length, calls);
}

static enum machine_step pass_return(struct machine *m, const struct opcode *o)
{
	struct machine_value target = load(m, m->regs[RSP], 8);

	if (!target.known)
		return MACHINE_UNDECIDED;
	m->regs[RSP].bits += 8 + (o->code == 0xc2 ? (uint64_t)(uint16_t)o->immediate : 0);
	m->ip = target.bits;
	return MACHINE_PASSED;
}

static enum machine_step pass_flow(struct passed_insn *p, enum opcode_flow flow)
{
	struct machine *m = p->m;
	enum machine_step step = MACHINE_STOPPED;

	switch (flow) {
	case OPCODE_BRANCH:
		return branch(m, &p->o);
	case OPCODE_JUMP:
		m->ip = opcode_target(&p->o, m->ip);
		return MACHINE_PASSED;
	case OPCODE_INDIRECT_JUMP:
		return transfer_indirect(p, false);
	case OPCODE_CALL:
		step = transfer(m, known(opcode_target(&p->o, m->ip)), m->ip + p->o.length, true);
		break;
	case OPCODE_INDIRECT_CALL:
		step = transfer_indirect(p, true);
		break;
	case OPCODE_RETURN:
		step = pass_return(m, &p->o);
		p->effect->returned = step == MACHINE_PASSED;
		return step;
	case OPCODE_NEXT:
	case OPCODE_TRAP:
		return MACHINE_STOPPED;
	}
	p->effect->called = step == MACHINE_PASSED;
	p->effect->length = p->o.length;
	return step;
}

enum machine_step machine_pass(struct machine *m, const uint8_t *bytes, size_t available,
			       struct machine_effect *effect)
{
	struct passed_insn p = {.m = m, .effect = effect};
	enum opcode_flow flow;
	bool passed = false;

	*effect = (struct machine_effect){0};
	if (!opcode_read(bytes, available, &p.o))
		return pass_other(m, bytes, available, effect) ? MACHINE_PASSED : MACHINE_STOPPED;
	flow = opcode_flow(&p.o);
	if (p.o.has_memory)
		p.at = effective_address(m, &p.o);
	if (flow != OPCODE_NEXT)
		return pass_flow(&p, flow);
	if (is_modelled(&p.o))
		passed = p.o.map == OPCODE_ONE_BYTE ? pass_one_byte(&p) : pass_two_byte(&p);
	/* An implicit null check: the JVM decides where to go on. */
	if (m->faulted)
		return MACHINE_STOPPED;
	if (passed || is_among_vectors(&p.o))
		m->ip += p.o.length;
	else if (!pass_other(m, bytes, available, effect))
		return MACHINE_STOPPED;
	return MACHINE_PASSED;
}
