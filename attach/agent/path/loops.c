#include "attach/agent/path/loops.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/reserved.h"
#include "attach/agent/code/opcode.h"

/* Methods that are larger are not looked at. */
#define BYTES_MAX  (256u * 1024u)
#define BLOCKS_MAX 6000u
#define EDGES_MAX  (3u * BLOCKS_MAX)
#define LOOPS_MAX  1000u

/* A method with more is taken to make accesses of every type in them. */
#define MAKES_MAX 64u

/* Along dominators and loops, which is not linear in what the method has. */
#define STEPS_MAX 300000u

#define NESTS_MAX  4096u
#define PROBES_MAX 8u

#define ROOT     0u /* the block that everything begins at, in no code */
#define NO_BLOCK UINT16_MAX

/* ---------------------------------------------------------------- nests */

/* What a loop does itself; found when it is first asked for. */
struct loop {
	uint32_t header; /* offset in the method */
	uint16_t parent;
	_Atomic uint16_t known;
	_Atomic uint32_t first_load; /* offset + 1 of the first one, 0: none */
	_Atomic uint32_t first_store;
	_Atomic uint32_t first_call;
	_Atomic uint8_t framed; /* bits 1 << enum access_type: the first one is to the frame */
};

/* Instructions from here on, to the next part, are in the loop. */
struct part {
	uint32_t start;
	uint32_t loop;
};

struct loop_nest {
	uint64_t serial; /* of the blob */
	uint64_t start;
	uint32_t size;
	uint32_t part_count;
	uint32_t loop_count; /* loops[0] is LOOP_NONE */
	uint32_t parts_at;   /* bytes from the nest */
	struct loop loops[];
};

/* A window's nests, one behind the other, and the table that finds them: low half of the serial,
 * and the nest's offset in units of 8 bytes, plus 1. */
static struct {
	uint8_t *nests;
	struct scratch *scratch;
	_Atomic uint64_t table[NESTS_MAX];
	_Atomic uint32_t used;
	atomic_flag making;
	bool full; /* whoever is making one */
} memory = {.making = ATOMIC_FLAG_INIT};

static const struct part *parts_of(const struct loop_nest *nest)
{
	return (const struct part *)(const void *)((const uint8_t *)nest + nest->parts_at);
}

unsigned loop_at(const struct loop_nest *nest, uint64_t ip)
{
	const struct part *parts = parts_of(nest);
	uint32_t low = 0, high = nest->part_count;
	uint64_t offset = ip - nest->start;

	if (offset >= nest->size)
		return LOOP_NONE;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (parts[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? parts[low - 1].loop : LOOP_NONE;
}

uint64_t loop_header(const struct loop_nest *nest, unsigned loop)
{
	return loop == LOOP_NONE ? 0 : nest->start + nest->loops[loop].header;
}

bool loop_has_around(const struct loop_nest *nest, unsigned loop, uint64_t header)
{
	while (loop != LOOP_NONE && loop_header(nest, loop) != header)
		loop = nest->loops[loop].parent;
	return loop != LOOP_NONE;
}

/* ---------------------------------------------------------------- making one */

enum ending { ENDS_NEXT, ENDS_BRANCH, ENDS_JUMP, ENDS_INDIRECT, ENDS_NOWHERE };

/* The last instruction of a block that does not simply go on. */
struct transfer {
	uint32_t end; /* offset behind it */
	uint32_t target;
	uint8_t ending;
};

struct scratch {
	uint64_t leads[BYTES_MAX / 64]; /* bit per byte of code: a block starts there */
	struct transfer transfers[BLOCKS_MAX];
	uint32_t starts[BLOCKS_MAX + 1];
	uint16_t next[BLOCKS_MAX][2];
	uint16_t hung_first[BLOCKS_MAX]; /* besides, of those that nothing else leads to */
	uint16_t hung_next[BLOCKS_MAX];
	uint16_t on[BLOCKS_MAX]; /* what a block hangs on if it does */
	uint32_t cursor[BLOCKS_MAX];
	uint16_t first_edge[BLOCKS_MAX + 2]; /* of the edges that lead to a block */
	uint16_t edges[EDGES_MAX];           /* where they come from */
	uint16_t work[EDGES_MAX];
	uint16_t order[BLOCKS_MAX]; /* blocks in reverse postorder */
	uint16_t rank[BLOCKS_MAX];  /* of a block in it */
	uint16_t dominator[BLOCKS_MAX];
	uint16_t loop[BLOCKS_MAX]; /* innermost */
	uint16_t stack[BLOCKS_MAX];
	uint16_t headers[LOOPS_MAX]; /* block, by loop */
	uint16_t parents[LOOPS_MAX];
	bool indirect[BLOCKS_MAX];
	bool reached[BLOCKS_MAX];
	bool entered[BLOCKS_MAX]; /* from the method's entry, exceptions aside */
	unsigned transfer_count, block_count, ordered, loop_count;
	unsigned steps; /* left for what is not linear */
};

_Static_assert(sizeof(struct scratch) <= LOOPS_SCRATCH_BYTES, "the sum of the agent's tables");

bool loop_is_trap_request(const uint8_t *bytes, unsigned length)
{
	return length == 5 && bytes[0] == 0xbe && bytes[4] & 0x80;
}

static void lead(struct scratch *s, uint32_t offset)
{
	s->leads[offset / 64] |= UINT64_C(1) << (offset % 64);
}

static bool leads(const struct scratch *s, uint32_t offset)
{
	return s->leads[offset / 64] >> (offset % 64) & 1;
}

bool loop_call_ends(uint64_t callee, bool trap_request)
{
	struct code_blob blob;

	if (codemap_find(callee, &blob))
		return blob.type == CODE_NO_RETURN;
	return trap_request;
}

static enum ending ending_of(const struct opcode *o, uint64_t ip, bool trap_request)
{
	switch (opcode_flow(o)) {
	case OPCODE_BRANCH:
		return ENDS_BRANCH;
	case OPCODE_JUMP:
		return ENDS_JUMP;
	case OPCODE_INDIRECT_JUMP:
		return ENDS_INDIRECT;
	case OPCODE_RETURN:
	case OPCODE_TRAP:
		return ENDS_NOWHERE;
	case OPCODE_CALL:
		if (loop_call_ends(opcode_target(o, ip), trap_request))
			return ENDS_NOWHERE;
		break;
	case OPCODE_INDIRECT_CALL:
	case OPCODE_NEXT:
		break;
	}
	return ENDS_NEXT;
}

/* Passes over the code, and notes where blocks start and how they end. */
static bool find_transfers(struct scratch *s, const struct code_blob *blob)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)blob->start;
	bool trap_request = false;
	struct opcode o;

	memset(s->leads, 0, (blob->size + 63) / 64 * sizeof(s->leads[0]));
	s->transfer_count = 0;
	lead(s, 0);
	for (uint32_t at = 0; at < blob->size; at += o.length) {
		struct transfer *t = &s->transfers[s->transfer_count];
		uint64_t target;

		if (!opcode_read(code + at, blob->size - at, &o))
			return true; /* Data at the method's end. */
		trap_request = leads(s, at) ? false : trap_request;
		trap_request |= loop_is_trap_request(code + at, o.length);
		t->ending = (uint8_t)ending_of(&o, blob->start + at, trap_request);
		if (t->ending == ENDS_NEXT) {
			trap_request &= opcode_flow(&o) == OPCODE_NEXT;
			continue;
		}
		trap_request = false;
		t->end = at + o.length;
		t->target = UINT32_MAX;
		target = opcode_target(&o, blob->start + at) - blob->start;
		if ((t->ending == ENDS_BRANCH || t->ending == ENDS_JUMP) && target < blob->size) {
			t->target = (uint32_t)target;
			lead(s, t->target);
		}
		if (t->end < blob->size)
			lead(s, t->end);
		if (++s->transfer_count == BLOCKS_MAX)
			return false;
	}
	return true;
}

/* Block 0 is ROOT, block i + 1 the i-th of the code. */
static bool find_blocks(struct scratch *s, const struct code_blob *blob)
{
	s->block_count = 1;
	for (uint32_t word = 0; word * 64 < blob->size; word++) {
		for (uint64_t bits = s->leads[word]; bits; bits &= bits - 1) {
			if (s->block_count == BLOCKS_MAX)
				return false;
			s->starts[s->block_count++] = word * 64 + (uint32_t)__builtin_ctzll(bits);
		}
	}
	s->starts[s->block_count] = blob->size;
	return true;
}

static uint16_t block_at(const struct scratch *s, uint32_t offset)
{
	uint32_t low = 1, high = s->block_count;

	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;

		if (s->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return (uint16_t)low;
}

static void connect_forward(struct scratch *s)
{
	unsigned t = 0;

	for (unsigned b = 1; b < s->block_count; b++) {
		uint16_t *next = s->next[b];
		bool last = b + 1 == s->block_count;

		next[0] = last ? NO_BLOCK : (uint16_t)(b + 1);
		next[1] = NO_BLOCK;
		s->indirect[b] = false;
		/* A jump into the middle of an instruction, in what is no code, has a transfer that
		 * ends inside a block: it is passed over. */
		while (t < s->transfer_count && s->transfers[t].end < s->starts[b + 1])
			t++;
		if (t == s->transfer_count || s->transfers[t].end != s->starts[b + 1])
			continue;
		if (s->transfers[t].ending != ENDS_BRANCH)
			next[0] = NO_BLOCK;
		if (s->transfers[t].target != UINT32_MAX)
			next[1] = block_at(s, s->transfers[t].target);
		s->indirect[b] = s->transfers[t].ending == ENDS_INDIRECT;
		t++;
	}
}

/* What aligns the code behind it, and does not run. */
static bool is_padding(const struct scratch *s, const struct code_blob *blob, unsigned b)
{
	struct opcode o;

	for (uint32_t at = s->starts[b]; at < s->starts[b + 1]; at += o.length) {
		if (!opcode_read((const uint8_t *)(uintptr_t)(blob->start + at), blob->size - at,
				 &o))
			return false;
		if (!(o.map == OPCODE_ONE_BYTE && o.code == 0x90) &&
		    !(o.map == OPCODE_0F && o.code == 0x1f))
			return false;
	}
	return true;
}

/* What no jump of the method leads to hangs on ROOT; where there are jumps through memory, on the
 * last one before it: compilers lay out what a table leads to behind the jump. */
static void hang_up(struct scratch *s, const struct code_blob *blob)
{
	uint16_t under = ROOT;

	memset(s->reached, 0, s->block_count * sizeof(s->reached[0]));
	for (unsigned b = 1; b < s->block_count; b++)
		for (unsigned i = 0; i < 2; i++)
			if (s->next[b][i] != NO_BLOCK)
				s->reached[s->next[b][i]] = true;
	for (unsigned b = 0; b < s->block_count; b++)
		s->hung_first[b] = NO_BLOCK;
	for (unsigned b = 1; b < s->block_count; b++) {
		s->on[b] = b == 1 ? (uint16_t)ROOT : under;
		if (s->indirect[b])
			under = (uint16_t)b;
	}
	/* The entry becomes the first below ROOT: what it leads to is then in an order of its own,
	 * whatever else leads there (find_dominators). */
	for (unsigned b = s->block_count; b-- > 1;) {
		if (b != 1 && (s->reached[b] || is_padding(s, blob, b)))
			continue;
		s->hung_next[b] = s->hung_first[s->on[b]];
		s->hung_first[s->on[b]] = (uint16_t)b;
	}
}

/* Visits the blocks that b leads to, in turn: *cursor begins at 0. NO_BLOCK when there are no more.
 */
static uint16_t successor(const struct scratch *s, uint16_t b, uint32_t *cursor)
{
	while (*cursor < 2) {
		uint16_t next = b == ROOT ? NO_BLOCK : s->next[b][*cursor];

		++*cursor;
		if (next != NO_BLOCK)
			return next;
	}
	/* From here on the cursor is 3 more than the last one given. */
	if (*cursor == 2)
		*cursor = 3u + s->hung_first[b];
	else
		*cursor = 3u + s->hung_next[*cursor - 3];
	return (uint16_t)(*cursor - 3);
}

/* Lists where blocks are come to from. False when there are too many edges. */
static bool connect_backward(struct scratch *s)
{
	uint32_t sum = 0;
	uint16_t next;

	memset(s->first_edge, 0, (s->block_count + 2) * sizeof(s->first_edge[0]));
	for (unsigned b = 0; b < s->block_count; b++) {
		uint32_t cursor = 0;

		while ((next = successor(s, (uint16_t)b, &cursor)) != NO_BLOCK) {
			s->first_edge[next + 2]++;
			sum++;
		}
	}
	if (sum > EDGES_MAX)
		return false;
	for (unsigned i = 2; i < s->block_count + 2; i++)
		s->first_edge[i] = (uint16_t)(s->first_edge[i] + s->first_edge[i - 1]);
	for (unsigned b = 0; b < s->block_count; b++) {
		uint32_t cursor = 0;

		while ((next = successor(s, (uint16_t)b, &cursor)) != NO_BLOCK)
			s->edges[s->first_edge[next + 1]++] = (uint16_t)b;
	}
	return true;
}

/* Reverse postorder of what ROOT leads to. */
static void put_in_order(struct scratch *s)
{
	unsigned depth = 1, left = s->block_count;

	for (unsigned b = 0; b < s->block_count; b++) {
		s->rank[b] = NO_BLOCK;
		s->cursor[b] = 0;
	}
	s->stack[0] = ROOT;
	s->rank[ROOT] = 0; /* Seen; the true rank is set when it is left. */
	while (depth > 0) {
		uint16_t b = s->stack[depth - 1], next = successor(s, b, &s->cursor[b]);

		if (next == NO_BLOCK) {
			s->order[--left] = b;
			depth--;
		} else if (s->rank[next] == NO_BLOCK) {
			s->rank[next] = 0;
			s->stack[depth++] = next;
		}
	}
	s->ordered = left; /* order[0..left) is unused: blocks that only come from nowhere. */
	for (unsigned i = left; i < s->block_count; i++)
		s->rank[s->order[i]] = (uint16_t)i;
}

static uint16_t common_dominator(struct scratch *s, uint16_t a, uint16_t b)
{
	while (a != b && s->steps > 0) {
		for (; s->rank[a] > s->rank[b] && s->steps > 0; s->steps--)
			a = s->dominator[a];
		for (; s->rank[b] > s->rank[a] && s->steps > 0; s->steps--)
			b = s->dominator[b];
	}
	return a;
}

/* An exception's handler may be come to from anywhere. That it goes on in a loop does not make the
 * loop one that is entered in its middle. */
static uint16_t dominator_of(struct scratch *s, uint16_t b)
{
	uint16_t found = NO_BLOCK;

	for (unsigned e = s->first_edge[b]; e < s->first_edge[b + 1]; e++) {
		uint16_t from = s->edges[e];

		if (s->dominator[from] == NO_BLOCK ||
		    (s->entered[b] && b != 1 && !s->entered[from]))
			continue;
		found = found == NO_BLOCK ? from : common_dominator(s, from, found);
	}
	return found;
}

static void find_dominators(struct scratch *s)
{
	bool changed = true;

	for (unsigned b = 0; b < s->block_count; b++)
		s->dominator[b] = NO_BLOCK;
	s->dominator[ROOT] = ROOT;
	while (changed && s->steps > 0) {
		changed = false;
		for (unsigned i = s->ordered + 1; i < s->block_count; i++) {
			uint16_t b = s->order[i], d = dominator_of(s, b);

			changed |= s->dominator[b] != d;
			s->dominator[b] = d;
		}
	}
}

/* What the method's entry leads to by its own jumps. */
static void find_entered(struct scratch *s)
{
	unsigned depth = 1;

	memset(s->entered, 0, s->block_count * sizeof(s->entered[0]));
	s->stack[0] = 1;
	s->entered[1] = true;
	while (depth > 0) {
		uint16_t b = s->stack[--depth], next;
		uint32_t cursor = 0;

		while ((next = successor(s, b, &cursor)) != NO_BLOCK) {
			if (s->entered[next])
				continue;
			s->entered[next] = true;
			s->stack[depth++] = next;
		}
	}
}

static bool dominates(const struct scratch *s, uint16_t a, uint16_t b)
{
	while (s->rank[b] > s->rank[a])
		b = s->dominator[b];
	return a == b;
}

/* ---------------------------------------------------------------- nesting */

/* The outermost loop that block b is in so far. */
static unsigned outermost(struct scratch *s, uint16_t b)
{
	unsigned loop = s->loop[b];

	for (; loop != LOOP_NONE && s->parents[loop] != LOOP_NONE && s->steps > 0; s->steps--)
		loop = s->parents[loop];
	return loop;
}

/* More than there is room for are more steps than are taken. */
static void push_sources(struct scratch *s, uint16_t b, unsigned *depth)
{
	for (unsigned e = s->first_edge[b]; e < s->first_edge[b + 1]; e++) {
		uint16_t from = s->edges[e];

		/* One handler may lead to loops that have nothing to do with each other. */
		if (s->rank[from] == NO_BLOCK || (s->entered[b] && !s->entered[from]))
			continue;
		if (*depth == EDGES_MAX)
			s->steps = 0;
		else
			s->work[(*depth)++] = from;
	}
}

/* Takes what leads to the header's backward edges into its loop, whole loops with all that is in
 * them. */
static void fill_loop(struct scratch *s, unsigned loop, uint16_t header, unsigned depth)
{
	while (depth > 0) {
		uint16_t b = s->work[--depth];
		unsigned inner = outermost(s, b);

		if (b == header || inner == loop || b == ROOT)
			continue;
		if (inner == LOOP_NONE) {
			s->loop[b] = (uint16_t)loop;
			push_sources(s, b, &depth);
		} else {
			s->parents[inner] = (uint16_t)loop;
			push_sources(s, s->headers[inner], &depth);
		}
	}
}

/* Inner loops first: a header comes behind those of the loops around it. */
static bool find_loops(struct scratch *s)
{
	memset(s->loop, 0, s->block_count * sizeof(s->loop[0]));
	s->loop_count = 1;
	for (unsigned i = s->block_count; i-- > s->ordered + 1;) {
		uint16_t header = s->order[i];
		unsigned depth = 0, loop = s->loop_count;

		for (unsigned e = s->first_edge[header]; e < s->first_edge[header + 1]; e++) {
			uint16_t from = s->edges[e];

			if (s->rank[from] != NO_BLOCK && dominates(s, header, from))
				s->work[depth++] = from;
		}
		if (depth == 0)
			continue;
		if (loop == LOOPS_MAX)
			return false;
		s->loop_count++;
		s->headers[loop] = header;
		s->parents[loop] = LOOP_NONE;
		fill_loop(s, loop, header, depth);
		s->loop[header] = (uint16_t)loop;
	}
	return true;
}

/* ---------------------------------------------------------------- keeping it */

static unsigned count_parts(const struct scratch *s)
{
	unsigned parts = 1;

	for (unsigned b = 2; b < s->block_count; b++)
		parts += s->loop[b] != s->loop[b - 1];
	return parts;
}

static struct loop_nest *take_room(uint32_t bytes)
{
	uint32_t at = atomic_load_explicit(&memory.used, memory_order_relaxed);

	bytes = (bytes + 7) & ~7u;
	if (bytes > LOOPS_NESTS_BYTES - at)
		return NULL;
	/* Only whoever is making one takes room. */
	atomic_store_explicit(&memory.used, at + bytes, memory_order_relaxed);
	return (struct loop_nest *)(void *)(memory.nests + at);
}

static struct loop_nest *keep(const struct scratch *s, const struct code_blob *blob)
{
	unsigned part_count = count_parts(s), part = 0;
	uint32_t loops_bytes = s->loop_count * (uint32_t)sizeof(struct loop);
	uint32_t parts_at = (uint32_t)sizeof(struct loop_nest) + loops_bytes;
	struct loop_nest *nest = take_room(parts_at + part_count * (uint32_t)sizeof(struct part));
	struct part *parts;

	if (!nest)
		return NULL;
	nest->serial = blob->serial;
	nest->start = blob->start;
	nest->size = blob->size;
	nest->part_count = part_count;
	nest->loop_count = s->loop_count;
	nest->parts_at = parts_at;
	for (unsigned l = 1; l < s->loop_count; l++) {
		nest->loops[l].header = s->starts[s->headers[l]];
		nest->loops[l].parent = s->parents[l];
	}
	parts = (struct part *)(void *)((uint8_t *)nest + parts_at);
	for (unsigned b = 1; b < s->block_count; b++) {
		if (b > 1 && s->loop[b] == s->loop[b - 1])
			continue;
		parts[part++] =
		    (struct part){.start = b == 1 ? 0 : s->starts[b], .loop = s->loop[b]};
	}
	return nest;
}

static struct loop_nest *make(struct scratch *s, const struct code_blob *blob)
{
	if (blob->size > BYTES_MAX || !find_transfers(s, blob) || !find_blocks(s, blob))
		return NULL;
	connect_forward(s);
	hang_up(s, blob);
	if (!connect_backward(s))
		return NULL;
	put_in_order(s);
	find_entered(s);
	s->steps = STEPS_MAX;
	find_dominators(s);
	return find_loops(s) && s->steps > 0 ? keep(s, blob) : NULL;
}

/* ---------------------------------------------------------------- the table */

int loops_init(void)
{
	if (!memory.nests)
		memory.nests = reserve_memory(LOOPS_NESTS_BYTES);
	if (!memory.scratch)
		memory.scratch = reserve_memory(LOOPS_SCRATCH_BYTES);
	return memory.nests && memory.scratch ? 0 : -ENOMEM;
}

void loops_clear(void)
{
	/* A handler that is late may still be making one: it keeps the room that it works in. */
	bool idle = !atomic_flag_test_and_set(&memory.making);

	for (unsigned i = 0; i < NESTS_MAX; i++)
		atomic_store_explicit(&memory.table[i], 0, memory_order_relaxed);
	if (!idle)
		return;
	atomic_store(&memory.used, 0);
	memory.full = false;
	empty_memory(memory.nests, LOOPS_NESTS_BYTES);
	empty_memory(memory.scratch, LOOPS_SCRATCH_BYTES);
	atomic_flag_clear(&memory.making);
}

static _Atomic uint64_t *entry(uint64_t serial, unsigned probe)
{
	return &memory.table[((serial * UINT64_C(0x9e3779b97f4a7c15) >> 40) + probe) % NESTS_MAX];
}

/* The entry of a nest that cannot be made. */
#define NO_NEST UINT32_MAX

/* True when it is known, also that there is none. */
static bool find_nest(uint64_t serial, const struct loop_nest **nest)
{
	*nest = NULL;
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		uint64_t word = atomic_load_explicit(entry(serial, i), memory_order_acquire);

		if (word == 0)
			return false;
		if (word >> 32 != (uint32_t)serial)
			continue;
		if ((uint32_t)word == NO_NEST)
			return true;
		*nest = (const void *)(memory.nests + ((uint32_t)word - 1) * UINT64_C(8));
		if ((*nest)->serial != serial)
			*nest = NULL;
		return true;
	}
	return false;
}

/* False when there is no room for it. NULL: that there is none. */
static bool remember(uint64_t serial, const struct loop_nest *nest)
{
	uint64_t at =
	    nest ? (uint64_t)((const uint8_t *)nest - memory.nests) / 8 + 1 : (uint64_t)NO_NEST;

	for (unsigned i = 0; i < PROBES_MAX; i++) {
		_Atomic uint64_t *e = entry(serial, i);

		if (atomic_load_explicit(e, memory_order_relaxed) == 0) {
			atomic_store_explicit(e, serial << 32 | at, memory_order_release);
			return true;
		}
	}
	return false;
}

/* What there is no room for is given up, and no other is made then: each tick would try again. */
static const struct loop_nest *make_and_remember(const struct code_blob *blob)
{
	uint32_t used = atomic_load_explicit(&memory.used, memory_order_relaxed);
	const struct loop_nest *nest = make(memory.scratch, blob);

	if (remember(blob->serial, nest))
		return nest;
	atomic_store_explicit(&memory.used, used, memory_order_relaxed);
	memory.full = true;
	return NULL;
}

const struct loop_nest *loops_of(const struct code_blob *blob)
{
	const struct loop_nest *nest;

	if (!memory.nests || !memory.scratch || find_nest(blob->serial, &nest))
		return memory.nests && memory.scratch ? nest : NULL;
	/* Whoever makes one may be preempted: nobody waits for it. */
	if (atomic_flag_test_and_set(&memory.making))
		return NULL;
	if (!find_nest(blob->serial, &nest) && !memory.full)
		nest = make_and_remember(blob);
	atomic_flag_clear(&memory.making);
	return nest;
}

/* ---------------------------------------------------------------- what a loop does */

bool loop_counts(const struct insn *in, enum access_type type)
{
	const struct insn_memory *m = &in->memory;

	if (!search_is_access(in, type))
		return false;
	if (!in->has_memory)
		return true;
	if (m->base == REG_R15 || (m->base == REG_RSP && m->index < 0 && m->displacement < 0))
		return false;
	return !(in->tests_memory && m->base >= 0 && m->index < 0 && m->displacement == 0);
}

/* String instructions name no operand. */
static bool is_string(const struct opcode *o)
{
	return o->map == OPCODE_ONE_BYTE && !o->vex &&
	       ((o->code & 0xfc) == 0xa4 || (o->code >= 0xaa && o->code <= 0xaf));
}

/* What loop_counts says of both types, without decoding the whole instruction. */
static enum opcode_use use_of(const struct opcode *o)
{
	enum opcode_use use;

	if (!o->has_memory)
		return is_string(o) ? OPCODE_USE_UNKNOWN : OPCODE_USES_NOT;
	if (o->base == 15 || (o->base == 4 && o->index < 0 && o->displacement < 0))
		return OPCODE_USES_NOT;
	use = opcode_use(o);
	if (o->map != OPCODE_ONE_BYTE || use != OPCODE_LOADS)
		return use;
	if ((o->code == 0x84 || o->code == 0x85) && o->base >= 0 && o->index < 0 &&
	    o->displacement == 0)
		return OPCODE_USES_NOT;
	/* A test against an immediate may be a store barrier's. */
	return (o->code & 0xfc) == 0x80 || (o->code & 0xfe) == 0xf6 ? OPCODE_USE_UNKNOWN : use;
}

bool loop_counts_at(uint64_t ip, const struct opcode *o, enum access_type type)
{
	enum opcode_use use = use_of(o);
	struct insn in;

	if (use != OPCODE_USE_UNKNOWN)
		return use & (type == ACCESS_LOAD ? OPCODE_LOADS : OPCODE_STORES);
	return search_fetch(ip, &in) && loop_counts(&in, type);
}

bool loop_is_spill(const struct insn *in)
{
	return in->has_memory && in->memory.base == REG_RSP;
}

bool loop_is_spill_at(const struct opcode *o)
{
	return o->has_memory && o->base == 4;
}

/* Of one type: offset + 1 of the first one, 0 for none. */
struct first {
	uint32_t spill, other;
};

struct survey {
	struct first load, store;
	uint32_t call; /* offset + 1 */
};

static void note_access(struct first *f, uint32_t at, const struct opcode *o)
{
	uint32_t *first = loop_is_spill_at(o) ? &f->spill : &f->other;

	if (!*first)
		*first = at + 1;
}

static void survey_part(const struct loop_nest *nest, uint32_t from, uint32_t to,
			struct survey *found)
{
	bool trap_request = false;
	struct opcode o;

	for (uint32_t at = from; at < to; at += o.length) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)(nest->start + at);

		if (!opcode_read(bytes, nest->size - at, &o))
			return;
		trap_request |= loop_is_trap_request(bytes, o.length);
		switch (opcode_flow(&o)) {
		case OPCODE_CALL:
		case OPCODE_INDIRECT_CALL:
			if (ending_of(&o, nest->start + at, trap_request) == ENDS_NEXT &&
			    !found->call)
				found->call = at + 1;
			trap_request = false;
			continue;
		case OPCODE_NEXT:
			break;
		default:
			trap_request = false;
			continue;
		}
		if (!found->load.other && loop_counts_at(nest->start + at, &o, ACCESS_LOAD))
			note_access(&found->load, at, &o);
		if (!found->store.other && loop_counts_at(nest->start + at, &o, ACCESS_STORE))
			note_access(&found->store, at, &o);
	}
}

static uint32_t first_of(const struct first *f)
{
	return f->other ? f->other : f->spill;
}

static bool is_framed(const struct first *f)
{
	return f->spill && !f->other;
}

/* Threads that do this at the same time find the same. */
static const struct loop *surveyed(const struct loop_nest *nest, unsigned number)
{
	/* Nests are written once; what their loops do is filled in later. */
	struct loop *loop = (struct loop *)(uintptr_t)&nest->loops[number];
	const struct part *parts = parts_of(nest);
	struct survey found = {0};

	if (atomic_load_explicit(&loop->known, memory_order_acquire))
		return loop;
	for (uint32_t i = 0; i < nest->part_count; i++)
		if (parts[i].loop == number)
			survey_part(nest, parts[i].start,
				    i + 1 < nest->part_count ? parts[i + 1].start : nest->size,
				    &found);
	atomic_store_explicit(&loop->first_load, first_of(&found.load), memory_order_relaxed);
	atomic_store_explicit(&loop->first_store, first_of(&found.store), memory_order_relaxed);
	atomic_store_explicit(&loop->framed,
			      (uint8_t)(is_framed(&found.load) << ACCESS_LOAD |
					is_framed(&found.store) << ACCESS_STORE),
			      memory_order_relaxed);
	atomic_store_explicit(&loop->first_call, found.call, memory_order_relaxed);
	atomic_store_explicit(&loop->known, 1, memory_order_release);
	return loop;
}

uint64_t loop_access(const struct loop_nest *nest, unsigned loop, enum access_type type)
{
	const struct loop *l = surveyed(nest, loop);
	uint32_t at = type == ACCESS_LOAD ? l->first_load : l->first_store;

	return at ? nest->start + at - 1 : 0;
}

bool loops_make(const struct loop_nest *nest, enum access_type type)
{
	/* Looking at each takes a pass over all parts. */
	if (nest->loop_count > MAKES_MAX)
		return true;
	for (unsigned loop = 1; loop < nest->loop_count; loop++)
		if (loop_access(nest, loop, type))
			return true;
	return false;
}

bool loop_calls(const struct loop_nest *nest, unsigned loop)
{
	return surveyed(nest, loop)->first_call;
}

bool loop_is_framed(const struct loop_nest *nest, unsigned loop, enum access_type type)
{
	return loop != LOOP_NONE && (surveyed(nest, loop)->framed & (1u << type));
}
