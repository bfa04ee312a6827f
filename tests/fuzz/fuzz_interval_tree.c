/*
 * Fuzzes sequences of operations on the interval tree. libFuzzer entry point.
 *
 * Each operation is done on the tree and on a list (tests/unit/support/interval_model.h), and a
 * difference aborts. The first two bytes choose the limit and the alignment of addresses. An
 * operation is a byte that says what, and its arguments: 2 bytes an address, 1 byte a size, an id
 * or a count. The moves of a batch come from few bytes, so that small inputs make batches large
 * enough for a rebuild.
 */
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/support/interval_model.h"

#define OPERATIONS_MAX 600u
#define BATCH_MAX      255u

struct input {
	const uint8_t *data;
	size_t size;
	unsigned int unit; /* addresses are shifted left by this */
};

/* 0 when there is no more. */
static uint32_t take_byte(struct input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

/* The lowest addresses, the highest, or some far apart. */
static uint64_t take_address(struct input *in)
{
	uint32_t high = take_byte(in);
	uint64_t address = (uint64_t)((high << 8 & 0x3f00) | take_byte(in)) << in->unit;

	if (high >= 0xc0)
		return UINT64_MAX - address;
	return high >= 0x80 ? address << 36 : address;
}

static uint64_t take_size(struct input *in)
{
	uint32_t size = take_byte(in);

	return size >= 0xf0 ? UINT64_MAX >> (size & 0x0f) : (uint64_t)size << in->unit;
}

/* Mostly that of a live node. */
static uint32_t node_of(const struct interval_model *m, uint32_t choice)
{
	return m->count > 0 && choice < 0xf0 ? m->list[choice % m->count].node : choice - 0xf0;
}

static void relocate(struct interval_model *m, struct input *in)
{
	struct interval_move moves[BATCH_MAX];
	uint32_t dead[BATCH_MAX] = {0};
	uint32_t move_count = take_byte(in), dead_count = take_byte(in) / 8;
	uint32_t choice = take_byte(in), step = take_byte(in), exception = take_byte(in);
	uint64_t start = take_address(in), stride = (uint64_t)take_byte(in) << in->unit;

	for (uint32_t i = 0; i < move_count; i++) {
		moves[i].node = node_of(m, (choice + i * step) & 0xff);
		moves[i].start = i == exception ? take_address(in) : start + stride * i;
	}
	for (uint32_t i = 0; i < dead_count; i++)
		dead[i] = node_of(m, (take_byte(in) + i) & 0xff);
	model_relocate(m, moves, move_count, dead, dead_count);
}

/* A row of equal intervals, as allocation makes them. */
static void insert_row(struct interval_model *m, struct input *in)
{
	uint64_t start = take_address(in), size = take_byte(in);
	uint32_t count = take_byte(in);

	for (uint32_t i = 0; i < count && m->next_object < m->object_room; i++)
		(void)model_insert(m, start + (size << in->unit) * i, size << in->unit);
}

static void operate(struct interval_model *m, struct input *in)
{
	uint64_t address;

	switch (take_byte(in) % 8) {
	case 0:
		relocate(m, in);
		break;
	case 1:
		model_remove(m, node_of(m, take_byte(in)));
		break;
	case 2:
		insert_row(m, in);
		break;
	case 3 ... 5:
		address = take_address(in);
		if (m->next_object < m->object_room)
			(void)model_insert(m, address, take_size(in));
		break;
	default:
		(void)model_stab(m, take_address(in) - 1 + take_byte(in) % 3);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.data = data, .size = size};
	struct interval_model m;
	uint32_t limit = take_byte(&in);

	in.unit = take_byte(&in) % 4;
	model_init(&m, limit, OPERATIONS_MAX * 4);
	for (uint32_t i = 0; i < OPERATIONS_MAX && in.size > 0; i++) {
		operate(&m, &in);
		if (i % 8 == 0)
			(void)model_check(&m);
	}
	(void)model_check(&m);
	model_release(&m);
	return 0;
}
