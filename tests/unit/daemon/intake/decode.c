#include "tests/unit/support/test.h"

#include "tests/unit/support/decoded_frame.h"

#define ARENA_BYTES ((size_t)4 << 20)

static uint64_t random_state = 88172645463325252;

/* xorshift64*: the same sequence everywhere; small numbers as likely as large ones. */
static uint64_t random_number(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717) >> random_state % 64;
}

/* A batch with some of everything, each field with any value, or not there at all. */
struct sample {
	Jxp__Allocation allocations[3], *allocation_list[3];
	Jxp__MemoryAccess accesses[3], *access_list[3];
	Jxp__Positions positions, *position_list[1];
	Jxp__Node node, *node_list[1];
	uint32_t died[2];
	Jxp__Batch batch;
	Jxp__AgentFrame frame;
};

static void fill_allocation(Jxp__Allocation *a)
{
	*a = (Jxp__Allocation)JXP__ALLOCATION__INIT;
	a->object = (uint32_t)random_number();
	a->tid = (uint32_t)random_number();
	a->cpu = (uint32_t)random_number() % 2;
	a->epoch = (uint32_t)random_number();
	a->time_ns = random_number();
	a->address = random_number();
	a->size_bytes = random_number();
	a->weight = (double)random_number() / 7;
	a->class_id = (uint32_t)random_number();
	a->node = (uint32_t)random_number();
}

static void fill_access(Jxp__MemoryAccess *a)
{
	*a = (Jxp__MemoryAccess)JXP__MEMORY_ACCESS__INIT;
	a->tid = (uint32_t)random_number();
	a->cpu = (uint32_t)random_number() % 2;
	a->epoch = (uint32_t)random_number();
	a->time_ns = random_number();
	a->address = random_number();
	a->length = (uint32_t)random_number();
	a->store = random_number() % 2 == 0;
	a->region = (Jxp__Region)(random_number() % 5);
	a->node = (uint32_t)random_number();
	a->instruction = (uint32_t)random_number();
	a->weight = random_number();
	a->location = (uint32_t)random_number();
	a->object_bytes = random_number();
}

static void sample_init(struct sample *s)
{
	s->batch = (Jxp__Batch)JXP__BATCH__INIT;
	s->frame = (Jxp__AgentFrame)JXP__AGENT_FRAME__INIT;
	s->positions = (Jxp__Positions)JXP__POSITIONS__INIT;
	s->node = (Jxp__Node)JXP__NODE__INIT;
	for (int i = 0; i < 3; i++) {
		fill_allocation(s->allocation_list[i] = &s->allocations[i]);
		fill_access(s->access_list[i] = &s->accesses[i]);
	}
	s->positions.died = s->died;
	s->positions.n_died = 2;
	s->position_list[0] = &s->positions;
	s->node.bci = -1; /* A number of 10 bytes, for protobuf-c. */
	s->node_list[0] = &s->node;
	s->batch.allocations = s->allocation_list;
	s->batch.n_allocations = random_number() % 4;
	s->batch.accesses = s->access_list;
	s->batch.n_accesses = random_number() % 4;
	s->batch.positions = s->position_list;
	s->batch.n_positions = random_number() % 2;
	s->batch.nodes = s->node_list;
	s->batch.n_nodes = random_number() % 2;
	s->batch.time_ns = random_number();
	s->frame.body_case = JXP__AGENT_FRAME__BODY_BATCH;
	s->frame.batch = &s->batch;
}

static int set_up(void **state)
{
	static struct arena arena;

	arena_init(&arena, ARENA_BYTES);
	*state = &arena;
	return 0;
}

static int tear_down(void **state)
{
	arena_release(*state);
	return 0;
}

TEST(any_batch_is_what_protobuf_decodes, set_up, tear_down)
{
	for (int i = 0; i < 2000; i++) {
		struct sample s;
		uint8_t *bytes;
		size_t size;

		sample_init(&s);
		bytes = packed_frame(&s.frame, &size);
		assert_true(decoded_frame_agrees(*state, bytes, size));
		free(bytes);
	}
}

TEST(a_batch_cut_anywhere_is_judged_as_protobuf_does, set_up, tear_down)
{
	struct sample s;
	uint8_t *bytes;
	size_t size;

	sample_init(&s);
	s.batch.n_allocations = s.batch.n_accesses = 2;
	bytes = packed_frame(&s.frame, &size);
	for (size_t cut = 0; cut < size; cut++) {
		/* Of its own, so that a sanitizer sees what is read beyond it. */
		uint8_t *part = malloc(cut + 1);

		assert_non_null(part);
		memcpy(part + 1, bytes, cut);
		(void)decoded_frame_agrees(*state, part + 1, cut);
		free(part);
	}
	free(bytes);
}

TEST(a_batch_with_any_byte_changed_is_judged_as_protobuf_does, set_up, tear_down)
{
	size_t well_formed = 0, malformed = 0;

	for (int i = 0; i < 300; i++) {
		struct sample s;
		uint8_t *bytes;
		size_t size;

		sample_init(&s);
		bytes = packed_frame(&s.frame, &size);
		for (int change = 0; change < 40; change++) {
			size_t at = random_number() % size;
			uint8_t was = bytes[at];

			bytes[at] ^= (uint8_t)(1u << random_number() % 8);
			if (decoded_frame_agrees(*state, bytes, size))
				well_formed++;
			else
				malformed++;
			bytes[at] = was;
		}
		free(bytes);
	}
	assert_true(well_formed > 1000 && malformed > 1000);
}

TEST(what_no_encoder_writes_is_judged_as_protobuf_does, set_up, tear_down)
{
	static const struct {
		const char *bytes;
		size_t size;
	} frames[] = {
	    {"", 0},
	    {"\x12\x00", 2},                                  /* an empty batch */
	    {"\x12\x02\x62\x00", 4},                          /* ... of an empty allocation */
	    {"\x12\x02\x72\x00", 4},                          /* ... of an empty access */
	    {"\x12\x04\x72\x02\x18\x05\x12\x02\x62\x00", 10}, /* two batches, to be merged */
	    {"\x12\x04\x72\x02\x60\x05", 6},                  /* an access with a field 12 */
	    {"\x12\x05\x72\x03\x80\x01\x05", 7},              /* ... with a field 16 */
	    {"\x12\x05\x72\x03\x18\x85\x00", 7},              /* a number longer than it need be */
	    {"\x12\x04\x72\x02\x1a\x00", 6},                  /* another wire type */
	    {"\x12\x06\x72\x04\x18\x05\x18\x06", 8},          /* a field twice */
	    {"\x12\x09\x62\x07\x41\x00\x00\x00\x00\x00\x00", 11}, /* a double cut short */
	    {"\x12\x0f\x72\x0d\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x01", 17},
	    {"\x12\x0e\x72\x0c\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x18\x01", 16},
	    {"\x12\x0d\x72\x0b\x20\xff\xff\xff\xff\xff\xff\xff\x7f\x18\x01", 15},
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		(void)decoded_frame_agrees(*state, (const uint8_t *)frames[i].bytes,
					   frames[i].size);
}

TEST(what_needs_more_than_the_arena_gives_is_refused, set_up, tear_down)
{
	/* Each of two bytes, and of more than a hundred when it is decoded. */
	enum { ACCESSES = 100000 };
	static uint8_t bytes[2 * ACCESSES + 8];
	size_t used = 0;

	bytes[used++] = 2 << 3 | 2;
	bytes[used++] = (2 * ACCESSES & 0x7f) | 0x80;
	bytes[used++] = (2 * ACCESSES >> 7 & 0x7f) | 0x80;
	bytes[used++] = 2 * ACCESSES >> 14;
	for (size_t i = 0; i < ACCESSES; i++) {
		bytes[used++] = 14 << 3 | 2;
		bytes[used++] = 0;
	}
	assert_null(decode_agent_frame(*state, bytes, used));
	assert_true(((struct arena *)*state)->total <= ARENA_BYTES);
}
