/* What the interpreter says of instructions is what the processor does with them. */
#include "tests/unit/support/test.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/code/insn.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/path/machine.h"
#include "common/random.h"

#define INSTANCES 300000u
#define IN_ROW    4u /* instructions of a sequence */

#define LEAVE 0xc9

/* ---------------------------------------------------------------- the processor */

/* What native code runs with, and leaves. */
static uint64_t cpu_regs[16] __asm__("cpu_regs") __attribute__((used));
static uint64_t cpu_flags __asm__("cpu_flags") __attribute__((used));
static uint64_t cpu_own_stack __asm__("cpu_own_stack") __attribute__((used));
static uint64_t cpu_entry __asm__("cpu_entry") __attribute__((used));

void cpu_run(void);
void cpu_back(void);

/* cpu_run goes to cpu_entry with all registers, and what runs there jumps to cpu_back. No signal
 * may come in between: the stack is whatever was asked for. */
__asm__(".text\n"
	".globl cpu_run, cpu_back\n"
	".hidden cpu_run, cpu_back\n"
	"cpu_run:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, cpu_own_stack(%rip)\n"
	"	push cpu_flags(%rip); popfq\n"
	"	mov cpu_regs+0(%rip), %rax; mov cpu_regs+8(%rip), %rcx\n"
	"	mov cpu_regs+16(%rip), %rdx; mov cpu_regs+24(%rip), %rbx\n"
	"	mov cpu_regs+32(%rip), %rsp; mov cpu_regs+40(%rip), %rbp\n"
	"	mov cpu_regs+48(%rip), %rsi; mov cpu_regs+56(%rip), %rdi\n"
	"	mov cpu_regs+64(%rip), %r8; mov cpu_regs+72(%rip), %r9\n"
	"	mov cpu_regs+80(%rip), %r10; mov cpu_regs+88(%rip), %r11\n"
	"	mov cpu_regs+96(%rip), %r12; mov cpu_regs+104(%rip), %r13\n"
	"	mov cpu_regs+112(%rip), %r14; mov cpu_regs+120(%rip), %r15\n"
	"	jmp *cpu_entry(%rip)\n"
	"cpu_back:\n"
	"	mov %rax, cpu_regs+0(%rip); mov %rcx, cpu_regs+8(%rip)\n"
	"	mov %rdx, cpu_regs+16(%rip); mov %rbx, cpu_regs+24(%rip)\n"
	"	mov %rsp, cpu_regs+32(%rip); mov %rbp, cpu_regs+40(%rip)\n"
	"	mov %rsi, cpu_regs+48(%rip); mov %rdi, cpu_regs+56(%rip)\n"
	"	mov %r8, cpu_regs+64(%rip); mov %r9, cpu_regs+72(%rip)\n"
	"	mov %r10, cpu_regs+80(%rip); mov %r11, cpu_regs+88(%rip)\n"
	"	mov %r12, cpu_regs+96(%rip); mov %r13, cpu_regs+104(%rip)\n"
	"	mov %r14, cpu_regs+112(%rip); mov %r15, cpu_regs+120(%rip)\n"
	"	mov cpu_own_stack(%rip), %rsp\n"
	"	pushfq; pop cpu_flags(%rip)\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");

/* ---------------------------------------------------------------- where it runs */

#define PAGE       4096u
#define MEMORY     512u /* the bytes that instructions may touch: data, and then the stack */
#define DATA       64u  /* operands lie from here on, */
#define STACK      320u /* and of the stack from here on */
#define OPERANDS   128u
#define CODE_LIMIT 100u

static uint8_t *page;          /* code, */
static uint8_t *memory;        /* and what it works on, near by */
static uint8_t before[MEMORY]; /* what was there */

static int machine_setup(void **state)
{
	(void)state;
	if (!page) {
		page = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memory = page + PAGE;
	}
	return page == MAP_FAILED ? -1 : safe_read_init();
}

/* ---------------------------------------------------------------- random instructions */

static struct random dice = {.state = 5};

static unsigned below(unsigned bound)
{
	return random_below(&dice, bound);
}

static uint64_t any_bits(void)
{
	uint64_t bits = (uint64_t)random_next(&dice) << 32 | random_next(&dice);

	switch (below(4)) {
	case 0: /* Few bits, as counts and differences have. */
		bits >>= below(64);
		return below(2) ? bits : ~bits;
	case 1: /* Where signs and carries change. */
		return (UINT64_C(1) << below(64)) - below(3);
	default:
		return bits;
	}
}

enum operand_form { NO_MODRM, REGISTER = 1, IN_MEMORY = 2, EITHER = 3 };
enum immediate { NO_IMM, IMM8, IMM_WIDE, IMM_FULL };

/* A row of opcodes. groups: of the opcode's extension, where modrm holds one. */
struct form {
	bool two_bytes;
	uint8_t first, last;
	enum operand_form operand;
	enum immediate immediate;
	uint8_t groups;
	bool one_size; /* prefix 66 makes something else of it */
	bool other;    /* not modelled: what it writes is not known afterwards */
	uint8_t weight;
};

static const struct form forms[] = {
    {.first = 0x00, .last = 0x3b, .operand = EITHER, .weight = 8},
    {.first = 0x04, .last = 0x3c, .immediate = IMM8},
    {.first = 0x05, .last = 0x3d, .immediate = IMM_WIDE},
    {.first = 0x50, .last = 0x57, .one_size = true, .weight = 2},
    {.first = 0x58, .last = 0x5f, .one_size = true, .weight = 2},
    /* Decoders and processors do not agree on what it loads with that prefix. */
    {.first = 0x63, .last = 0x63, .operand = EITHER, .one_size = true},
    {.first = 0x69, .last = 0x69, .operand = EITHER, .immediate = IMM_WIDE},
    {.first = 0x6b, .last = 0x6b, .operand = EITHER, .immediate = IMM8},
    {.first = 0x80, .last = 0x80, .operand = EITHER, .immediate = IMM8, .groups = 0xff},
    {.first = 0x81, .last = 0x81, .operand = EITHER, .immediate = IMM_WIDE, .groups = 0xff},
    {.first = 0x83, .last = 0x83, .operand = EITHER, .immediate = IMM8, .groups = 0xff},
    {.first = 0x84, .last = 0x8b, .operand = EITHER, .weight = 8},
    {.first = 0x8d, .last = 0x8d, .operand = IN_MEMORY, .weight = 2},
    {.first = 0x90, .last = 0x90, .other = true},
    {.first = 0x98, .last = 0x99},
    {.first = 0xa8, .last = 0xa8, .immediate = IMM8},
    {.first = 0xa9, .last = 0xa9, .immediate = IMM_WIDE},
    {.first = 0xb0, .last = 0xb7, .immediate = IMM8},
    {.first = 0xb8, .last = 0xbf, .immediate = IMM_FULL},
    {.first = 0xc0, .last = 0xc1, .operand = EITHER, .immediate = IMM8, .groups = 0xf0},
    {.first = 0xd0, .last = 0xd3, .operand = EITHER, .groups = 0xf0, .weight = 2},
    {.first = 0xc6, .last = 0xc6, .operand = EITHER, .immediate = IMM8, .groups = 0x01},
    {.first = 0xc7, .last = 0xc7, .operand = EITHER, .immediate = IMM_WIDE, .groups = 0x01},
    {.first = 0xc9, .last = 0xc9, .one_size = true},
    {.first = 0xf6, .last = 0xf6, .operand = EITHER, .immediate = IMM8, .groups = 0x03},
    {.first = 0xf7, .last = 0xf7, .operand = EITHER, .immediate = IMM_WIDE, .groups = 0x03},
    {.first = 0xf6, .last = 0xf7, .operand = EITHER, .groups = 0x0c, .weight = 2},
    {.first = 0xfe, .last = 0xff, .operand = EITHER, .groups = 0x03, .weight = 2},
    {.two_bytes = true, .first = 0x40, .last = 0x4f, .operand = EITHER, .weight = 4},
    {.two_bytes = true, .first = 0x90, .last = 0x9f, .operand = EITHER, .weight = 4},
    {.two_bytes = true, .first = 0x18, .last = 0x18, .operand = IN_MEMORY, .groups = 0x0f},
    {.two_bytes = true, .first = 0x1f, .last = 0x1f, .operand = EITHER, .groups = 0x01},
    {.two_bytes = true, .first = 0xa3, .last = 0xa3, .operand = REGISTER},
    {.two_bytes = true,
     .first = 0xba,
     .last = 0xba,
     .operand = EITHER,
     .immediate = IMM8,
     .groups = 0x10},
    {.two_bytes = true, .first = 0xaf, .last = 0xaf, .operand = EITHER},
    {.two_bytes = true, .first = 0xb6, .last = 0xb7, .operand = EITHER, .weight = 2},
    {.two_bytes = true, .first = 0xbe, .last = 0xbf, .operand = EITHER, .weight = 2},
    /* Rotations, multiplication, bits, exchanges with comparison or addition, vector moves. */
    {.first = 0xc0,
     .last = 0xc1,
     .operand = EITHER,
     .immediate = IMM8,
     .groups = 0x0f,
     .other = true},
    {.first = 0xd0, .last = 0xd3, .operand = EITHER, .groups = 0x0f, .other = true},
    {.first = 0xf6, .last = 0xf7, .operand = EITHER, .groups = 0x30, .other = true},
    {.two_bytes = true, .first = 0xbc, .last = 0xbd, .operand = EITHER, .other = true},
    {.two_bytes = true, .first = 0xb0, .last = 0xb1, .operand = EITHER, .other = true},
    {.two_bytes = true, .first = 0xc0, .last = 0xc1, .operand = EITHER, .other = true},
    {.two_bytes = true, .first = 0xc8, .last = 0xcf, .one_size = true, .other = true},
    {.two_bytes = true,
     .first = 0xba,
     .last = 0xba,
     .operand = EITHER,
     .immediate = IMM8,
     .groups = 0xe0,
     .other = true},
    {.two_bytes = true,
     .first = 0xa4,
     .last = 0xa4,
     .operand = EITHER,
     .immediate = IMM8,
     .other = true},
    {.two_bytes = true, .first = 0x10, .last = 0x11, .operand = EITHER, .other = true},
    {.two_bytes = true, .first = 0x6e, .last = 0x6e, .operand = EITHER, .other = true},
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static const struct form *any_form(int but)
{
	unsigned sum = 0, at;

	for (unsigned i = 0; i < FORMS; i++)
		sum += forms[i].weight ? forms[i].weight : 1;
	at = below(sum);
	for (unsigned i = 0;; i++) {
		unsigned weight = forms[i].weight ? forms[i].weight : 1;

		if (at < weight)
			return forms[i].first == but ? any_form(but) : &forms[i];
		at -= weight;
	}
}

static uint8_t any_code(const struct form *f)
{
	unsigned code = f->first + below(f->last - f->first + 1u);

	if (f->two_bytes || f->last > 0x3f)
		return (uint8_t)code;
	/* Rows of arithmetic: operation, and in the lower bits what it is done to. */
	if (f->operand == EITHER)
		return (uint8_t)(below(8) << 3 | below(4));
	return (uint8_t)(below(8) << 3 | f->first);
}

static unsigned any_group(const struct form *f)
{
	unsigned group = below(8);

	while (f->groups && !(f->groups & 1u << group))
		group = below(8);
	return group;
}

struct code {
	uint8_t bytes[CODE_LIMIT];
	unsigned length;
	bool other; /* something in it is not modelled */
};

static void put(struct code *c, uint64_t value, unsigned size)
{
	memcpy(c->bytes + c->length, &value, size);
	c->length += size;
}

/* A memory operand; what its base has to be is set in cpu_regs, or it is one whose base is what it
 * was made with: of the stack pointer, rdi or the instruction pointer. behind: bytes of the
 * instruction behind the operand. */
static void put_memory(struct code *c, uint8_t *rex, unsigned reg, bool bases_stay, unsigned behind)
{
	uint64_t to = (uint64_t)(uintptr_t)memory + DATA + below(OPERANDS);
	unsigned base = below(16), index = below(16), scale = below(4);
	int32_t displacement = (int32_t)below(64) - 32;
	bool wide = below(3) == 0;

	if (bases_stay)
		base = below(2) ? RSP : RDI;
	*rex = (uint8_t)(*rex & ~3u);
	if (below(8) == 0) {
		put(c, (reg & 7) << 3 | 5, 1);
		put(c, (uint32_t)(to - ((uint64_t)(uintptr_t)page + c->length + 4 + behind)), 4);
		return;
	}
	if (base == RSP || bases_stay || index == base)
		index = RSP; /* none */
	*rex |= (uint8_t)(base >> 3 | (index >> 3) << 1);
	put(c, (wide ? 0x84 : 0x44) | (reg & 7) << 3, 1);
	put(c, (base & 7) | (index & 7) << 3 | scale << 6, 1);
	if (base == RSP || bases_stay) { /* What it points to is somewhere near. */
		put(c, (uint64_t)(int64_t)displacement, wide ? 4 : 1);
		return;
	}
	if (wide)
		displacement = (int32_t)random_next(&dice);
	put(c, (uint64_t)(int64_t)displacement, wide ? 4 : 1);
	cpu_regs[base] = to - (uint64_t)(int64_t)displacement;
	if (index != RSP)
		cpu_regs[base] -= cpu_regs[index] << scale;
}

/* One random instruction behind those that are there. */
static void put_instruction(struct code *c, bool bases_stay)
{
	/* In a row, rbp may point to what was stored at a place that is not known, which compiled
	 * code does not do to its frame. */
	const struct form *f = any_form(bases_stay ? LEAVE : -1);
	uint8_t code = any_code(f), rex = below(2) ? (uint8_t)(0x40 | below(16)) : 0,
		*rex_at = NULL;
	bool half = !f->one_size && below(5) == 0;
	unsigned reg = f->groups ? any_group(f) : below(8), imm = 0;
	bool in_memory = f->operand == IN_MEMORY || (f->operand == EITHER && below(2));

	c->other |= f->other;
	if (half)
		put(c, 0x66, 1);
	if (f->immediate == IMM8)
		imm = 1;
	else if (f->immediate != NO_IMM)
		imm = rex & 8 ? (f->immediate == IMM_FULL ? 8 : 4) : half ? 2 : 4;
	if (in_memory && !rex)
		rex = 0x40;
	if (rex) {
		rex_at = c->bytes + c->length;
		put(c, rex, 1);
	}
	if (f->two_bytes)
		put(c, 0x0f, 1);
	put(c, code, 1);
	if (in_memory)
		put_memory(c, &rex, reg, bases_stay, imm);
	else if (f->operand != NO_MODRM)
		put(c, 0xc0 | (reg & 7) << 3 | below(8), 1);
	if (rex_at)
		*rex_at = rex;
	put(c, any_bits(), imm);
}

/* Instructions that others in a row may come behind: what operands are made of stays. */
static bool may_go_on(const struct code *c, unsigned from)
{
	struct insn in;

	if (!insn_decode(c->bytes + from, c->length - from, (uint64_t)(uintptr_t)page + from, &in))
		return false;
	if (in.writes & (REGISTER_GENERAL(RDI) | REGISTER_GENERAL(RBP)))
		return false;
	return !(insn_writes(&in, RSP)) ||
	       (in.stack_delta != 0 && in.bytes[in.length - 1] != 0x5c); /* pop rsp */
}

/* A branch over a change that shows, or a call of what comes next. */
static void put_branch(struct code *c)
{
	if (below(5) == 0) {
		put(c, 0xe8, 5);
	} else if (below(2)) {
		put(c, 0x70 | below(16), 1);
		put(c, 5, 1);
		put(c, 0xbb, 1); /* mov ebx, imm32 */
		put(c, random_next(&dice), 4);
	} else {
		put(c, 0x0f | (0x80 | below(16)) << 8, 2);
		put(c, 5, 4);
		put(c, 0xbb, 1);
		put(c, random_next(&dice), 4);
	}
}

/* ---------------------------------------------------------------- both */

static struct machine machine;

static void any_state(void)
{
	for (unsigned i = 0; i < 16; i++)
		cpu_regs[i] = any_bits();
	cpu_regs[RSP] = (uint64_t)(uintptr_t)memory + STACK + 8 * below(OPERANDS / 8);
	cpu_regs[RBP] = (uint64_t)(uintptr_t)memory + STACK + 8 * below(OPERANDS / 8);
	cpu_regs[RDI] = (uint64_t)(uintptr_t)memory + DATA + below(OPERANDS);
	cpu_flags = 0x202 | (any_bits() & 0x8d5);
	for (unsigned i = 0; i < MEMORY; i += 8) {
		uint64_t bits = any_bits();

		memcpy(memory + i, &bits, 8);
	}
	memcpy(before, memory, MEMORY);
}

static void registers_of_cpu(gregset_t regs)
{
	memset(regs, 0, sizeof(gregset_t));
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		register_set(regs, i, cpu_regs[i]);
	regs[REG_EFL] = (greg_t)cpu_flags;
}

/* The interpreter is not to use what it does not know: it finds something else there. */
static void forget_some(void)
{
	for (unsigned i = 0; i < 16; i++) {
		if (below(5) != 0)
			continue;
		machine.regs[i].known = false;
		machine.regs[i].bits = any_bits();
	}
	machine.flags_known = (uint32_t)any_bits() & MACHINE_FLAGS;
	machine.flags ^= (uint32_t)any_bits() & MACHINE_FLAGS & ~machine.flags_known;
}

static const char *wrong; /* what differs */

/* The whole decoder's word on what the instruction accesses. */
static void compare_effect(const uint8_t *bytes, unsigned length, const struct machine_effect *e,
			   const struct machine *was)
{
	gregset_t regs;
	struct insn in;
	bool known = true;

	if (!insn_decode(bytes, length, was->ip, &in) || in.flow != FLOW_NEXT)
		return;
	if (in.loads != e->loads)
		wrong = "loads";
	if (in.stores != e->stores)
		wrong = "stores";
	if (!in.has_memory || !(in.loads || in.stores))
		return;
	machine_registers(was, regs);
	for (int i = 0; i < GENERAL_REGISTERS; i++)
		if (in.memory.base == i || in.memory.index == i)
			known &= was->regs[i].known;
	if (e->size != in.memory.size)
		wrong = "size";
	if (e->address_known != known || (known && e->address != insn_effective_address(&in, regs)))
		wrong = "address";
}

/* True when the interpreter came to the end. */
static bool interpret(const struct code *c)
{
	uint64_t end = (uint64_t)(uintptr_t)page + c->length;

	while (machine.ip != end) {
		size_t at = machine.ip - (uint64_t)(uintptr_t)page;
		struct machine_effect effect;
		struct machine was = machine;

		if (machine_pass(&machine, c->bytes + at, c->length - at, &effect) !=
		    MACHINE_PASSED)
			return false;
		compare_effect(c->bytes + at, c->length - (unsigned)at, &effect, &was);
	}
	return true;
}

static void run(const struct code *c)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* [rip] */
	uint64_t back = (uint64_t)(uintptr_t)&cpu_back;

	memcpy(page, c->bytes, c->length);
	memcpy(page + c->length, jump, sizeof(jump));
	memcpy(page + c->length + sizeof(jump), &back, sizeof(back));
	cpu_entry = (uint64_t)(uintptr_t)page;
	cpu_run();
}

static void compare_memory(void)
{
	bool known[MEMORY];

	if (machine.memory_unknown)
		return;
	memset(known, true, sizeof(known));
	for (unsigned i = 0; i < machine.store_count; i++) {
		const struct machine_store *s = &machine.stores[i];

		for (unsigned b = 0; b < s->size; b++) {
			uint64_t at = s->address + b - (uint64_t)(uintptr_t)memory;

			assert_true(at < MEMORY);
			known[at] = s->value.known;
			before[at] = (uint8_t)(b < 8 ? s->value.bits >> (8 * b) : 0);
		}
	}
	for (unsigned i = 0; i < MEMORY; i++)
		if (known[i] && before[i] != memory[i])
			wrong = "memory";
}

static void compare_registers(void)
{
	static const char *const names[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					      "rsi", "rdi", "r8",  "r9",  "r10", "r11",
					      "r12", "r13", "r14", "r15"};

	for (unsigned i = 0; i < 16; i++)
		if (machine.regs[i].known && machine.regs[i].bits != cpu_regs[i])
			wrong = names[i];
	if ((machine.flags ^ cpu_flags) & machine.flags_known)
		wrong = "flags";
}

static void show(const struct code *c)
{
	unsigned at = 0;

	print_message("%s differs:", wrong);
	while (at < c->length) {
		unsigned length = insn_length(c->bytes + at, c->length - at);
		char text[128];

		insn_format(c->bytes + at, c->length - at, text, sizeof(text));
		print_message(" %s;", text);
		at += length ? length : c->length;
	}
	print_message(" (");
	for (unsigned i = 0; i < c->length; i++)
		print_message("%02x", c->bytes[i]);
	print_message(")\n");
}

static unsigned known_registers(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < 16; i++)
		count += machine.regs[i].known;
	return count;
}

/* all: whatever is modelled is known afterwards. True when the interpreter came through. */
static bool compare(const struct code *c, bool forgetful, bool all, unsigned *differences)
{
	gregset_t regs;
	bool passed;

	wrong = NULL;
	registers_of_cpu(regs);
	machine_init(&machine, NULL, (uint64_t)(uintptr_t)page, regs);
	if (forgetful)
		forget_some();
	passed = interpret(c);
	if (passed) {
		run(c);
		compare_registers();
		compare_memory();
		if (all && known_registers() < 16)
			wrong = "knowledge";
	} else if (all) {
		wrong = "way";
	}
	if (wrong && ++*differences <= 20)
		show(c);
	return passed;
}

TEST(single_instructions_do_what_the_processor_does, machine_setup)
{
	unsigned differences = 0, compared = 0;

	for (unsigned i = 0; i < INSTANCES; i++) {
		struct code c = {0};
		struct insn in;

		any_state();
		put_instruction(&c, false);
		if (!insn_decode(c.bytes, c.length, 0, &in) || in.length != c.length)
			continue; /* There is no such instruction. */
		compared += compare(&c, i % 2, !c.other && !(i % 2), &differences);
	}
	assert_int_equal(differences, 0);
	assert_true(compared > INSTANCES * 9 / 10);
}

/* Values go from one to the next through registers, flags and memory. */
TEST(instructions_in_a_row_do_what_the_processor_does, machine_setup)
{
	unsigned differences = 0, compared = 0;

	for (unsigned i = 0; i < INSTANCES / 2; i++) {
		struct code c = {0};
		bool goes_on = true;

		any_state();
		for (unsigned n = 0; n < IN_ROW && goes_on; n++) {
			unsigned from = c.length;

			if (below(5) == 0) {
				put_branch(&c);
				continue;
			}
			put_instruction(&c, true);
			goes_on = may_go_on(&c, from);
			if (!goes_on &&
			    insn_length(c.bytes + from, c.length - from) != c.length - from)
				c.length = from;
		}
		if (c.length > 0)
			compared += compare(&c, i % 2, false, &differences);
	}
	assert_int_equal(differences, 0);
	assert_true(compared > INSTANCES / 4);
}

/* ---------------------------------------------------------------- by hand */

static gregset_t regs;
static struct machine_effect effect;

static enum machine_step pass(const char *bytes, size_t size)
{
	return machine_pass(&machine, (const uint8_t *)bytes, size, &effect);
}

#define PASS(bytes) assert_int_equal(pass(bytes, sizeof(bytes) - 1), MACHINE_PASSED)
#define STEP(bytes) pass(bytes, sizeof(bytes) - 1)

static void begin(void)
{
	memset(regs, 0, sizeof(regs));
	regs[REG_RSP] = (greg_t)(uintptr_t)(memory + STACK);
	regs[REG_RDI] = (greg_t)(uintptr_t)(memory + DATA);
	memset(memory, 0, MEMORY);
	machine_init(&machine, NULL, 0x1000, regs);
}

TEST(stores_are_seen_by_later_loads_and_by_nobody_else, machine_setup)
{
	begin();
	PASS("\xc7\x07\x44\x33\x22\x11"); /* mov dword [rdi], 0x11223344 */
	PASS("\x8b\x07");                 /* mov eax, [rdi] */
	PASS("\x0f\xb6\x4f\x02");         /* movzx ecx, byte [rdi+2] */
	assert_int_equal(machine.regs[0].bits, 0x11223344);
	assert_int_equal(machine.regs[1].bits, 0x22);
	assert_int_equal(memory[DATA], 0);
	assert_int_equal(machine.store_count, 1);
	/* The last one counts; and of two in part nothing is put together. */
	PASS("\xc6\x07\x55"); /* mov byte [rdi], 0x55 */
	PASS("\x8a\x07");     /* mov al, [rdi] */
	assert_int_equal(machine.regs[0].bits, 0x11223355);
	PASS("\x8b\x07"); /* mov eax, [rdi] */
	assert_false(machine.regs[0].known);
	assert_true(machine_memory(&machine, (uintptr_t)memory + DATA + 1, 2).known);
}

TEST(a_store_to_an_unknown_place_makes_all_but_the_frame_unknown, machine_setup)
{
	begin();
	machine.regs[3].known = false;
	PASS("\x89\x03"); /* mov [rbx], eax */
	assert_true(effect.stores && !effect.address_known && machine.memory_unknown);
	PASS("\x8b\x07"); /* mov eax, [rdi] */
	assert_false(machine.regs[0].known);
	PASS("\x8b\x4c\x24\x08"); /* mov ecx, [rsp+8] */
	assert_true(machine.regs[1].known);
	PASS("\xc6\x07\x55"); /* mov byte [rdi], 0x55 */
	PASS("\x8a\x17");     /* mov dl, [rdi]: stored since */
	assert_true(machine.regs[2].known);
}

#define MIB (1024u * 1024u)

TEST(too_many_stores_make_memory_unknown, machine_setup)
{
	/* What lies close below the stack is taken for left frames. */
	void *far = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin();
	machine.regs[7].bits = (uintptr_t)far;
	for (unsigned i = 0; i < 2 * MACHINE_STORES; i++)
		PASS("\x89\x07"); /* mov [rdi], eax: over itself */
	assert_false(machine.memory_unknown);
	for (unsigned i = 0; i < MACHINE_STORES; i++) {
		PASS("\x89\x07");         /* mov [rdi], eax */
		PASS("\x48\x83\xc7\x10"); /* add rdi, 16 */
	}
	PASS("\x89\x4f\x08"); /* mov [rdi+8], ecx */
	assert_true(machine.memory_unknown && machine_stack(&machine).known);
	PASS("\x8b\x47\x08"); /* mov eax, [rdi+8] */
	assert_false(machine.regs[0].known);
	/* One to the frame that is not remembered leaves nothing known of it. */
	PASS("\x89\x04\x24"); /* mov [rsp], eax */
	assert_false(machine_stack(&machine).known);
	PASS("\x8b\x04\x24"); /* mov eax, [rsp] */
	assert_false(machine.regs[0].known);
	assert_int_equal(munmap(far, MIB), 0);
}

TEST(a_load_that_would_fault_stops, machine_setup)
{
	begin();
	assert_int_equal(STEP("\x8b\x40\x08"), MACHINE_STOPPED); /* mov eax, [rax+8] */
	assert_true(machine.faulted);
	assert_int_equal(machine.ip, 0x1000);
}

TEST(calls_and_returns_go_over_the_stack, machine_setup)
{
	begin();
	PASS("\xe8\x10\x00\x00\x00"); /* call 0x1015 */
	assert_true(effect.called && !effect.returned);
	assert_int_equal(machine.ip, 0x1015);
	assert_int_equal(machine_stack(&machine).bits, (uintptr_t)memory + STACK - 8);
	PASS("\xc3"); /* ret */
	assert_true(effect.returned && !effect.called);
	assert_int_equal(machine.ip, 0x1005);
	assert_int_equal(machine_stack(&machine).bits, (uintptr_t)memory + STACK);
	memcpy(memory + STACK, &(uint64_t){0x2000}, 8);
	PASS("\xc2\x10\x00"); /* ret 16 */
	assert_int_equal(machine.ip, 0x2000);
	assert_int_equal(machine_stack(&machine).bits, (uintptr_t)memory + STACK + 24);
}

TEST(jumps_need_what_they_go_by, machine_setup)
{
	begin();
	memcpy(memory + DATA, &(uint64_t){0x3000}, 8);
	PASS("\xff\x27"); /* jmp [rdi] */
	assert_int_equal(machine.ip, 0x3000);
	machine.regs[0] = (struct machine_value){.bits = 0x4000, .known = true};
	PASS("\xff\xe0"); /* jmp rax */
	assert_int_equal(machine.ip, 0x4000);
	machine.regs[0].known = false;
	assert_int_equal(STEP("\xff\xe0"), MACHINE_UNDECIDED);
	machine.flags_known = MACHINE_CARRY;
	assert_int_equal(STEP("\x74\x02"), MACHINE_UNDECIDED); /* jz */
	assert_int_equal(machine.ip, 0x4000);
	PASS("\x73\x02"); /* jnc */
	assert_int_equal(machine.ip, 0x4004);
	assert_int_equal(STEP("\xe3\x02"), MACHINE_UNDECIDED); /* jrcxz */
}

TEST(what_leaves_the_code_stops, machine_setup)
{
	begin();
	assert_int_equal(STEP("\x0f\x05"), MACHINE_STOPPED); /* syscall */
	assert_int_equal(STEP("\x0f\x0b"), MACHINE_STOPPED); /* ud2 */
	assert_int_equal(STEP("\xcc"), MACHINE_STOPPED);     /* int3 */
	assert_int_equal(STEP("\x06"), MACHINE_STOPPED);     /* no instruction */
	assert_int_equal(STEP("\x48\x8b"), MACHINE_STOPPED); /* half of one */
}

TEST(zero_is_known_whatever_was_there, machine_setup)
{
	begin();
	machine.regs[0].known = false;
	PASS("\x31\xc0"); /* xor eax, eax */
	assert_true(machine.regs[0].known && machine.regs[0].bits == 0);
	assert_int_equal(machine.flags_known, MACHINE_FLAGS);
	assert_true(machine.flags & MACHINE_ZERO);
}
