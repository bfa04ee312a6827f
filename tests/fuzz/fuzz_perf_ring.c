/*
 * Fuzzes the reader of perf rings. libFuzzer entry point.
 *
 * The first 8 bytes choose the sample_type's fields, the size of the ring, where in it the tail
 * starts and how far ahead the head is; the rest is what the ring holds. Read twice: the second
 * reading must find an empty ring.
 */
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/perf/events.h"
#include "common/perf/ring.h"

#define PARAMETERS 8u

static uint64_t sample_type_of(uint8_t choice)
{
	static const uint64_t types[] = {
	    PERF_HARDWARE_SAMPLE_TYPE,
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_PERIOD |
		PERF_HARDWARE_SAMPLE_TYPE,
	    PERF_SAMPLE_IP | PERF_SAMPLE_ADDR,
	    0,
	};

	return types[choice % (sizeof(types) / sizeof(types[0]))];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_mmap_page control = {0};
	struct perf_ring_counts counts = {0};
	struct perf_ring_sample sample;
	struct perf_ring ring;
	uint64_t bytes, used;
	uint8_t *memory;

	if (size < PARAMETERS)
		return 0;
	bytes = UINT64_C(8) << data[1] % 10;
	memory = calloc(1, bytes); /* Its own allocation, so that a read past its end is seen. */
	if (!memory || perf_ring_init(&ring, &control, memory, bytes, sample_type_of(data[0])) < 0)
		abort(); /* The machine, not the input. */
	control.data_tail = data[2] % bytes & ~UINT64_C(7);
	control.data_head = control.data_tail + (data[3] | (uint64_t)data[4] << 8);
	if (data[5] & 1)
		control.data_head = control.data_tail + ((size - PARAMETERS) & ~UINT64_C(7));
	used = size - PARAMETERS < bytes ? size - PARAMETERS : bytes;
	for (uint64_t i = 0; i < used; i++)
		memory[(control.data_tail + i) % bytes] = data[PARAMETERS + i];
	(void)perf_ring_newest(&ring, &sample, &counts);
	if (control.data_tail != control.data_head || counts.malformed > 1)
		abort();
	if (perf_ring_newest(&ring, &sample, &counts))
		abort(); /* It was empty. */
	free(memory);
	return 0;
}
