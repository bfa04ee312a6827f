/*
 * The ring in which the kernel leaves the records of one perf event, and its reader.
 *
 * Layout: one control page (struct perf_event_mmap_page), then a power of two of data pages. The
 * kernel writes records and advances data_head; the reader advances data_tail. Records are 8-byte
 * aligned and may wrap around the end (include/uapi/linux/perf_event.h; Linux's
 * kernel/events/ring_buffer.c).
 *
 * Nothing in the ring is trusted: a record that is shorter than its header or than its sample_type
 * demands, not a multiple of 8, or longer than what the kernel says it wrote is counted as
 * malformed and all that is there is passed over, so the reader is in step again with what comes
 * next.
 *
 * perf_ring_newest is async-signal-safe: it reads data_head once, so it ends after at most the
 * ring's bytes / 8 records, and it calls nothing but memcpy. One reader at a time.
 */
#ifndef JXPERF_COMMON_PERF_RING_H
#define JXPERF_COMMON_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_ring {
	struct perf_event_mmap_page *control; /* NULL: there is no ring */
	const uint8_t *data;
	uint64_t bytes; /* of data, a power of two */
	uint64_t sample_type;
};

/* One PERF_RECORD_SAMPLE; fields that sample_type does not have are 0. */
struct perf_ring_sample {
	uint64_t ip;
	uint64_t address;
	uint64_t time_ns;     /* of the event's clock */
	uint64_t weight;      /* latency in cycles, where the hardware tells it */
	uint64_t data_source; /* union perf_mem_data_src */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	bool exact; /* ip is the instruction that was sampled (PERF_RECORD_MISC_EXACT_IP) */
};

/* Totals since the caller zeroed them. */
struct perf_ring_counts {
	uint64_t samples;
	uint64_t lost; /* samples that the kernel had no room for (PERF_RECORD_LOST, _LOST_SAMPLES)
			*/
	uint64_t throttled; /* PERF_RECORD_THROTTLE: the event was stopped until the next tick */
	uint64_t malformed;
	uint64_t skipped; /* records of other types */
};

/* Maps the ring of an event that was opened with sample_type: one control page and data_pages, a
 * power of two. The mapping keeps the event alive after its descriptor is closed, so disable it
 * first. 0 or -errno. */
int perf_ring_map(struct perf_ring *ring, int fd, size_t data_pages, uint64_t sample_type);

/* Safe without a ring. No reader may be active. */
void perf_ring_unmap(struct perf_ring *ring);

/* A ring on memory of the caller's. -EINVAL when bytes is no power of two of at least 8, or
 * sample_type has fields of variable size, which this reader does not know. */
int perf_ring_init(struct perf_ring *ring, struct perf_event_mmap_page *control, const void *data,
		   uint64_t bytes, uint64_t sample_type);

/* Takes everything out of the ring. True when there was a sample: *out is the newest. */
bool perf_ring_newest(struct perf_ring *ring, struct perf_ring_sample *out,
		      struct perf_ring_counts *counts);

#endif
