#include "daemon/inspector/check_sampler.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/perf/ring.h"
#include "machine/sampler_choice.h"
#include "proto/words.h"

/* Short, so that a fraction of a second gives enough records; a multiple of 16, as IBS wants. */
#define TRIAL_PERIOD   UINT64_C(160000)
#define TRIAL_NS       (200 * NS_PER_MS)
#define TRIAL_RECORDS  100u
#define TRIAL_PAGES    1u
#define MEMORY_BYTES   (1u << 20)
#define WORDS_PER_READ 512u

/* A trial that is right less often than this does not measure what it should. */
#define RIGHT_MIN 0.9

/* ---------------------------------------------------------------- the loop */

/* The linker tells where this section begins and ends: the instructions that may be sampled. */
#define LOOP __attribute__((noinline, no_sanitize("thread"), section("jxperf_trial")))
extern const char __start_jxperf_trial[], __stop_jxperf_trial[];

static LOOP void store_words(volatile uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words[i] = i;
}

static LOOP void load_words(const volatile uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)words[i];
}

/* ---------------------------------------------------------------- the trial */

static bool is_access(const struct perf_hardware_event *event, const struct perf_ring_sample *s)
{
	union perf_mem_data_src source = {.val = s->data_source};

	if (event->access != PERF_ACCESS_ANY)
		return true;
	return s->address && (source.mem_op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE));
}

static bool is_right(const struct perf_ring_sample *s, const void *memory)
{
	return s->ip >= (uintptr_t)__start_jxperf_trial && s->ip < (uintptr_t)__stop_jxperf_trial &&
	       s->address >= (uintptr_t)memory && s->address - (uintptr_t)memory < MEMORY_BYTES;
}

static void look(const struct perf_hardware_event *event, struct perf_ring *ring,
		 const void *memory, struct sampler_trial *trial)
{
	struct perf_ring_counts counts = {0};
	struct perf_ring_sample s;

	if (perf_ring_newest(ring, &s, &counts)) {
		trial->read++;
		trial->accesses += is_access(event, &s);
		trial->right += is_access(event, &s) && is_right(&s, memory);
	}
	trial->records += counts.samples;
}

static void work(const struct perf_hardware_event *event, struct perf_ring *ring, uint64_t *memory,
		 struct sampler_trial *trial)
{
	uint64_t end = clock_monotonic_ns() + TRIAL_NS;
	size_t words = MEMORY_BYTES / sizeof(*memory);

	for (size_t i = 0; trial->accesses < TRIAL_RECORDS && clock_monotonic_ns() < end;
	     i = (i + WORDS_PER_READ) % words) {
		store_words(memory + i, WORDS_PER_READ);
		load_words(memory + i, WORDS_PER_READ);
		look(event, ring, memory, trial);
	}
}

static int run_on(const struct perf_hardware_event *event, uint64_t period, uint64_t *memory,
		  struct sampler_trial *trial)
{
	struct perf_event_attr attr;
	struct perf_ring ring = {0};
	_cleanup_close_ int fd = -1;
	int r;

	perf_attr_hardware(&attr, event, period, 0);
	attr.sigtrap = attr.remove_on_exec = 0; /* The daemon has no handler. */
	fd = perf_open(&attr, 0);
	if (fd < 0)
		return fd;
	r = perf_ring_map(&ring, fd, TRIAL_PAGES, attr.sample_type);
	if (r == 0)
		r = perf_enable(fd);
	if (r == 0) {
		work(event, &ring, memory, trial);
		r = perf_disable(fd);
	}
	perf_ring_unmap(&ring);
	return r;
}

void sampler_trial_run(const struct perf_hardware_event *event, uint64_t period,
		       struct sampler_trial *trial)
{
	void *memory =
	    mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*trial = (struct sampler_trial){0};
	if (memory == MAP_FAILED) {
		trial->error = -errno;
		return;
	}
	trial->error = run_on(event, period, memory, trial);
	(void)munmap(memory, MEMORY_BYTES); /* Our own mapping: cannot fail. */
}

/* ---------------------------------------------------------------- the items */

struct trials {
	const struct pmu_selection *selection;
	int error; /* of opening the events as a window would */
	struct sampler_trial trial[PERF_HARDWARE_EVENTS];
};

static void *run_trials(void *arg)
{
	struct trials *t = arg;

	t->error = sampler_try(t->selection);
	for (size_t i = 0; t->error == 0 && i < t->selection->event_count; i++)
		sampler_trial_run(&t->selection->events[i], TRIAL_PERIOD, &t->trial[i]);
	return NULL;
}

static void add_hardware(struct check_items *c, const struct trials *t)
{
	if (t->selection->event_count == 0)
		check_items_add(c, "hardware sampling", CHECK_OK, "none: %s; clock needs none",
				t->selection->reason);
	else if (t->error)
		check_items_add(c, "hardware sampling", CHECK_WARNING,
				"%s: cannot be opened (%s); run jxperfd as root, or lower "
				"kernel.perf_event_paranoid; clock needs none",
				t->selection->reason, strerror(-t->error));
	else
		check_items_add(c, "hardware sampling", CHECK_OK, "%s", t->selection->reason);
}

static void add_choice(struct check_items *c, const struct trials *t)
{
	struct sampler_hardware hardware = {.selection = t->selection, .error = t->error};
	struct sampler_choice choice;

	(void)sampler_choose(JXP__SAMPLER__SAMPLER_AUTO, false, &hardware, &choice,
			     NULL); /* Auto always finds one. */
	check_items_add(c, "sampler", CHECK_OK, "auto picks %s (%s). %s",
			name_of_sampler(choice.sampler), choice.reason,
			sampler_note(choice.sampler));
}

static void add_trial(struct check_items *c, const struct perf_hardware_event *event,
		      const struct sampler_trial *trial)
{
	static const char *const names[] = {
	    [PERF_ACCESS_ANY] = "operations",
	    [PERF_ACCESS_LOADS] = "loads",
	    [PERF_ACCESS_STORES] = "stores",
	};
	const char *name = names[event->access];

	if (trial->error)
		check_items_add(c, "sampler self-test", CHECK_WARNING,
				"%s: could not be run: %s; use --sampler clock", name,
				strerror(-trial->error));
	else if (trial->accesses == 0)
		check_items_add(c, "sampler self-test", CHECK_WARNING,
				"%s: %" PRIu64 " records, none of an access: use --sampler clock",
				name, trial->records);
	else
		check_items_add(c, "sampler self-test",
				(double)trial->right < RIGHT_MIN * (double)trial->accesses
				    ? CHECK_WARNING
				    : CHECK_OK,
				"%s: %" PRIu64 " records of accesses, %" PRIu64
				" of them with the right instruction and address",
				name, trial->accesses, trial->right);
}

void check_sampler(struct check_items *c)
{
	struct trials t = {.selection = pmu_selection()};
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_trials, &t)) {
		check_items_add(c, "hardware sampling", CHECK_WARNING,
				"not tried: no thread could be started");
		return;
	}
	(void)pthread_join(thread, NULL); /* Just created and not detached. */
	add_hardware(c, &t);
	add_choice(c, &t);
	if (t.selection->event_count == 0)
		check_items_add(c, "sampler self-test", CHECK_OK,
				"not run: there is no hardware sampler to test");
	for (size_t i = 0; t.error == 0 && i < t.selection->event_count; i++)
		add_trial(c, &t.selection->events[i], &t.trial[i]);
}
