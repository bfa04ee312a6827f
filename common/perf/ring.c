#include "common/perf/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The fields of constant size, in the order in which the kernel writes them
 * (include/uapi/linux/perf_event.h, PERF_RECORD_SAMPLE). Each takes 8 bytes. */
enum field {
	FIELD_IDENTIFIER,
	FIELD_IP,
	FIELD_TID,
	FIELD_TIME,
	FIELD_ADDR,
	FIELD_ID,
	FIELD_STREAM_ID,
	FIELD_CPU,
	FIELD_PERIOD,
	FIELD_WEIGHT,
	FIELD_DATA_SRC,
	FIELDS,
};

static const uint64_t field_bit[FIELDS] = {
    [FIELD_IDENTIFIER] = PERF_SAMPLE_IDENTIFIER,
    [FIELD_IP] = PERF_SAMPLE_IP,
    [FIELD_TID] = PERF_SAMPLE_TID,
    [FIELD_TIME] = PERF_SAMPLE_TIME,
    [FIELD_ADDR] = PERF_SAMPLE_ADDR,
    [FIELD_ID] = PERF_SAMPLE_ID,
    [FIELD_STREAM_ID] = PERF_SAMPLE_STREAM_ID,
    [FIELD_CPU] = PERF_SAMPLE_CPU,
    [FIELD_PERIOD] = PERF_SAMPLE_PERIOD,
    [FIELD_WEIGHT] = PERF_SAMPLE_WEIGHT,
    [FIELD_DATA_SRC] = PERF_SAMPLE_DATA_SRC,
};

static uint64_t known_fields(void)
{
	uint64_t known = 0;

	for (unsigned i = 0; i < FIELDS; i++)
		known |= field_bit[i];
	return known;
}

int perf_ring_init(struct perf_ring *ring, struct perf_event_mmap_page *control, const void *data,
		   uint64_t bytes, uint64_t sample_type)
{
	if (bytes < sizeof(struct perf_event_header) || (bytes & (bytes - 1)) ||
	    (sample_type & ~known_fields()))
		return -EINVAL;
	*ring = (struct perf_ring){
	    .control = control, .data = data, .bytes = bytes, .sample_type = sample_type};
	return 0;
}

int perf_ring_map(struct perf_ring *ring, int fd, size_t data_pages, uint64_t sample_type)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	/* Writable: the kernel then waits for the reader instead of overwriting. */
	void *p = mmap(NULL, page * (1 + data_pages), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int r;

	if (p == MAP_FAILED)
		return -errno;
	r = perf_ring_init(ring, p, (const uint8_t *)p + page, page * data_pages, sample_type);
	if (r < 0)
		(void)munmap(p, page * (1 + data_pages)); /* Our own mapping: cannot fail. */
	return r;
}

void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->control)
		(void)munmap(ring->control, /* Our own mapping: cannot fail. */
			     (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
	*ring = (struct perf_ring){0};
}

/* Copies out of the ring, in two parts where it wraps. */
static void copy(const struct perf_ring *ring, uint64_t position, void *to, size_t size)
{
	uint64_t offset = position & (ring->bytes - 1);
	size_t first = size < ring->bytes - offset ? size : (size_t)(ring->bytes - offset);

	memcpy(to, ring->data + offset, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

static bool parse_sample(uint64_t sample_type, const uint64_t *words, size_t count,
			 struct perf_ring_sample *out)
{
	uint64_t field[FIELDS] = {0};
	size_t used = 0;

	for (unsigned i = 0; i < FIELDS; i++) {
		if (!(sample_type & field_bit[i]))
			continue;
		if (used == count)
			return false;
		field[i] = words[used++];
	}
	*out = (struct perf_ring_sample){
	    .ip = field[FIELD_IP],
	    .address = field[FIELD_ADDR],
	    .time_ns = field[FIELD_TIME],
	    .weight = field[FIELD_WEIGHT],
	    .data_source = field[FIELD_DATA_SRC],
	    .pid = (uint32_t)field[FIELD_TID],
	    .tid = (uint32_t)(field[FIELD_TID] >> 32),
	    .cpu = (uint32_t)field[FIELD_CPU],
	};
	return true;
}

/* One record whose size was checked; count words follow its header. False when it is shorter than
 * its type demands. */
static bool take(const struct perf_ring *ring, const struct perf_event_header *header,
		 const uint64_t *words, size_t count, struct perf_ring_sample *out,
		 struct perf_ring_counts *counts, bool *found)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		if (!parse_sample(ring->sample_type, words, count, out))
			return false;
		out->exact = header->misc & PERF_RECORD_MISC_EXACT_IP;
		counts->samples++;
		*found = true;
		return true;
	case PERF_RECORD_LOST: /* id, lost */
		if (count < 2)
			return false;
		counts->lost += words[1];
		return true;
	case PERF_RECORD_LOST_SAMPLES: /* lost */
		if (count < 1)
			return false;
		counts->lost += words[0];
		return true;
	case PERF_RECORD_THROTTLE:
		counts->throttled++;
		return true;
	default:
		counts->skipped++;
		return true;
	}
}

bool perf_ring_newest(struct perf_ring *ring, struct perf_ring_sample *out,
		      struct perf_ring_counts *counts)
{
	/* Acquire: the records up to data_head are seen as they were written. */
	uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;
	uint64_t words[FIELDS]; /* The longest body that is looked at. */
	bool found = false;

	while (tail != head) {
		struct perf_event_header header;
		size_t body;

		/* The head is always a whole record past the tail; a tail that somebody moved
		 * elsewhere ends here too. */
		if (head - tail > ring->bytes || head - tail < sizeof(header))
			break;
		copy(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size % sizeof(uint64_t) ||
		    header.size > head - tail)
			break;
		body = header.size - sizeof(header);
		if (body > sizeof(words))
			body = sizeof(words);
		copy(ring, tail + sizeof(header), words, body);
		if (!take(ring, &header, words, body / sizeof(uint64_t), out, counts, &found))
			break;
		tail += header.size;
	}
	if (tail != head)
		counts->malformed++;
	/* Release: our reads are over before the kernel may write there again. */
	__atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
	return found;
}
