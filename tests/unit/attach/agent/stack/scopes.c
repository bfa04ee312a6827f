/* Debug information that is made up: two calls inlined at one place of a method, none at another.
 */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/call.h"
#include "attach/agent/stack/scopes.h"
#include "tests/unit/support/agent/fake_scopes.h"

/* Of what is made up here; the real ones come from HotSpot's tables. */
static struct {
	uint32_t pcs, pcs_end, metadata, padding;
	uint64_t data;
	uint64_t immutable, mutable; /* where it is apart */
	uint64_t methods[2];
	uint8_t bytes[64];
	int32_t descs[5][4];
} nmethod; /* in HotSpot's order */

static struct scope_layout layout;

#define BEGIN UINT64_C(0x100000)

/* Methods: nobody looks at what is there. */
#define ROOT    UINT64_C(0x5008)
#define INLINED UINT64_C(0x6008)

static uint32_t offset_in_nmethod(const void *part)
{
	return (uint32_t)((uintptr_t)part - (uintptr_t)&nmethod);
}

static void make(uint8_t base)
{
	static const int32_t pcs[] = {-1, 16, 32, 48, INT32_MAX};
	uint8_t *at = nmethod.bytes + 1; /* offset 0 is none */
	uint32_t outer = 1, inner;

	memset(nmethod.bytes, 0, sizeof(nmethod.bytes));
	at = fake_scope(at, 0, 1, 700, base);
	inner = (uint32_t)(at - nmethod.bytes);
	(void)fake_scope(at, outer, 2, -1, base);
	memset(nmethod.descs, 0, sizeof(nmethod.descs));
	for (unsigned i = 0; i < 5; i++)
		nmethod.descs[i][0] = pcs[i];
	nmethod.descs[1][1] = (int32_t)outer;
	nmethod.descs[2][1] = (int32_t)inner;
	nmethod.pcs = offset_in_nmethod(nmethod.descs);
	nmethod.pcs_end = offset_in_nmethod(nmethod.descs + 5);
	nmethod.metadata = offset_in_nmethod(nmethod.methods);
	nmethod.data = (uintptr_t)nmethod.bytes;
	layout.byte_base = base;
}

static int setup(void **state)
{
	(void)state;
	layout = (struct scope_layout){.known = true,
				       .pcs = offset_in_nmethod(&nmethod.pcs),
				       .pcs_end = offset_in_nmethod(&nmethod.pcs_end),
				       .data = offset_in_nmethod(&nmethod.data),
				       .metadata = offset_in_nmethod(&nmethod.metadata)};
	nmethod.methods[0] = ROOT;
	nmethod.methods[1] = INLINED;
	make(1);
	return safe_read_init();
}

static unsigned look(uint64_t offset, bool innermost, struct scope_call *calls)
{
	return scopes_at(&layout, (uintptr_t)&nmethod, BEGIN, BEGIN + offset, innermost, ROOT,
			 calls);
}

TEST(what_is_inlined_comes_first, setup)
{
	struct scope_call calls[SCOPES_MAX];

	for (uint8_t base = 0; base < 2; base++) {
		make(base);
		assert_int_equal(look(32, false, calls), 2);
		assert_int_equal(calls[0].method, INLINED);
		assert_int_equal(calls[0].bci, -1);
		assert_int_equal(calls[1].method, ROOT);
		assert_int_equal(calls[1].bci, 700);
		assert_int_equal(look(16, false, calls), 1);
	}
}

TEST(a_caller_stands_where_there_is_some_and_the_innermost_before_it, setup)
{
	struct scope_call calls[SCOPES_MAX];

	assert_int_equal(look(17, false, calls), 0);
	assert_int_equal(look(17, true, calls), 2);
	assert_int_equal(look(16, true, calls), 2); /* as the JVM: behind the pc */
	assert_int_equal(look(15, true, calls), 1);
	/* The next place has no calls. */
	assert_int_equal(look(32, true, calls), 0);
	/* It is behind all code. */
	assert_int_equal(look(48, true, calls), 1);
	assert_int_equal(calls[0].method, ROOT);
	assert_int_equal(calls[0].bci, CALL_BCI_UNKNOWN);
	assert_int_equal(look(48, false, calls), 0);
}

TEST(the_last_call_is_of_the_method_that_was_compiled, setup)
{
	struct scope_call calls[SCOPES_MAX];

	assert_int_equal(
	    scopes_at(&layout, (uintptr_t)&nmethod, BEGIN, BEGIN + 32, false, INLINED, calls), 0);
}

TEST(a_scope_of_no_method_or_without_an_end_is_no_answer, setup)
{
	struct scope_call calls[SCOPES_MAX];
	uint32_t inner = (uint32_t)nmethod.descs[2][1];

	(void)fake_scope(nmethod.bytes + inner, 1, 0, 5, 1);
	assert_int_equal(look(32, false, calls), 0);
	(void)fake_scope(nmethod.bytes + inner, inner, 2, 5, 1); /* its own caller */
	assert_int_equal(look(32, false, calls), 0);
	assert_int_equal(look(16, false, calls), 1);
	layout.known = false;
	assert_int_equal(look(16, false, calls), 0);
}

/* As from JDK 25 on: what is not in the nmethod may be freed at any time. */
static void put_apart(void)
{
	nmethod.immutable = (uintptr_t)&nmethod;
	nmethod.mutable = (uintptr_t)&nmethod;
	nmethod.padding = offset_in_nmethod(nmethod.bytes);
	layout.apart = true;
	layout.data = offset_in_nmethod(&nmethod.padding);
	layout.immutable_data = offset_in_nmethod(&nmethod.immutable);
	layout.mutable_data = offset_in_nmethod(&nmethod.mutable);
}

TEST(memory_that_is_not_there_is_no_answer, setup)
{
	struct scope_call calls[SCOPES_MAX];

	put_apart();
	assert_int_equal(look(32, false, calls), 2);
	assert_int_equal(calls[0].method, INLINED);
	assert_int_equal(calls[1].bci, 700);
	nmethod.mutable = 64;
	assert_int_equal(look(32, false, calls), 0);
	nmethod.mutable = (uintptr_t)&nmethod;
	nmethod.immutable = 64;
	assert_int_equal(look(32, false, calls), 0);
	assert_int_equal(look(32, true, calls), 0);
}

struct visited {
	uint32_t offsets[8];
	unsigned counts[8];
	struct scope_call innermost[8];
	unsigned count, most;
};

static bool visit(void *arg, uint32_t offset, const struct scope_call *calls, unsigned count)
{
	struct visited *v = arg;

	v->offsets[v->count] = offset;
	v->counts[v->count] = count;
	v->innermost[v->count++] = calls[0];
	return v->count < v->most;
}

static struct visited visit_all(uint32_t size, unsigned most)
{
	struct visited v = {.most = most};

	scopes_each(&layout, (uintptr_t)&nmethod, size, ROOT, visit, &v);
	return v;
}

TEST(all_places_are_visited_by_offset, setup)
{
	struct visited v;

	for (uint8_t base = 0; base < 2; base++) {
		make(base);
		v = visit_all(1000, 8);
		assert_int_equal(v.count, 2); /* the third has no scope */
		assert_int_equal(v.offsets[0], 16);
		assert_int_equal(v.counts[0], 1);
		assert_int_equal(v.innermost[0].bci, 700);
		assert_int_equal(v.offsets[1], 32);
		assert_int_equal(v.counts[1], 2);
		assert_int_equal(v.innermost[1].bci, -1);
		assert_int_equal(v.innermost[1].method, INLINED);
	}
	assert_int_equal(visit_all(1000, 1).count, 1);
	assert_int_equal(visit_all(32, 8).count, 1); /* code that is no longer */
}

TEST(places_that_do_not_end_with_the_method_are_left_out, setup)
{
	struct visited v;

	(void)fake_scope(nmethod.bytes + nmethod.descs[2][1], 0, 2, 5, 1);
	v = visit_all(1000, 8);
	assert_int_equal(v.count, 1);
	assert_int_equal(v.offsets[0], 16);
	nmethod.methods[0] = INLINED; /* of another method altogether */
	nmethod.methods[1] = INLINED;
	assert_int_equal(visit_all(1000, 8).count, 0);
}

TEST(places_of_an_nmethod_that_is_gone_are_none, setup)
{
	nmethod.data = 64;
	assert_int_equal(visit_all(1000, 8).count, 0);
	nmethod.pcs = 0;
	nmethod.pcs_end = INT32_MAX;
	(void)visit_all(1000, 8);
}

static uint32_t offsets_below(uint32_t size, uint32_t *offsets, uint32_t max)
{
	static struct page_reader reader;

	page_reader_forget(&reader);
	return scopes_list(&layout, &reader, (uintptr_t)&nmethod, (uintptr_t)(&nmethod + 1), size,
			   offsets, max);
}

TEST(an_nmethod_is_read_as_a_whole, setup)
{
	uint32_t offsets[8];

	for (uint8_t base = 0; base < 2; base++) {
		make(base);
		assert_int_equal(offsets_below(1000, offsets, 8), 2);
		assert_int_equal(offsets[0], 16);
		assert_int_equal(offsets[1], 32);
	}
	assert_int_equal(offsets_below(31, offsets, 8), 1);
	assert_int_equal(offsets_below(1000, offsets, 1), 1);
	assert_int_equal(offsets_below(1000, offsets, 0), 0);
}

/* It may be half made, or half of another one. */
TEST(what_an_nmethod_says_of_itself_is_not_believed, setup)
{
	uint32_t offsets[8], good = nmethod.pcs_end;

	nmethod.pcs_end = INT32_MAX;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
	nmethod.pcs_end = good;
	nmethod.metadata = nmethod.pcs;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
	make(1);
	nmethod.data = 64;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
	make(1);
	nmethod.descs[2][0] = 8; /* places that do not ascend */
	assert_int_equal(offsets_below(1000, offsets, 8), 1);
	make(1);
	nmethod.descs[1][1] = -1; /* a place without calls */
	assert_int_equal(offsets_below(1000, offsets, 8), 1);
	assert_int_equal(offsets[0], 32);
}

TEST(debug_information_that_is_apart_is_read_safely, setup)
{
	uint32_t offsets[8];

	put_apart();
	assert_int_equal(offsets_below(1000, offsets, 8), 2);
	assert_int_equal(offsets[1], 32);
	assert_int_equal(visit_all(1000, 8).count, 2);
	nmethod.mutable = 64;
	assert_int_equal(offsets_below(1000, offsets, 8), 2);
	assert_int_equal(visit_all(1000, 8).count, 0);
	nmethod.immutable = 64;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
	nmethod.pcs_end = INT32_MAX;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
}

/* ---------------------------------------------------------------- null checks */

/* An nmethod with nothing but its table, which begins with how many there are. */
static struct {
	uint32_t begin, end;
	uint64_t immutable;
	uint16_t short_begin, short_end;
	uint32_t table[5];
} checked;

static struct scope_layout checks_layout(bool apart)
{
	struct scope_layout l = {.known = true, .apart = apart, .checks_known = true};

	l.checks = (uint32_t)((uintptr_t)(apart ? (void *)&checked.short_begin : &checked.begin) -
			      (uintptr_t)&checked);
	l.checks_end = (uint32_t)((uintptr_t)(apart ? (void *)&checked.short_end : &checked.end) -
				  (uintptr_t)&checked);
	l.immutable_data = (uint32_t)((uintptr_t)&checked.immutable - (uintptr_t)&checked);
	checked.begin = checked.short_begin =
	    (uint16_t)((uintptr_t)checked.table - (uintptr_t)&checked);
	checked.end = checked.short_end =
	    (uint16_t)(checked.begin + (uint32_t)sizeof(checked.table));
	checked.immutable = (uintptr_t)&checked;
	memcpy(checked.table, (const uint32_t[]){2, 16, 100, 20, 120}, sizeof(checked.table));
	return l;
}

TEST(null_checks_are_copied_wherever_they_lie, setup)
{
	struct code_null_check checks[4];

	for (int apart = 0; apart < 2; apart++) {
		struct scope_layout l = checks_layout(apart);

		assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 2);
		assert_int_equal(checks[0].offset, 16);
		assert_int_equal(checks[0].continuation, 100);
		assert_int_equal(checks[1].offset, 20);
		assert_int_equal(checks[1].continuation, 120);
		assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 1), 1);
	}
}

TEST(a_table_of_null_checks_that_cannot_be_is_none, setup)
{
	struct scope_layout l = checks_layout(false);
	struct code_null_check checks[4];

	checked.table[0] = 3; /* More than there is room for. */
	assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 0);
	checked.table[0] = UINT32_MAX;
	assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 0);
	checked.end = checked.begin; /* What lies there is something else. */
	checked.table[0] = 2;
	assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 0);
	l = checks_layout(true);
	checked.immutable = 64; /* It is gone. */
	assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 0);
	l = checks_layout(false);
	l.checks_known = false;
	assert_int_equal(scopes_null_checks(&l, (uintptr_t)&checked, checks, 4), 0);
}
