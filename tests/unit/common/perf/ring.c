/* The reader of perf rings: on rings that are built byte for byte from the layout in
 * include/uapi/linux/perf_event.h, and on one that the kernel fills. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "common/perf/events.h"
#include "common/perf/ring.h"

#define RING_BYTES 1024u

static uint8_t memory[RING_BYTES];
static uint16_t misc = PERF_RECORD_MISC_USER;
static struct perf_event_mmap_page control;
static struct perf_ring ring;
static struct perf_ring_counts counts;

static int empty_ring(void **state)
{
	(void)state;
	memset(memory, 0xee, sizeof(memory));
	control = (struct perf_event_mmap_page){0};
	counts = (struct perf_ring_counts){0};
	return perf_ring_init(&ring, &control, memory, sizeof(memory), PERF_HARDWARE_SAMPLE_TYPE);
}

/* Both ends of the empty ring, anywhere. */
static void start_at(uint64_t position)
{
	control.data_head = control.data_tail = position;
}

static void put(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		memory[(control.data_head + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
	control.data_head += size;
}

static void put32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put64(uint64_t value)
{
	put(&value, sizeof(value));
}

/* struct perf_event_header: u32 type, u16 misc, u16 size. */
static void put_header(uint32_t type, uint16_t size)
{
	uint16_t half[2] = {misc, size};

	put32(type);
	put(half, sizeof(half));
}

/* u64 ip; u32 pid, tid; u64 time; u64 addr; u32 cpu, res; u64 weight; u64 data_src. */
static void put_sample(uint64_t ip)
{
	put_header(PERF_RECORD_SAMPLE, 8 + 7 * 8);
	put64(ip);
	put32(100);
	put32(101);
	put64(5000 + ip);
	put64(0x7f0000001000 + ip);
	put32(3);
	put32(0);
	put64(42);
	put64(PERF_MEM_S(OP, LOAD));
}

static void expect_sample(uint64_t ip)
{
	struct perf_ring_sample s;

	assert_true(perf_ring_newest(&ring, &s, &counts));
	assert_int_equal(s.ip, ip);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, 101);
	assert_int_equal(s.time_ns, 5000 + ip);
	assert_int_equal(s.address, 0x7f0000001000 + ip);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.weight, 42);
	assert_int_equal(s.data_source, PERF_MEM_S(OP, LOAD));
	assert_true(control.data_tail == control.data_head);
}

static void expect_none(void)
{
	struct perf_ring_sample s = {.ip = 0x1234};

	assert_false(perf_ring_newest(&ring, &s, &counts));
	assert_true(control.data_tail == control.data_head);
}

TEST(an_exact_instruction_is_told_from_one_nearby, empty_ring)
{
	struct perf_ring_sample s;

	put_sample(1);
	assert_true(perf_ring_newest(&ring, &s, &counts));
	assert_false(s.exact);
	misc |= PERF_RECORD_MISC_EXACT_IP;
	put_sample(2);
	misc = PERF_RECORD_MISC_USER;
	assert_true(perf_ring_newest(&ring, &s, &counts));
	assert_true(s.exact);
}

TEST(an_empty_ring_has_no_sample, empty_ring)
{
	expect_none();
	assert_int_equal(counts.malformed, 0);
}

TEST(every_field_of_a_sample_is_read, empty_ring)
{
	put_sample(0x400000);
	expect_sample(0x400000);
	assert_int_equal(counts.samples, 1);
}

TEST(the_newest_of_several_samples_is_given, empty_ring)
{
	for (uint64_t ip = 1; ip <= 5; ip++)
		put_sample(ip);
	expect_sample(5);
	assert_int_equal(counts.samples, 5);
	expect_none();
}

TEST(a_record_may_wrap_around_at_any_of_its_words, empty_ring)
{
	for (uint64_t before = 0; before <= 64; before += 8) {
		(void)empty_ring(NULL);
		start_at(7 * RING_BYTES - before);
		put_sample(before);
		expect_sample(before);
	}
	assert_int_equal(counts.malformed, 0);
}

TEST(a_full_ring_is_read_to_its_end, empty_ring)
{
	start_at(24);
	for (uint64_t ip = 0; ip < RING_BYTES / 64; ip++)
		put_sample(ip);
	expect_sample(RING_BYTES / 64 - 1);
	assert_int_equal(counts.samples, RING_BYTES / 64);
}

TEST(positions_beyond_32_bits_are_no_trouble, empty_ring)
{
	start_at((UINT64_C(1) << 40) - 8);
	put_sample(1);
	expect_sample(1);
	start_at(UINT64_MAX - 31); /* the counter itself wraps */
	put_sample(2);
	expect_sample(2);
}

TEST(optional_fields_are_found_in_the_order_of_the_layout, empty_ring)
{
	struct perf_ring_sample s;

	assert_int_equal(perf_ring_init(&ring, &control, memory, sizeof(memory),
					PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
					    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
					    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
					    PERF_SAMPLE_DATA_SRC),
			 0);
	put_header(PERF_RECORD_SAMPLE, 8 + 8 * 8);
	put64(900); /* identifier */
	put64(1);   /* ip */
	put64(2);   /* addr */
	put64(901); /* id */
	put64(902); /* stream_id */
	put32(3);   /* cpu, res */
	put32(0);
	put64(903); /* period */
	put64(4);   /* data_src */
	assert_true(perf_ring_newest(&ring, &s, &counts));
	assert_int_equal(s.ip, 1);
	assert_int_equal(s.address, 2);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.data_source, 4);
	assert_int_equal(s.time_ns, 0);
	assert_int_equal(s.weight, 0);
}

TEST(fields_behind_the_known_ones_are_passed_over, empty_ring)
{
	put_header(PERF_RECORD_SAMPLE, 8 + 17 * 8);
	put64(7);
	put32(100);
	put32(101);
	put64(5007);
	put64(0x7f0000001007);
	put32(3);
	put32(0);
	put64(42);
	put64(PERF_MEM_S(OP, LOAD));
	for (unsigned i = 0; i < 10; i++)
		put64(UINT64_MAX);
	expect_sample(7);
	assert_int_equal(counts.malformed, 0);
}

TEST(lost_samples_are_counted, empty_ring)
{
	put_header(PERF_RECORD_LOST, 8 + 16);
	put64(77); /* id */
	put64(1000);
	put_header(PERF_RECORD_LOST_SAMPLES, 8 + 8);
	put64(5);
	put_sample(1);
	expect_sample(1);
	assert_int_equal(counts.lost, 1005);
}

TEST(throttling_is_counted_and_its_end_is_not, empty_ring)
{
	for (unsigned i = 0; i < 2; i++) {
		put_header(i ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE, 8 + 24);
		put64(1); /* time, id, stream_id */
		put64(2);
		put64(3);
	}
	expect_none();
	assert_int_equal(counts.throttled, 1);
	assert_int_equal(counts.skipped, 1);
}

TEST(unknown_records_are_skipped_by_their_size, empty_ring)
{
	put_header(4242, 8 + 40);
	for (unsigned i = 0; i < 5; i++)
		put64(UINT64_MAX);
	put_header(PERF_RECORD_EXIT, 8);
	put_sample(1);
	expect_sample(1);
	assert_int_equal(counts.skipped, 2);
	assert_int_equal(counts.malformed, 0);
}

/* The sample before the damage counts; what is behind it is passed over, and the next is read. */
static void expect_resynchronised(uint64_t before)
{
	expect_sample(before);
	assert_int_equal(counts.malformed, 1);
	put_sample(9);
	expect_sample(9);
	assert_int_equal(counts.malformed, 1);
}

TEST(a_size_of_0_is_malformed, empty_ring)
{
	put_sample(1);
	put_header(PERF_RECORD_SAMPLE, 0);
	put_sample(2);
	expect_resynchronised(1);
}

TEST(a_size_shorter_than_the_header_or_unaligned_is_malformed, empty_ring)
{
	static const uint16_t sizes[] = {1, 7, 9, 63};

	for (unsigned i = 0; i < 4; i++) {
		(void)empty_ring(NULL);
		put_sample(1);
		put_header(PERF_RECORD_SAMPLE, sizes[i]);
		put_sample(2);
		expect_resynchronised(1);
	}
}

TEST(a_size_beyond_the_head_is_malformed, empty_ring)
{
	put_sample(1);
	put_header(PERF_RECORD_SAMPLE, 64);
	put64(1);
	expect_resynchronised(1);
}

TEST(half_a_header_is_malformed, empty_ring)
{
	put_sample(1);
	put32(PERF_RECORD_SAMPLE);
	expect_sample(1);
	assert_int_equal(counts.malformed, 1);
}

TEST(records_truncated_for_their_type_are_malformed, empty_ring)
{
	put_sample(1);
	put_header(PERF_RECORD_SAMPLE, 8 + 6 * 8); /* data_src is missing */
	for (unsigned i = 0; i < 6; i++)
		put64(i);
	expect_resynchronised(1);
	put_header(PERF_RECORD_LOST, 8 + 8);
	put64(1);
	expect_none();
	put_header(PERF_RECORD_LOST_SAMPLES, 8);
	expect_none();
	assert_int_equal(counts.malformed, 3);
	assert_int_equal(counts.lost, 0);
}

TEST(a_head_further_than_the_ring_is_malformed, empty_ring)
{
	control.data_head = RING_BYTES + 8;
	expect_none();
	assert_int_equal(counts.malformed, 1);
	start_at(4096);
	control.data_head = 1024; /* behind the tail */
	expect_none();
	assert_int_equal(counts.malformed, 2);
}

TEST(layouts_that_the_reader_does_not_know_are_refused, empty_ring)
{
	assert_int_equal(perf_ring_init(&ring, &control, memory, 1000, PERF_SAMPLE_IP), -EINVAL);
	assert_int_equal(perf_ring_init(&ring, &control, memory, 4, PERF_SAMPLE_IP), -EINVAL);
	assert_int_equal(
	    perf_ring_init(&ring, &control, memory, 1024, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN),
	    -EINVAL);
}

static volatile uint64_t watched;

static __attribute__((noinline)) void store(uint64_t value)
{
	watched = value;
}

/* No PMU is needed for this one: a breakpoint's records have the same layout. */
TEST(records_of_a_real_event_are_read, empty_ring)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_BREAKPOINT,
				       .sample_period = 1,
				       .sample_type = PERF_HARDWARE_SAMPLE_TYPE,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .bp_type = HW_BREAKPOINT_W,
				       .bp_addr = (uintptr_t)&watched,
				       .bp_len = 8};
	struct perf_ring_sample s;
	struct perf_ring real = {0};
	int fd = perf_open(&attr, 0);

	if (fd < 0) {
		print_message("this machine has no breakpoint events: %s\n", strerror(-fd));
		skip();
	}
	assert_int_equal(perf_ring_map(&real, fd, 1, attr.sample_type), 0);
	for (uint64_t i = 0; i < 1000; i++) { /* more than the ring holds at a time */
		store(i);
		assert_true(perf_ring_newest(&real, &s, &counts));
		assert_int_equal(s.address, (uintptr_t)&watched);
		assert_int_equal(s.pid, getpid());
		assert_int_equal(s.tid, gettid());
		assert_in_range(s.ip, (uintptr_t)store, (uintptr_t)store + 64);
	}
	assert_int_equal(counts.samples, 1000);
	assert_int_equal(counts.malformed + counts.lost, 0);
	assert_int_equal(perf_disable(fd), 0);
	perf_ring_unmap(&real);
	assert_null(real.control);
	(void)close(fd);
}
