/* Debug information that is made up: two calls inlined at one place of a method, none at another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/scopes.h"

/* Of what is made up here; the real ones come from HotSpot's tables. */
static struct {
	uint32_t pcs, pcs_end, metadata, padding;
	uint64_t data;
	uint64_t immutable, mutable; /* where it is apart */
	uint64_t methods[2];
	uint8_t bytes[64];
	int32_t descs[5][4];
} nmethod; /* in HotSpot's order */

static struct {
	uint64_t constants;
	uint16_t number;
} consts[2];
static uint64_t const_of[2]; /* Methods: their one field */
static uint64_t holder_of_pool, ids_of_holder;
static uint64_t ids[3];
static uint64_t slots[2]; /* what ids are addresses of */
static struct scope_layout layout;

#define BEGIN UINT64_C(0x100000)

static uint32_t offset_in_nmethod(const void *part)
{
	return (uint32_t)((uintptr_t)part - (uintptr_t)&nmethod);
}

/* A number of two bytes where it needs them (UNSIGNED5). */
static uint8_t *put(uint8_t *to, uint32_t value, uint8_t base)
{
	if (value < 192u - base) {
		*to++ = (uint8_t)(value + base);
		return to;
	}
	value -= 192u - base;
	*to++ = (uint8_t)(192 + value % 64);
	*to++ = (uint8_t)(value / 64 + base);
	return to;
}

static uint8_t *put_scope(uint8_t *to, uint32_t sender, uint32_t method, int32_t bci, uint8_t base)
{
	return put(put(put(to, sender, base), method, base), (uint32_t)(bci + 1), base);
}

static void make(uint8_t base)
{
	static const int32_t pcs[] = {-1, 16, 32, 48, INT32_MAX};
	uint8_t *at = nmethod.bytes + 1; /* offset 0 is none */
	uint32_t outer = 1, inner;

	memset(nmethod.bytes, 0, sizeof(nmethod.bytes));
	at = put_scope(at, 0, 1, 700, base);
	inner = (uint32_t)(at - nmethod.bytes);
	(void)put_scope(at, outer, 2, -1, base);
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
				       .ids_are_pointers = true,
				       .pcs = offset_in_nmethod(&nmethod.pcs),
				       .pcs_end = offset_in_nmethod(&nmethod.pcs_end),
				       .data = offset_in_nmethod(&nmethod.data),
				       .metadata = offset_in_nmethod(&nmethod.metadata),
				       .const_number = 8};
	ids[0] = 2;
	ids_of_holder = (uintptr_t)ids;
	holder_of_pool = (uintptr_t)&ids_of_holder;
	for (unsigned i = 0; i < 2; i++) {
		consts[i].constants = (uintptr_t)&holder_of_pool;
		consts[i].number = (uint16_t)i;
		const_of[i] = (uintptr_t)&consts[i];
		nmethod.methods[i] = (uintptr_t)&const_of[i];
		slots[i] = (uintptr_t)&const_of[i];
		ids[1 + i] = (uintptr_t)&slots[i];
	}
	make(1);
	if (scopes_init() < 0)
		return -1;
	scopes_release(); /* What another test left. */
	return safe_read_init();
}

static unsigned look(uint64_t offset, bool innermost, struct agct_frame *calls)
{
	return scopes_at(&layout, (uintptr_t)&nmethod, BEGIN, BEGIN + offset, innermost,
			 (uintptr_t)&slots[0], calls);
}

static void what_is_inlined_comes_first(void **state)
{
	struct agct_frame calls[SCOPES_MAX];

	(void)state;
	for (uint8_t base = 0; base < 2; base++) {
		make(base);
		assert_int_equal(look(32, false, calls), 2);
		assert_ptr_equal(calls[0].method, &slots[1]);
		assert_int_equal(calls[0].bci, -1);
		assert_ptr_equal(calls[1].method, &slots[0]);
		assert_int_equal(calls[1].bci, 700);
		assert_int_equal(look(16, false, calls), 1);
	}
}

static void a_caller_stands_where_there_is_some_and_the_innermost_before_it(void **state)
{
	struct agct_frame calls[SCOPES_MAX];

	(void)state;
	assert_int_equal(look(17, false, calls), 0);
	assert_int_equal(look(17, true, calls), 2);
	assert_int_equal(look(16, true, calls), 2); /* as the JVM: behind the pc */
	assert_int_equal(look(15, true, calls), 1);
	/* The next place has no calls. */
	assert_int_equal(look(32, true, calls), 0);
	/* It is behind all code. */
	assert_int_equal(look(48, true, calls), 1);
	assert_ptr_equal(calls[0].method, &slots[0]);
	assert_int_equal(calls[0].bci, SCOPES_BCI_UNKNOWN);
	assert_int_equal(look(48, false, calls), 0);
}

static void the_last_call_is_of_the_method_that_was_compiled(void **state)
{
	struct agct_frame calls[SCOPES_MAX];

	(void)state;
	assert_int_equal(scopes_at(&layout, (uintptr_t)&nmethod, BEGIN, BEGIN + 32, false,
				   (uintptr_t)&slots[1], calls),
			 0);
}

static void an_id_leads_back_to_its_method(void **state)
{
	struct agct_frame calls[SCOPES_MAX];

	(void)state;
	assert_int_equal(look(32, false, calls), 2);
	slots[1] = 0; /* unloaded; it was remembered */
	assert_int_equal(look(32, false, calls), 0);
	slots[1] = (uintptr_t)&const_of[1];
	ids[0] = 1; /* it has none */
	nmethod.methods[1] = (uintptr_t)&const_of[0] + 1;
	assert_int_equal(look(32, false, calls), 0);
}

static void what_was_read_is_remembered(void **state)
{
	struct agct_frame calls[SCOPES_MAX];
	uint64_t id;

	(void)state;
	assert_true(scopes_id_of(&layout, (uintptr_t)&const_of[1], &id));
	assert_int_equal(id, (uintptr_t)&slots[1]);
	const_of[1] = 16;
	assert_int_equal(look(32, false, calls), 2);
	assert_ptr_equal(calls[0].method, &slots[1]);
	scopes_release();
	assert_int_equal(look(32, false, calls), 0);
}

static void memory_that_is_not_there_is_no_answer(void **state)
{
	struct agct_frame calls[SCOPES_MAX];

	(void)state;
	nmethod.methods[1] = 64;
	assert_int_equal(look(32, false, calls), 0);
	layout.known = false;
	assert_int_equal(look(16, false, calls), 0);
}

struct visited {
	uint32_t offsets[8];
	unsigned counts[8];
	struct agct_frame innermost[8];
	unsigned count, most;
};

static bool visit(void *arg, uint32_t offset, const struct agct_frame *calls, unsigned count)
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

	scopes_each(&layout, (uintptr_t)&nmethod, size, (uintptr_t)&slots[0], visit, &v);
	return v;
}

static void all_places_are_visited_by_offset(void **state)
{
	struct visited v;

	(void)state;
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
		assert_ptr_equal(v.innermost[1].method, &slots[1]);
	}
	assert_int_equal(visit_all(1000, 1).count, 1);
	assert_int_equal(visit_all(32, 8).count, 1); /* code that is no longer */
}

static void a_call_without_an_id_is_left_out_and_those_around_it_stay(void **state)
{
	struct visited v;

	(void)state;
	nmethod.methods[1] = 64;
	v = visit_all(1000, 8);
	assert_int_equal(v.count, 2);
	assert_int_equal(v.counts[1], 1);
	assert_ptr_equal(v.innermost[1].method, &slots[0]);
	assert_int_equal(v.innermost[1].bci, 700);
	nmethod.methods[0] = 64; /* the compiled method itself: nothing is certain */
	assert_int_equal(visit_all(1000, 8).count, 0);
}

static void places_of_an_nmethod_that_is_gone_are_none(void **state)
{
	(void)state;
	nmethod.data = 64;
	assert_int_equal(visit_all(1000, 8).count, 0);
	nmethod.pcs = 0;
	nmethod.pcs_end = INT32_MAX;
	(void)visit_all(1000, 8);
}

struct met {
	uint64_t methods[8];
	unsigned count;
};

static void meet(void *arg, uint64_t method)
{
	struct met *met = arg;

	assert_true(met->count < 8);
	met->methods[met->count++] = method;
}

static uint32_t list(struct met *met, uint32_t size, uint32_t *offsets, uint32_t max)
{
	static struct page_reader reader;

	*met = (struct met){0};
	page_reader_forget(&reader);
	return scopes_list(&layout, &reader, (uintptr_t)&nmethod, (uintptr_t)(&nmethod + 1), size,
			   &(struct scopes_wanted){meet, met, offsets, max});
}

static struct met meet_all(void)
{
	uint32_t offsets[8];
	struct met met;

	(void)list(&met, 1000, offsets, 8);
	return met;
}

static uint32_t offsets_below(uint32_t size, uint32_t *offsets, uint32_t max)
{
	struct met met;

	return list(&met, size, offsets, max);
}

static void an_nmethod_is_read_as_a_whole(void **state)
{
	uint32_t offsets[8];
	struct met met;

	(void)state;
	for (uint8_t base = 0; base < 2; base++) {
		make(base);
		met = meet_all();
		assert_int_equal(met.count, 2);
		assert_int_equal(met.methods[0], nmethod.methods[0]);
		assert_int_equal(met.methods[1], nmethod.methods[1]);
		assert_int_equal(offsets_below(1000, offsets, 8), 2);
		assert_int_equal(offsets[0], 16);
		assert_int_equal(offsets[1], 32);
	}
	assert_int_equal(offsets_below(31, offsets, 8), 1);
	assert_int_equal(offsets_below(1000, offsets, 1), 1);
}

/* It may be half made, or half of another one. */
static void what_an_nmethod_says_of_itself_is_not_believed(void **state)
{
	uint32_t offsets[8], good = nmethod.pcs_end;

	(void)state;
	nmethod.pcs_end = INT32_MAX;
	assert_int_equal(offsets_below(1000, offsets, 8), 0);
	assert_int_equal(meet_all().count, 0);
	nmethod.pcs_end = good;
	nmethod.metadata = nmethod.pcs;
	assert_int_equal(meet_all().count, 0);
	make(1);
	nmethod.data = 64;
	assert_int_equal(meet_all().count, 0);
	make(1);
	nmethod.descs[1][1] = INT32_MAX;
	assert_int_equal(meet_all().count, 2); /* the other place's, with its sender */
	make(1);
	/* A scope that is its own sender, of a method that is none. */
	(void)put_scope(nmethod.bytes + 1, 1, 3, 0, 1);
	assert_true(meet_all().count <= 1);
	nmethod.descs[2][0] = 8; /* places that do not ascend */
	assert_int_equal(offsets_below(1000, offsets, 8), 1);
}

/* As from JDK 25 on: what is not in the nmethod may be freed at any time. */
static void debug_information_that_is_apart_is_read_safely(void **state)
{
	uint32_t offsets[8];
	struct met met;

	(void)state;
	nmethod.immutable = (uintptr_t)&nmethod;
	nmethod.mutable = (uintptr_t)&nmethod;
	nmethod.padding = offset_in_nmethod(nmethod.bytes);
	layout.apart = true;
	layout.data = offset_in_nmethod(&nmethod.padding);
	layout.immutable_data = offset_in_nmethod(&nmethod.immutable);
	layout.mutable_data = offset_in_nmethod(&nmethod.mutable);
	assert_int_equal(list(&met, 1000, offsets, 8), 2);
	assert_int_equal(offsets[1], 32);
	assert_int_equal(met.count, 2);
	nmethod.mutable = 64;
	assert_int_equal(list(&met, 1000, offsets, 8), 2);
	assert_int_equal(met.count, 0);
	nmethod.immutable = 64;
	assert_int_equal(list(&met, 1000, offsets, 8), 0);
	nmethod.pcs_end = INT32_MAX;
	assert_int_equal(list(&met, 1000, offsets, 8), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(what_is_inlined_comes_first),
	    TEST(a_caller_stands_where_there_is_some_and_the_innermost_before_it),
	    TEST(the_last_call_is_of_the_method_that_was_compiled),
	    TEST(an_id_leads_back_to_its_method),
	    TEST(what_was_read_is_remembered),
	    TEST(memory_that_is_not_there_is_no_answer),
	    TEST(all_places_are_visited_by_offset),
	    TEST(a_call_without_an_id_is_left_out_and_those_around_it_stay),
	    TEST(places_of_an_nmethod_that_is_gone_are_none),
	    TEST(an_nmethod_is_read_as_a_whole),
	    TEST(what_an_nmethod_says_of_itself_is_not_believed),
	    TEST(debug_information_that_is_apart_is_read_safely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
