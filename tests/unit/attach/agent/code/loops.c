/* The loops of hand-written code, and of random flow graphs beside what the definitions say. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/loops.h"
#include "common/code/flow_graph.h"
#include "common/random.h"
#include "tests/unit/support/agent/code.h"

static const struct loop_nest *nest_of(uint64_t ip)
{
	const struct loop_nest *nest;
	struct code_blob blob;

	assert_true(codemap_find(ip, &blob));
	nest = loops_of(&blob);
	assert_non_null(nest);
	assert_ptr_equal(nest, loops_of(&blob));
	return nest;
}

/* What is at each of these offsets lies innermost in the loop that is entered at the other; -1 for
 * none. The list ends with a negative offset. */
static void assert_loops(uint64_t ip, const int (*expected)[2])
{
	const struct loop_nest *nest = nest_of(ip);

	for (; (*expected)[0] >= 0; expected++) {
		uint64_t header = loop_header(nest, loop_at(nest, ip + (uint64_t)(*expected)[0]));

		assert_int_equal(header ? (int64_t)(header - ip) : -1, (*expected)[1]);
	}
}

#define LOOPS(ip, ...) assert_loops(ip, (const int[][2]){__VA_ARGS__, {-1, -1}})

static unsigned loop_of(uint64_t ip)
{
	return loop_at(nest_of(ip), ip);
}

/* ---------------------------------------------------------------- hand-written code */

TEST(a_loop_ends_behind_its_jump_back, code_setup)
{
	/* 0: inc eax; 2: dec ecx; 4: jnz 2; 6: ret */
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc9\x75\xfc\xc3");

	LOOPS(ip, {0, -1}, {2, 2}, {4, 2}, {5, 2}, {6, -1});
	assert_int_equal(loop_at(nest_of(ip), ip - 1), LOOP_NONE);
	assert_int_equal(loop_at(nest_of(ip), ip + 7), LOOP_NONE);
}

TEST(loops_nest, code_setup)
{
	/* 0: inc eax; 2: inc ebx; 4: dec ecx; 6: jnz 4; 8: dec edx; a: jnz 2; c: dec esi; e: jnz 0;
	 * 10: ret */
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc3\xff\xc9\x75\xfc\xff\xca\x75\xf6\xff\xce\x75\xf0"
			      "\xc3");
	const struct loop_nest *nest = nest_of(ip);

	LOOPS(ip, {0, 0}, {2, 2}, {4, 4}, {6, 4}, {8, 2}, {12, 0}, {16, -1});
	assert_true(loop_has_around(nest, loop_at(nest, ip + 4), ip));
	assert_true(loop_has_around(nest, loop_at(nest, ip + 4), ip + 2));
	assert_true(loop_has_around(nest, loop_at(nest, ip + 4), ip + 4));
	assert_false(loop_has_around(nest, loop_at(nest, ip), ip + 2));
	assert_false(loop_has_around(nest, LOOP_NONE, ip));
}

TEST(a_loop_covers_what_lies_in_it_at_any_depth, code_setup)
{
	/* 0: nop; 1: inc eax; 3: dec ecx; 5: jnz 3; 7: dec edx; 9: jnz 1; b: ret; then another */
	uint64_t ip = CODE(0, "\x90\xff\xc0\xff\xc9\x75\xfc\xff\xca\x75\xf6\xc3");
	uint64_t other = CODE(64, "\xff\xc9\x75\xfc\xc3");
	struct code_blob blob;

	assert_true(codemap_find(ip, &blob));
	assert_true(loop_covers(&blob, ip + 1, ip + 1));
	assert_true(loop_covers(&blob, ip + 1, ip + 3));
	assert_true(loop_covers(&blob, ip + 3, ip + 5));
	assert_false(loop_covers(&blob, ip + 3, ip + 7));
	assert_false(loop_covers(&blob, ip + 1, ip));
	assert_false(loop_covers(&blob, ip + 1, ip + 11));
	assert_false(loop_covers(&blob, ip + 1, ip - 1));
	assert_false(loop_covers(&blob, other, other));
}

TEST(loops_lie_side_by_side, code_setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: dec edx; 6: jnz 4; 8: ret */
	uint64_t ip = CODE(0, "\xff\xc9\x75\xfc\xff\xca\x75\xfc\xc3");
	const struct loop_nest *nest = nest_of(ip);

	LOOPS(ip, {0, 0}, {2, 0}, {4, 4}, {6, 4}, {8, -1});
	assert_false(loop_has_around(nest, loop_at(nest, ip + 4), ip));
}

TEST(two_jumps_back_to_one_place_make_one_loop, code_setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: dec edx; 6: jnz 0; 8: ret */
	uint64_t ip = CODE(0, "\xff\xc9\x75\xfc\xff\xca\x75\xf8\xc3");

	LOOPS(ip, {0, 0}, {4, 0}, {6, 0}, {8, -1});
}

TEST(a_loop_may_be_entered_at_its_test, code_setup)
{
	/* 0: jmp 4; 2: inc eax; 4: dec ecx; 6: jnz 2; 8: ret */
	uint64_t ip = CODE(0, "\xeb\x02\xff\xc0\xff\xc9\x75\xfa\xc3");

	LOOPS(ip, {0, -1}, {2, 4}, {4, 4}, {6, 4}, {8, -1});
}

TEST(cold_code_far_behind_that_jumps_back_belongs_to_the_loop, code_setup)
{
	/* 0: dec ecx; 2: jz 8; 4: inc eax; 6: jnz 0; 8: ret; 9: inc ebx (none leads there); and
	 * with 4: js 9: 0: dec ecx; 2: js 7; 4: jnz 0; 6: ret; 7: inc ebx; 9: jmp 0 */
	uint64_t ip = CODE(0, "\xff\xc9\x78\x03\x75\xfa\xc3\xff\xc3\xeb\xf5");

	LOOPS(ip, {0, 0}, {2, 0}, {4, 0}, {6, -1}, {7, 0}, {9, 0});
}

TEST(padding_in_front_of_a_loop_is_on_no_way_into_it, code_setup)
{
	/* A latch in front of the header, and padding behind its jump:
	 * 0: jmp 8; 2: inc eax; 4: jmp 8; 6: nop; 7: nop; 8: dec ecx; a: jnz 2; c: ret */
	uint64_t ip = CODE(0, "\xeb\x06\xff\xc0\xeb\x02\x90\x90\xff\xc9\x75\xf6\xc3");
	/* Of the long kind: 0: jmp 8; 2: jmp 8; 4: nop dword [rax]; 8: dec ecx ... */
	uint64_t wide = CODE(64, "\xeb\x06\xeb\x04\x0f\x1f\x40\x00\xff\xc9\x75\xf6\xc3");

	LOOPS(ip, {0, -1}, {2, 8}, {4, 8}, {6, -1}, {7, -1}, {8, 8}, {10, 8}, {12, -1});
	LOOPS(wide, {0, -1}, {2, 8}, {4, -1}, {8, 8}, {12, -1});
}

TEST(padding_that_runs_belongs_to_its_loop, code_setup)
{
	/* 0: inc eax; 2: nop; 3: dec ecx; 5: jnz 3; 7: nop; 8: dec edx; a: jnz 0; c: ret */
	uint64_t ip = CODE(0, "\xff\xc0\x90\xff\xc9\x75\xfc\x90\xff\xca\x75\xf4\xc3");

	LOOPS(ip, {0, 0}, {2, 0}, {3, 3}, {7, 0}, {8, 0}, {12, -1});
}

TEST(nothing_comes_behind_an_uncommon_trap, code_setup)
{
	/* 0: jz 7; 2: dec ecx; 4: jnz 0; 6: ret; 7: mov esi, -12; c: call 0x1011; 11: jmp 2: what
	 * is behind the call is led to by nothing, and is in no loop. */
	uint64_t ip = CODE(0, "\x74\x05\xff\xc9\x75\xfa\xc3\xbe\xf4\xff\xff\xff\xe8\x00\x10\x00\x00"
			      "\xf4");
	uint64_t back = CODE(64, "\x74\x05\xff\xc9\x75\xfa\xc3\xbe\xf4\xff\xff\xff\xe8\x00\x10\x00"
				 "\x00\xeb\xef");

	LOOPS(ip, {0, 0}, {2, 0}, {6, -1}, {7, -1}, {12, -1});
	LOOPS(back, {0, 0}, {2, 0}, {7, -1}, {17, -1});
	assert_false(loop_calls(nest_of(ip), loop_of(ip)));
}

TEST(a_call_that_comes_back_is_passed, code_setup)
{
	/* 0: mov esi, 12; 5: call 0x100a; a: dec ecx; c: jnz 0; e: ret; then with -12 */
	uint64_t ip = CODE(0, "\xbe\x0c\x00\x00\x00\xe8\x00\x10\x00\x00\xff\xc9\x75\xf2\xc3");
	uint64_t negative =
	    CODE(64, "\xbe\xf4\xff\xff\xff\xe8\x00\x10\x00\x00\xff\xc9\x75\xf2\xc3");

	LOOPS(ip, {0, 0}, {5, 0}, {10, 0}, {14, -1});
	assert_true(loop_calls(nest_of(ip), loop_of(ip)));
	/* What is known to return does, whatever its first argument. */
	add_compiled(negative + 0x100a, 16, 7, NULL, 0);
	LOOPS(negative, {0, 0}, {5, 0}, {10, 0}, {14, -1});
	assert_true(loop_calls(nest_of(negative), loop_of(negative)));
}

TEST(a_stub_that_does_not_return_ends_the_way, code_setup)
{
	/* 0: call 1024; 5: dec ecx; 7: jnz 0; 9: ret */
	uint64_t ip = CODE(0, "\xe8\xfb\x03\x00\x00\xff\xc9\x75\xf7\xc3");

	add_stub(ip + 1024, 16, CODE_NO_RETURN);
	/* What is behind it hangs on the method, so the loop has two entries. */
	LOOPS(ip, {0, -1}, {5, -1}, {9, -1});
}

TEST(what_a_negative_request_was_for_is_over_with_the_call, code_setup)
{
	/* 0: mov esi, -12; 5: call rax; 7: call 0x100c; c: dec ecx; e: jnz 0; 10: ret */
	uint64_t ip = CODE(0, "\xbe\xf4\xff\xff\xff\xff\xd0\xe8\x00\x10\x00\x00\xff\xc9\x75\xf0"
			      "\xc3");

	LOOPS(ip, {0, 0}, {7, 0}, {12, 0}, {16, -1});
}

TEST(a_switch_in_a_loop_is_in_it_with_its_cases, code_setup)
{
	/* 0: inc eax; 2: jmp [rbx]; 4: inc ecx; 6: jmp a; 8: inc edx; a: dec esi; c: jnz 2; e: ret
	 */
	uint64_t ip = CODE(0, "\xff\xc0\xff\x23\xff\xc1\xeb\x02\xff\xc2\xff\xce\x75\xf4\xc3");

	LOOPS(ip, {0, -1}, {2, 2}, {4, 2}, {8, 2}, {10, 2}, {12, 2}, {14, -1});
}

TEST(a_handler_that_nothing_leads_to_is_a_way_of_its_own, code_setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: ret; 5: dec edx; 7: jnz 5... would be a cycle by itself: so
	 * 5: inc eax; 7: dec edx; 9: jnz 7; b: ret */
	uint64_t ip = CODE(0, "\xff\xc9\x75\xfc\xc3\xff\xc0\xff\xca\x75\xfc\xc3");

	LOOPS(ip, {0, 0}, {4, -1}, {5, -1}, {7, 7}, {9, 7}, {11, -1});
}

TEST(a_handler_that_goes_back_into_a_loop_does_not_matter, code_setup)
{
	/* 0: inc eax; 2: dec ecx; 4: jnz 0; 6: ret; 7: inc edx; 9: jmp 2: it is not from there that
	 * the loop is entered. Into its first instruction it is. */
	uint64_t middle = CODE(0, "\xff\xc0\xff\xc9\x75\xfa\xc3\xff\xc2\xeb\xf7");
	uint64_t first = CODE(64, "\xff\xc0\xff\xc9\x75\xfa\xc3\xff\xc2\xeb\xf5");

	LOOPS(middle, {0, 0}, {2, 0}, {7, -1});
	LOOPS(first, {0, 0}, {2, 0}, {7, -1});
}

TEST(what_cannot_be_told_is_not, code_setup)
{
	static const uint8_t area[256 * 1024 + 1];
	struct code_blob large = {.start = (uintptr_t)area, .size = sizeof(area), .serial = 99};

	assert_null(loops_of(&large));
}

TEST(data_at_a_methods_end_does_not_matter, code_setup)
{
	/* 0: dec ecx; 2: jnz 0; 4: ret; then no instruction */
	uint64_t ip = CODE(0, "\xff\xc9\x75\xfc\xc3\x06\x06\x06\x06");

	LOOPS(ip, {0, 0}, {4, -1}, {5, -1});
}

/* ---------------------------------------------------------------- from window to window */

/* 0: dec ecx; 2: jnz 0; 4: ret */
#define COUNTS_DOWN "\xff\xc9\x75\xfc\xc3"

TEST(a_nest_counts_for_the_next_window_if_the_code_is_the_same, code_setup)
{
	uint64_t ip = CODE(0, COUNTS_DOWN);
	const struct loop_nest *nest = nest_of(ip);

	loops_release();
	assert_int_equal(loops_init(), 0);
	remove_code(ip);
	(void)CODE(0, COUNTS_DOWN); /* told of anew, under another number */
	assert_ptr_equal(nest_of(ip), nest);
	LOOPS(ip, {0, 0}, {4, -1});
	remove_code(ip);
	(void)CODE(0, "\xff\xc9\x75\x00\xc3"); /* no loop */
	LOOPS(ip, {0, -1}, {4, -1});
}

TEST(nests_whose_memory_was_taken_are_made_again, code_setup)
{
	uint64_t ip = CODE(0, COUNTS_DOWN);
	struct loop_nest *nest = (struct loop_nest *)(uintptr_t)nest_of(ip);

	loops_release();
	memset(nest, 0, 64); /* As the kernel leaves what it was lent. */
	assert_int_equal(loops_init(), 0);
	LOOPS(ip, {0, 0}, {4, -1});
}

TEST(a_block_begins_where_a_jump_leads_or_another_one_ends, code_setup)
{
	/* 0: inc eax; 2: dec ecx; 4: jnz 2; 6: inc edx; 8: ret */
	uint64_t ip = CODE(0, "\xff\xc0\xff\xc9\x75\xfc\xff\xc2\xc3");
	static const unsigned begins[] = {0, 0, 2, 2, 2, 2, 6, 6, 6};

	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(loop_block(nest_of(ip), ip + i) - ip, begins[i]);
	assert_int_equal(loop_block(nest_of(ip), ip + 9), 0);
}

/* ---------------------------------------------------------------- what loops do */

TEST(the_first_access_by_address_is_a_loops_own, code_setup)
{
	/* 0: mov eax, [rbx]; 2: mov [rsi], eax; 4: dec ecx; 6: jnz 2; 8: mov [rdi], ecx; a: dec
	 * edx; c: jnz 0; e: mov [rsi], edx; 10: ret */
	uint64_t ip = CODE(0, "\x8b\x03\x89\x06\xff\xc9\x75\xfa\x89\x0f\xff\xca\x75\xf2\x89\x16"
			      "\xc3");
	const struct loop_nest *nest = nest_of(ip);
	unsigned outer = loop_at(nest, ip), inner = loop_at(nest, ip + 2);

	assert_int_equal(loop_access(nest, outer, ACCESS_LOAD), ip);
	assert_int_equal(loop_access(nest, outer, ACCESS_STORE), ip + 8);
	assert_int_equal(loop_access(nest, inner, ACCESS_STORE), ip + 2);
	assert_int_equal(loop_access(nest, inner, ACCESS_LOAD), 0);
	assert_false(loop_calls(nest, outer));
}

static bool counts(const char *bytes, size_t size, enum access_type type)
{
	uint64_t ip = code_place(32768, bytes, size);
	struct insn in;
	bool yes;

	assert_true(search_fetch(ip, &in));
	yes = loop_counts(&in, type);
	remove_code(ip);
	return yes;
}

#define COUNTS(bytes, type) counts(bytes, sizeof(bytes) - 1, type)

TEST(what_the_jvm_does_for_itself_does_not_count, code_setup)
{
	assert_true(COUNTS("\x8b\x03", ACCESS_LOAD));                       /* mov eax, [rbx] */
	assert_false(COUNTS("\x8b\x03", ACCESS_STORE));                     /* a load */
	assert_true(COUNTS("\x01\x03", ACCESS_STORE));                      /* add [rbx], eax */
	assert_true(COUNTS("\x01\x03", ACCESS_LOAD));                       /* and it loads */
	assert_true(COUNTS("\xf3\x48\xab", ACCESS_STORE));                  /* rep stosq */
	assert_true(COUNTS("\x89\x44\x24\x10", ACCESS_STORE));              /* mov [rsp+16], eax */
	assert_false(COUNTS("\x89\x84\x24\x00\xc0\xfe\xff", ACCESS_STORE)); /* [rsp-0x14000] */
	assert_false(COUNTS("\x49\x8b\x47\x10", ACCESS_LOAD));              /* mov rax, [r15+16] */
	assert_false(COUNTS("\x85\x00", ACCESS_LOAD));                      /* test [rax], eax */
	assert_true(COUNTS("\x85\x40\x08", ACCESS_LOAD));                   /* test [rax+8], eax */
	assert_false(COUNTS("\x50", ACCESS_STORE));                         /* push rax */
}

TEST(only_a_negative_request_is_a_traps, code_setup)
{
	assert_true(flow_is_trap_request((const uint8_t *)"\xbe\xf4\xff\xff\xff", 5));
	assert_false(flow_is_trap_request((const uint8_t *)"\xbe\x0c\x00\x00\x00", 5));
	assert_false(flow_is_trap_request((const uint8_t *)"\xbf\xf4\xff\xff\xff", 5));
}

/* ---------------------------------------------------------------- random graphs */

#define GRAPHS  24000u
#define NODES   24u
#define NOWHERE (-1)

enum flow { FALLS, BRANCHES, JUMPS, RETURNS, SWITCHES, PADS };

/* Node 0 is where methods begin; it is in no code. */
struct graph {
	unsigned nodes;
	enum flow flow[NODES];
	int target[NODES];
	unsigned start[NODES + 1]; /* offsets */
	bool edge[NODES][NODES];
	bool live[NODES]; /* the method's beginning leads there */
	bool dominates[NODES][NODES];
	bool body[NODES][NODES]; /* of the natural loop with this header */
	bool heads[NODES];
	bool entered[NODES]; /* from node 1 */
};

/* From node 0, never through the one that is taken out. */
static void reach(const struct graph *g, unsigned without, bool *reached)
{
	unsigned stack[NODES], depth = 0;

	memset(reached, 0, NODES * sizeof(*reached));
	if (without != 0) {
		reached[0] = true;
		stack[depth++] = 0;
	}
	while (depth > 0) {
		unsigned n = stack[--depth];

		for (unsigned to = 0; to < g->nodes; to++) {
			if (!g->edge[n][to] || reached[to] || to == without)
				continue;
			reached[to] = true;
			stack[depth++] = to;
		}
	}
}

static void find_dominators(struct graph *g)
{
	bool reached[NODES];

	struct graph entered = *g;

	/* Of what the method's entry leads to, ways from elsewhere do not count. */
	reach(g, NODES, g->live);
	for (unsigned n = 2; n < g->nodes; n++)
		entered.edge[0][n] = false;
	reach(&entered, NODES, entered.live);
	memcpy(g->entered, entered.live, sizeof(g->entered));
	for (unsigned n = 0; n < g->nodes; n++) {
		for (unsigned to = 0; to < g->nodes; to++) {
			reach(entered.live[to] ? &entered : g, n, reached);
			g->dominates[n][to] = g->live[n] && g->live[to] && !reached[to];
		}
	}
}

/* All that leads to where the loop jumps back from without passing its header. */
static void grow(struct graph *g, unsigned header, unsigned n)
{
	if (g->body[header][n])
		return;
	g->body[header][n] = true;
	for (unsigned from = 0; from < g->nodes; from++)
		if (g->edge[from][n] && g->live[from] && (g->entered[from] || !g->entered[n]))
			grow(g, header, from);
}

static void find_natural_loops(struct graph *g)
{
	for (unsigned header = 1; header < g->nodes; header++) {
		for (unsigned from = 1; from < g->nodes; from++) {
			if (!g->edge[from][header] || !g->dominates[header][from])
				continue;
			g->heads[header] = g->body[header][header] = true;
			grow(g, header, from);
		}
	}
}

/* Is there a cycle that no natural loop accounts for? */
static bool is_irreducible(const struct graph *g)
{
	bool leads[NODES][NODES];

	for (unsigned a = 0; a < g->nodes; a++)
		for (unsigned b = 0; b < g->nodes; b++)
			leads[a][b] = g->live[a] && g->edge[a][b] && !g->dominates[b][a];
	for (unsigned k = 0; k < g->nodes; k++)
		for (unsigned a = 0; a < g->nodes; a++)
			for (unsigned b = 0; b < g->nodes; b++)
				leads[a][b] |= leads[a][k] && leads[k][b];
	for (unsigned n = 0; n < g->nodes; n++)
		if (leads[n][n])
			return true;
	return false;
}

static void choose(struct graph *g, struct random *random)
{
	bool targeted[NODES + 1] = {false};

	memset(g, 0, sizeof(*g));
	g->nodes = 3 + random_below(random, NODES - 2);
	for (unsigned n = 1; n < g->nodes; n++) {
		static const enum flow flows[] = {FALLS,    FALLS, BRANCHES, BRANCHES, BRANCHES,
						  BRANCHES, JUMPS, RETURNS,  SWITCHES, PADS};
		unsigned near = 1 + random_below(random, 5);

		g->flow[n] = flows[random_below(random, 10)];
		if (g->flow[n] == SWITCHES && random_below(random, 3))
			g->flow[n] = BRANCHES;
		g->target[n] = NOWHERE;
		if (g->flow[n] != BRANCHES && g->flow[n] != JUMPS)
			continue;
		/* Near by as a rule, which makes nests; sometimes anywhere. */
		g->target[n] =
		    random_below(random, 4) == 0
			? 1 + (int)random_below(random, g->nodes - 1)
			: (random_below(random, 2) ? (int)(n + near) : (int)n - (int)near);
		if (g->target[n] < 1 || g->target[n] >= (int)g->nodes)
			g->target[n] = 1 + (int)random_below(random, g->nodes - 1);
		targeted[g->target[n]] = true;
	}
	/* What aligns nothing is not padding. */
	for (unsigned n = 1; n < g->nodes; n++)
		if (g->flow[n] == PADS && !targeted[n + 1])
			g->flow[n] = FALLS;
}

/* Nodes that nothing leads to hang on the last jump through memory before them, or on node 0. */
static void connect(struct graph *g)
{
	unsigned under = 0;
	bool led_to[NODES] = {false};

	for (unsigned n = 1; n < g->nodes; n++) {
		if ((g->flow[n] == FALLS || g->flow[n] == PADS || g->flow[n] == BRANCHES) &&
		    n + 1 < g->nodes)
			g->edge[n][n + 1] = led_to[n + 1] = true;
		if (g->target[n] != NOWHERE)
			g->edge[n][g->target[n]] = led_to[g->target[n]] = true;
	}
	g->edge[0][1] = true;
	for (unsigned n = 1; n < g->nodes; n++) {
		if (n > 1 && !led_to[n] && g->flow[n] != PADS)
			g->edge[under][n] = true;
		if (g->flow[n] == SWITCHES)
			under = n;
	}
}

/* The graph as machine code. */
static uint32_t encode(struct graph *g, uint8_t *code)
{
	static const uint8_t nop[] = {0x66, 0x90}, increment[] = {0xff, 0xc0},
			     jump[] = {0xff, 0x23};
	static const unsigned bytes[] = {
	    [FALLS] = 0, [BRANCHES] = 6, [JUMPS] = 5, [RETURNS] = 1, [SWITCHES] = 2, [PADS] = 0};

	g->start[1] = 0;
	for (unsigned n = 1; n < g->nodes; n++)
		g->start[n + 1] = g->start[n] + 2 + bytes[g->flow[n]];
	for (unsigned n = 1; n < g->nodes; n++) {
		uint8_t *at = code + g->start[n];
		uint32_t distance = 0;

		if (g->target[n] != NOWHERE)
			distance = g->start[g->target[n]] - g->start[n + 1];
		memcpy(at, g->flow[n] == PADS ? nop : increment, 2);
		at += 2;
		if (g->flow[n] == BRANCHES)
			*at++ = 0x0f;
		if (g->flow[n] == BRANCHES || g->flow[n] == JUMPS) {
			*at++ = g->flow[n] == JUMPS ? 0xe9 : 0x84;
			memcpy(at, &distance, sizeof(distance));
		} else if (g->flow[n] == RETURNS) {
			*at = 0xc3;
		} else if (g->flow[n] == SWITCHES) {
			memcpy(at, jump, 2);
		}
	}
	return g->start[g->nodes];
}

static unsigned count_body(const struct graph *g, unsigned header)
{
	unsigned count = 0;

	for (unsigned n = 0; n < g->nodes; n++)
		count += g->body[header][n];
	return count;
}

/* The header of the smallest natural loop that the node is in, 0 for none. */
static unsigned innermost(const struct graph *g, unsigned n)
{
	unsigned found = 0;

	for (unsigned header = 1; header < g->nodes; header++)
		if (g->heads[header] && g->body[header][n] &&
		    (!found || count_body(g, header) < count_body(g, found)))
			found = header;
	return found;
}

static bool is_right(const struct graph *g, const struct loop_nest *nest, uint64_t code)
{
	for (unsigned n = 1; n < g->nodes; n++) {
		unsigned loop = loop_at(nest, code + g->start[n]), inner = innermost(g, n);

		if (loop_at(nest, code + g->start[n + 1] - 1) != loop ||
		    loop_header(nest, loop) != (inner ? code + g->start[inner] : 0))
			return false;
		for (unsigned header = 1; header < g->nodes; header++)
			if (loop_has_around(nest, loop, code + g->start[header]) !=
			    (g->heads[header] && g->body[header][n]))
				return false;
	}
	return true;
}

static void print(const struct graph *g)
{
	static const char *const names[] = {"falls",   "branches", "jumps",
					    "returns", "switches", "pads"};

	for (unsigned n = 1; n < g->nodes; n++)
		print_message("%u: %s %d; in %u\n", n, names[g->flow[n]], g->target[n],
			      innermost(g, n));
}

/* A cycle that can be entered in two places is no loop of its own, since none of its blocks
 * dominates the others: what is in it belongs to the natural loop around it, or to none. What only
 * a cycle leads to that nothing leads into is in no loop. */
TEST(random_graphs_have_the_loops_that_definitions_say, code_setup)
{
	struct random random = {.state = 11};
	unsigned irreducible = 0, loops = 0, padded = 0;
	struct graph g;

	for (unsigned i = 0; i < GRAPHS; i++) {
		struct code_blob blob = {
		    .start = (uintptr_t)code_area, .serial = i + 1, .type = CODE_COMPILED};
		const struct loop_nest *nest;

		/* As between two windows: room is made for more. */
		if (i % 512 == 0) {
			loops_release();
			assert_int_equal(loops_init(), 0);
		}
		choose(&g, &random);
		connect(&g);
		blob.size = encode(&g, code_area);
		find_dominators(&g);
		find_natural_loops(&g);
		nest = loops_of(&blob);
		assert_non_null(nest);
		if (!is_right(&g, nest, blob.start)) {
			print(&g);
			fail();
		}
		irreducible += is_irreducible(&g);
		for (unsigned n = 1; n < g.nodes; n++) {
			loops += g.heads[n];
			padded += g.flow[n] == PADS && !g.live[n];
		}
	}
	print_message("%u irreducible, %u loops, %u padding\n", irreducible, loops, padded);
	assert_true(irreducible > GRAPHS / 10 && irreducible < GRAPHS * 9 / 10);
	assert_true(loops > GRAPHS && padded > GRAPHS / 20);
}
