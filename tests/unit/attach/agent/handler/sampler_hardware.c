/* The hardware samplers' handler, given records in rings of the test's own. What it arms are real
 * debug registers of the test's thread; nothing touches what they watch while they are armed. */
#include "tests/unit/support/test.h"
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/thread.h"
#include "common/fd.h"
#include "tests/unit/support/agent/one_frame.h"
#include "tests/unit/support/agent/own_thread.h"
#include "tests/unit/support/agent/registers.h"
#include "tests/unit/support/agent/blobs.h"

#define CODE_BYTES 4096u
#define LOAD_AT    0u  /* mov (%rdi),%rax */
#define STORE_AT   16u /* mov %rax,(%rdi) */
#define MODIFY_AT  32u /* add %rax,(%rdi) */
#define ADD_AT     48u /* add %rax,%rdx: no memory */
#define OTHER_AT   128u

static uint8_t *code;
static uint64_t data[8] __attribute__((aligned(64)));
static bool have_registers;

static struct perf_event_mmap_page control[2];
static uint8_t memory[2][1024];

static void put_code(void)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x07}, store[] = {0x48, 0x89, 0x07},
			     modify[] = {0x48, 0x01, 0x07}, add[] = {0x48, 0x01, 0xc2};

	memset(code, 0x90, CODE_BYTES);
	memcpy(code + LOAD_AT, load, sizeof(load));
	memcpy(code + STORE_AT, store, sizeof(store));
	memcpy(code + MODIFY_AT, modify, sizeof(modify));
	memcpy(code + ADD_AT, add, sizeof(add));
	memcpy(code + OTHER_AT, load, sizeof(load));
	add_compiled((uintptr_t)code, 64, 1, NULL, 0);
	add_compiled((uintptr_t)code + OTHER_AT, 64, 2, NULL, 0);
}

static int set_up_process(void **state)
{
	(void)state;
	code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return code == MAP_FAILED || safe_read_init() < 0 || own_process_init() < 0 ? -1 : 0;
}

/* The events of PEBS, and of every kind. */
static void sample_all_kinds(void)
{
	handlers.sampling.event_count = 2;
	handlers.sampling.events[0] = (struct perf_hardware_event){.access = PERF_ACCESS_LOADS};
	handlers.sampling.events[1] = (struct perf_hardware_event){.access = PERF_ACCESS_STORES};
	handlers.sampling.kind_count = 3;
	handlers.sampling.kinds[0] = JXP__KIND__KIND_DEAD_STORE;
	handlers.sampling.kinds[1] = JXP__KIND__KIND_SILENT_STORE;
	handlers.sampling.kinds[2] = JXP__KIND__KIND_SILENT_LOAD;
}

static int fresh_thread(void **state)
{
	(void)state;
	sample_all_kinds();
	if (codemap_init((uintptr_t)code, (uintptr_t)code + CODE_BYTES, NULL) < 0)
		return -1;
	put_code();
	if (own_thread_init() < 0)
		return -1;
	reservoir_init(&t->reservoir, PERF_DEBUG_REGISTERS);
	have_registers = registers_open(t, HW_BREAKPOINT_RW, &data[7]);
	memset(control, 0, sizeof(control));
	for (unsigned i = 0; i < 2; i++)
		if (perf_ring_init(&t->sampling_ring[i], &control[i], memory[i], sizeof(memory[i]),
				   PERF_HARDWARE_SAMPLE_TYPE) < 0)
			return -1;
	atomic_store(&t->state, THREAD_READY);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 60);
	return 0;
}

static int drop_thread(void **state)
{
	(void)state;
	fd_close_all(t->register_fd, PERF_DEBUG_REGISTERS);
	memset(t->sampling_ring, 0, sizeof(t->sampling_ring)); /* not mapped */
	thread_recycle(t);
	return 0;
}

struct record_words {
	struct perf_event_header header;
	uint64_t ip, pid_tid, time, address, cpu, weight, data_source;
};

static struct record_words record_at(uint64_t offset, const void *address)
{
	return (struct record_words){
	    .header = {.type = PERF_RECORD_SAMPLE,
		       .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP,
		       .size = sizeof(struct record_words)},
	    .ip = (uintptr_t)code + offset,
	    .address = (uintptr_t)address};
}

static void put(unsigned ring, const struct record_words *r)
{
	memcpy(memory[ring] + control[ring].data_head, r, sizeof(*r));
	control[ring].data_head += sizeof(*r);
}

static void fire(void)
{
	sampler_hardware.on_event(t, &uc);
}

static void sample(unsigned ring, uint64_t offset, const void *address)
{
	struct record_words r = record_at(offset, address);

	put(ring, &r);
	fire();
}

/* The watchpoint that is armed, the only one. */
static const struct watchpoint *armed(void)
{
	const struct watchpoint *found = NULL;

	if (!have_registers) {
		print_message("this machine has no breakpoint events\n");
		skip();
	}
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++) {
		if (t->watchpoints[i].state == WATCH_FREE)
			continue;
		assert_int_equal(t->watchpoints[i].state, WATCH_ARMED);
		assert_null(found);
		found = &t->watchpoints[i];
	}
	return found;
}

TEST(a_sampled_load_is_armed_with_its_value, fresh_thread, drop_thread)
{
	const uint64_t value = 0x1122334455667788;
	const struct watchpoint *w;

	data[0] = value;
	sample(0, LOAD_AT, &data[0]);
	w = armed();
	assert_non_null(w);
	assert_int_equal(w->kind, JXP__KIND__KIND_SILENT_LOAD);
	assert_int_equal(w->address, (uintptr_t)&data[0]);
	assert_int_equal(w->length, 8);
	assert_memory_equal(w->value, &value, 8); /* reading data[0] would trap */
	assert_int_not_equal(w->maker.context, 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SAMPLES), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ARMED), 1);
	assert_true(control[0].data_tail == control[0].data_head);
}

TEST(a_sampled_store_is_armed_for_a_kind_of_stores, fresh_thread, drop_thread)
{
	const struct watchpoint *w;

	sample(1, STORE_AT, &data[1]);
	w = armed();
	assert_non_null(w);
	assert_in_set(
	    w->kind,
	    ((const uintmax_t[]){JXP__KIND__KIND_DEAD_STORE, JXP__KIND__KIND_SILENT_STORE}), 2);
}

TEST(of_two_rings_the_newest_record_is_taken, fresh_thread, drop_thread)
{
	struct record_words load = record_at(LOAD_AT, &data[0]),
			    store = record_at(STORE_AT, &data[1]);
	const struct watchpoint *w;

	load.time = 2;
	store.time = 1;
	put(0, &load);
	put(1, &store);
	fire();
	w = armed();
	assert_int_equal(w->address, (uintptr_t)&data[0]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_OVERTAKEN), 1);
}

TEST(ibs_records_are_told_apart_by_their_data_source, fresh_thread, drop_thread)
{
	struct record_words r = record_at(STORE_AT, &data[1]);

	handlers.sampling.event_count = 1;
	handlers.sampling.events[0].access = PERF_ACCESS_ANY;
	r.data_source = PERF_MEM_S(OP, STORE);
	put(0, &r);
	fire();
	assert_int_equal(armed()->address, (uintptr_t)&data[1]);
	r.data_source = PERF_MEM_S(OP, NA);
	put(0, &r);
	fire();
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_UNUSABLE), 1);
}

TEST(records_that_cannot_be_used_are_counted, fresh_thread, drop_thread)
{
	struct record_words inexact = record_at(LOAD_AT, &data[0]);

	sample(0, LOAD_AT, NULL);
	sample(0, ADD_AT, &data[0]);
	sample(0, STORE_AT, &data[0]);  /* not a load */
	sample(0, MODIFY_AT, &data[0]); /* what it loaded is gone */
	sample(1, LOAD_AT, &data[0]);   /* not a store */
	inexact.header.misc = PERF_RECORD_MISC_USER;
	put(0, &inexact);
	fire();
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_UNUSABLE), 6);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SAMPLES), 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TICKS), 6);
}

TEST(accesses_that_no_kind_samples_are_counted, fresh_thread, drop_thread)
{
	handlers.sampling.kind_count = 1; /* dead stores */
	sample(0, LOAD_AT, &data[0]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_UNWANTED), 1);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SAMPLES), 0);
}

TEST(an_event_that_no_kind_needs_is_not_wanted, fresh_thread, drop_thread)
{
	assert_true(sampler_wants_event(0, false));
	assert_true(sampler_wants_event(1, false));
	handlers.sampling.kind_count = 2; /* stores */
	assert_false(sampler_wants_event(0, false));
	assert_true(sampler_wants_event(0, true));
	assert_true(sampler_wants_event(1, false));
	handlers.sampling.kinds[0] = JXP__KIND__KIND_SILENT_LOAD;
	handlers.sampling.kind_count = 1;
	assert_true(sampler_wants_event(0, false));
	assert_false(sampler_wants_event(1, false));
	handlers.sampling.events[0].access = PERF_ACCESS_ANY;
	assert_true(sampler_wants_event(0, false));
}

TEST(a_thread_that_left_the_method_gives_no_context, fresh_thread, drop_thread)
{
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + OTHER_AT);
	sample(0, LOAD_AT, &data[0]);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)fire;
	sample(0, LOAD_AT, &data[0]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_SKIDDED), 2);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_SAMPLES), 0);
}

TEST(code_that_is_not_java_gives_no_sample, fresh_thread, drop_thread)
{
	sample(0, (uintptr_t)fire - (uintptr_t)code, &data[0]);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TICKS_OUTSIDE), 1);
}

TEST(an_access_for_objects_is_recorded_and_watches_nothing, fresh_thread, drop_thread)
{
	struct record_words r = record_at(MODIFY_AT, &data[2]);
	struct record got = {0};

	handlers.sampling.kind_count = 0;
	handlers.objects_on = true;
	handlers.period = 1000;
	r.data_source = PERF_MEM_S(OP, LOAD);
	put(0, &r);
	fire();
	handlers.objects_on = false;
	assert_true(ring_pop(&t->memory->ring, &got));
	assert_int_equal(got.type, RECORD_ACCESS);
	assert_int_equal(got.address, (uintptr_t)&data[2]);
	assert_int_equal(got.length, 8);
	assert_int_equal(got.weight, 1000);
	assert_false(got.store);
	assert_int_not_equal(got.watch_context, 0);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_ACCESSES), 1);
	for (unsigned i = 0; i < PERF_DEBUG_REGISTERS; i++)
		assert_int_equal(t->watchpoints[i].state, WATCH_FREE);
}

TEST(an_access_stands_for_the_kinds_it_was_drawn_from, fresh_thread, drop_thread)
{
	struct record got = {0};
	unsigned accesses = 0;

	handlers.sampling.kind_count = 1;
	handlers.sampling.kinds[0] = JXP__KIND__KIND_SILENT_LOAD;
	handlers.objects_on = true;
	handlers.period = 1000;
	for (unsigned i = 0; i < 64; i++) {
		control[0].data_head = control[0].data_tail = 0;
		sample(0, LOAD_AT, &data[0]);
	}
	handlers.objects_on = false;
	while (ring_pop(&t->memory->ring, &got)) {
		if (got.type != RECORD_ACCESS)
			continue;
		accesses++;
		assert_int_equal(got.weight, 2000);
	}
	/* Half of 64; beyond five standard deviations in one run of two million. */
	assert_in_range(accesses, 12, 52);
}

TEST(a_signal_without_a_record_is_counted, fresh_thread, drop_thread)
{
	fire();
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_MISSING), 1);
}

TEST(what_the_kernel_lost_is_counted, fresh_thread, drop_thread)
{
	static const uint64_t lost[] = {PERF_RECORD_LOST | UINT64_C(24) << 48, 1, 17};

	memcpy(memory[0], lost, sizeof(lost));
	control[0].data_head = sizeof(lost);
	memset(memory[1], 0, 8); /* a size of 0 */
	control[1].data_head = 8;
	fire();
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_LOST), 17);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_MALFORMED), 1);
}

TEST(a_thread_without_rings_and_registers_asks_for_them_in_java_code, fresh_thread, drop_thread)
{
	memset(t->sampling_ring, 0, sizeof(t->sampling_ring));
	atomic_store(&t->state, THREAD_CLOCK);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)fire;
	fire();
	assert_int_equal(atomic_load(&t->state), THREAD_CLOCK);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)code;
	fire();
	assert_int_equal(atomic_load(&t->state), THREAD_WANTED);
	fire(); /* while the session thread is at it */
	assert_int_equal(counted(JXP__COUNTER__COUNTER_TICKS), 3);
	assert_int_equal(counted(JXP__COUNTER__COUNTER_RECORDS_MISSING), 0);
}

int main(void)
{
	return tests_run(set_up_process, NULL);
}
