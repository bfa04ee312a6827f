#include "tests/unit/support/test.h"

#include <math.h>

#include "profile/intake/intake.h"
#include "proto/limits.h"
#include "profile/window/tables.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"
#include "tests/unit/support/sample_objects.h"

#define TRACKED_MAX 100

struct fixture {
	struct window_result *window;
	struct intake intake;
	struct sample_batch sample;
	struct sample_objects objects;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .objects_max = TRACKED_MAX};

	f.window = window_result_new(1, 42, &request, &sample_findings);
	window_result_start(f.window);
	intake_init(&f.intake, f.window);
	sample_batch_init(&f.sample);
	sample_objects_init(&f.objects, &f.sample.batch);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	intake_release(&f->intake);
	window_result_free(f->window);
	return 0;
}

/* Applies what has gathered; the next batch begins empty. */
static void apply(struct fixture *f, uint64_t settled_ns)
{
	f->sample.batch.time_ns = settled_ns;
	f->sample.batch.settled_ns = settled_ns;
	assert_int_equal(intake_batch(&f->intake, &f->sample.batch), 0);
	sample_objects_next(&f->objects);
	f->sample.batch.n_methods = f->sample.batch.n_nodes = f->sample.batch.n_instructions = 0;
}

static uint64_t lost(const struct fixture *f, enum loss loss)
{
	return f->window->losses[loss];
}

static const struct object_profile *objects_of(const struct fixture *f)
{
	return &f->window->objects;
}

static uint64_t untracked_heap(const struct fixture *f)
{
	return objects_of(f)->untracked[JXP__REGION__REGION_HEAP].samples;
}

TEST(an_access_counts_for_the_site_of_the_object_that_it_meets, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct object_site *site;

	sample_allocation(&f->objects, 1, 0, 10, 0x1000)->weight = 4;
	(void)sample_access(&f->objects, 0, 20, 0x1008);
	(void)sample_access(&f->objects, 0, 21, 0x9000);
	apply(f, 100);
	assert_int_equal(objects_of(f)->site_count, 1);
	site = &objects_of(f)->sites[0];
	assert_string_equal(strings_get(&f->window->profile.strings, site->class_name), "float[]");
	assert_int_equal(cct_node(&f->window->profile.cct, site->node)->line, 21);
	assert_int_equal(site->samples, 1);
	assert_float_equal(site->metric, 40, 0);
	assert_int_equal(cct_node(&f->window->profile.cct, objects_of(f)->accesses[0].node)->line,
			 31);
	assert_int_equal(untracked_heap(f), 1);
	for (int i = 0; i < LOSS_MAX; i++)
		assert_int_equal(lost(f, (enum loss)i), 0);
}

/* Of 1000 bytes from address on: by a thread, of the place. */
static struct event_access *access_by(struct fixture *f, uint32_t tid, uint64_t time_ns,
				      uint64_t address)
{
	struct event_access *a = sample_access(&f->objects, 0, time_ns, address);

	a->tid = tid;
	return a;
}

TEST(accesses_by_other_threads_than_the_objects_own_are_told_apart, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct site_sharing *s;

	sample_allocation(&f->objects, 1, 0, 10, 0x1000)->weight = 4;
	(void)sample_allocation(&f->objects, 2, 0, 11, 0x2000);
	(void)access_by(f, 100, 20, 0x1008);
	access_by(f, 200, 21, 0x1008)->store = 1; /* Another takes over, */
	(void)access_by(f, 200, 22, 0x1010);      /* goes on, */
	access_by(f, 100, 23, 0x1008)->store = 1; /* and the object's own is back. */
	(void)access_by(f, 200, 24, 0x2008);
	(void)access_by(f, 200, 25, 0x9000); /* Nothing tracked. */
	apply(f, 100);
	assert_int_equal(objects_of(f)->site_count, 1);
	assert_int_equal(objects_of(f)->sharing_count, 1);
	s = &objects_of(f)->sharing[0];
	assert_int_equal(s->site, 0);
	assert_int_equal(s->samples, 5);
	assert_int_equal(s->stores, 2);
	assert_int_equal(s->by_others, 3);
	assert_int_equal(s->stores_by_others, 1);
	assert_int_equal(s->taken_over, 3);
	assert_float_equal(s->metric, 4 * 40 + 10, 0);
	assert_float_equal(s->metric_by_others, 2 * 40 + 10, 0);
	assert_float_equal(s->metric_taken_over, 2 * 40 + 10, 0);
}

TEST(what_threads_share_is_told_by_the_place_in_the_object, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t place = sample_objects_location(&f->objects, JXP__LOCATION__KIND__FIELD, "Queue",
						 "head", "int");

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	access_by(f, 200, 20, 0x1008)->location = place;
	(void)access_by(f, 100, 21, 0x1010);
	apply(f, 100);
	assert_int_equal(objects_of(f)->sharing_count, 2);
	assert_int_not_equal(objects_of(f)->sharing[0].location, 0);
	assert_int_equal(objects_of(f)->sharing[0].by_others, 1);
	assert_int_equal(objects_of(f)->sharing[1].location, 0);
	assert_int_equal(objects_of(f)->sharing[1].by_others, 0);
	assert_int_equal(objects_of(f)->sharing[1].taken_over, 1);
}

TEST(an_access_that_arrives_before_its_allocation_meets_the_object, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_access(&f->objects, 0, 20, 0x1008);
	apply(f, 5);
	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	apply(f, 15);
	assert_int_equal(object_profile_samples(objects_of(f)), 0);
	apply(f, 20);
	assert_int_equal(objects_of(f)->attributed.samples, 1);
}

TEST(accesses_follow_an_object_through_collections, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_access(&f->objects, 2, 50, 0x7000); /* Arrives before the pass. */
	(void)sample_access(&f->objects, 2, 51, 0x1000);
	apply(f, 60);
	(void)sample_access(&f->objects, 0, 20, 0x1000); /* Older than the move. */
	sample_pass(&f->objects, 2, 1, 0x7000, 0);
	apply(f, 70);
	assert_int_equal(objects_of(f)->attributed.samples, 2);
	assert_int_equal(untracked_heap(f), 1);
}

/* Such an object moved, or died, before its agent had taken it into its table: at its old address
 * there is another, or none. */
TEST(an_object_that_its_pass_missed_is_met_where_the_next_one_finds_it, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_pass(&f->objects, 2, 0, 0, 0);
	(void)sample_allocation(&f->objects, 1, 0, 10, 0);
	(void)sample_access(&f->objects, 2, 50, 0x1000);
	(void)sample_access(&f->objects, 4, 70, 0x7000);
	apply(f, 60);
	sample_pass(&f->objects, 4, 1, 0x7000, 0);
	apply(f, 80);
	assert_int_equal(untracked_heap(f), 1);
	assert_int_equal(objects_of(f)->attributed.samples, 1);
}

TEST(a_dead_object_is_met_no_more_and_its_bytes_are_not_live, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_allocation(&f->objects, 2, 0, 10, 0x2000);
	sample_pass(&f->objects, 2, 0, 0, 1);
	(void)sample_access(&f->objects, 2, 50, 0x1000);
	apply(f, 100);
	assert_int_equal(untracked_heap(f), 1);
	assert_float_equal(objects_of(f)->sites[0].alloc_bytes, 200, 0);
	assert_float_equal(objects_of(f)->sites[0].live_bytes, 100, 0);
}

TEST(an_object_that_is_too_small_counts_at_its_site_at_once, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct object_site *site;

	sample_allocation(&f->objects, 0, 0, 10, 0)->weight = 3;
	(void)sample_access(&f->objects, 0, 20, 0x1008);
	apply(f, 5); /* Nothing is settled yet. */
	assert_int_equal(objects_of(f)->site_count, 1);
	site = &objects_of(f)->sites[0];
	assert_int_equal(site->allocations, 1);
	assert_int_equal(site->untracked, 1);
	assert_float_equal(site->alloc_bytes, 300, 0);
	assert_float_equal(site->untracked_bytes, 300, 0);
	assert_float_equal(site->live_bytes, 0, 0);
	apply(f, 100);
	assert_int_equal(untracked_heap(f), 1);
	assert_int_equal(f->intake.objects.table.count, 0);
	(void)sample_allocation(&f->objects, 1, 0, 110, 0x1000);
	apply(f, 200);
	assert_int_equal(site->allocations, 2);
	assert_int_equal(site->untracked, 1);
	assert_float_equal(site->live_bytes, 100, 0);
	for (int i = 0; i < LOSS_MAX; i++)
		assert_int_equal(lost(f, (enum loss)i), 0);
}

/* A young collection of generational ZGC finds nothing dead that is tracked, whatever it is. */
TEST(what_no_collection_has_judged_is_not_yet_collected, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct object_profile *l = objects_of(f);

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_allocation(&f->objects, 2, 0, 10, 0x2000);
	sample_pass(&f->objects, 2, 1, 0x7000, 0);
	apply(f, 100);
	assert_float_equal(object_profile_uncollected(l), 200, 0);
	assert_int_equal(object_profile_judged_ns(l), 0);
	sample_pass(&f->objects, 4, 0, 0, 1);
	apply(f, 200);
	assert_float_equal(object_profile_uncollected(l), 0, 0);
	assert_float_equal(l->sites[0].live_bytes, 100, 0);
	assert_true(object_profile_judged_ns(l) > 0);
	(void)sample_allocation(&f->objects, 3, 4, 210, 0x3000);
	apply(f, 220);
	assert_float_equal(object_profile_uncollected(l), 100, 0);
	assert_float_equal(l->sites[0].live_bytes, 200, 0);
	sample_pass(&f->objects, 6, 0, 0, 3);
	apply(f, 300);
	assert_float_equal(object_profile_uncollected(l), 0, 0);
	assert_float_equal(l->sites[0].live_bytes, 100, 0);
}

TEST(accesses_of_an_epoch_that_was_overtaken_are_not_attributed, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_access(&f->objects, 2, 50, 0x1000);
	sample_access(&f->objects, 2, 50, 0x7ff0)->region = JXP__REGION__REGION_STACK;
	(void)sample_allocation(&f->objects, 2, 2, 51, 0x2000);
	sample_pass(&f->objects, 4, 0, 0, 0);
	(void)sample_access(&f->objects, 4, 90, 0x1000);
	(void)sample_access(&f->objects, 4, 90, 0x2000); /* Where the pass left it. */
	apply(f, 100);
	assert_int_equal(objects_of(f)->unsettled.samples, 1);
	assert_int_equal(objects_of(f)->untracked[JXP__REGION__REGION_STACK].samples, 1);
	assert_int_equal(objects_of(f)->attributed.samples, 2);
}

TEST(what_waits_at_the_end_is_applied_or_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_access(&f->objects, 0, 20, 0x1000);
	(void)sample_access(&f->objects, 2, 30, 0x1000);
	apply(f, 0);
	assert_int_equal(object_profile_samples(objects_of(f)), 0);
	assert_int_equal(intake_finish(&f->intake), 0);
	assert_int_equal(objects_of(f)->attributed.samples, 1);
	assert_int_equal(objects_of(f)->unsettled.samples, 1);
}

TEST(objects_beyond_what_is_tracked_are_counted_all_the_same, set_up, tear_down)
{
	struct fixture *f = *state;

	for (uint32_t i = 1; i <= TRACKED_MAX + 5; i++) {
		(void)sample_allocation(&f->objects, i, 0, 10, 0x1000 * (uint64_t)i);
		apply(f, 100);
	}
	assert_int_equal(lost(f, LOSS_OBJECTS), 5);
	assert_float_equal(objects_of(f)->sites[0].alloc_count, TRACKED_MAX + 5, 0);
	assert_float_equal(objects_of(f)->sites[0].live_count, TRACKED_MAX, 0);
}

TEST(numbers_out_of_range_are_dropped_and_counted, set_up, tear_down)
{
	static const double weights[] = {NAN, -1, 0, 0.5, INFINITY, 1e300, LIMIT_OBJECT_WEIGHT * 2};
	struct fixture *f = *state;
	size_t wrong = sizeof(weights) / sizeof(weights[0]);

	for (uint32_t i = 0; i < wrong; i++)
		sample_allocation(&f->objects, i + 1, 0, 10, 0x1000)->weight = weights[i];
	(void)sample_allocation(&f->objects, 0, 0, 10, 0x1000);
	sample_allocation(&f->objects, 50, 0, 10, 0x1000)->size_bytes = 0;
	sample_allocation(&f->objects, 51, 0, 10, 0x1000)->size_bytes = UINT64_MAX;
	sample_access(&f->objects, 0, 10, 0x1000)->weight = 0;
	sample_access(&f->objects, 0, 10, 0x1000)->weight = UINT64_MAX;
	sample_access(&f->objects, 0, 10, 0x1000)->length = 0;
	sample_access(&f->objects, 0, 10, 0x1000)->length = 65;
	sample_access(&f->objects, 0, 10, 0x1000)->region = 4;
	sample_access(&f->objects, 0, 10, 0x1000)->region = 255;
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_INVALID), wrong + 9);
	assert_int_equal(objects_of(f)->site_count, 0);
	assert_int_equal(object_profile_samples(objects_of(f)), 0);
}

TEST(an_object_that_cannot_lie_there_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, UINT64_MAX);
	(void)sample_access(&f->objects, 0, 20, UINT64_MAX);
	(void)sample_access(&f->objects, 0, 20, 0);
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_INVALID), 1);
	assert_int_equal(untracked_heap(f), 2);
}

TEST(a_repeated_object_or_class_is_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	(void)sample_allocation(&f->objects, 1, 0, 11, 0x5000);
	f->objects.classes[1].id = 1;
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_REPEATED_IDS), 2);
	assert_float_equal(objects_of(f)->sites[0].alloc_count, 1, 0);
}

TEST(unknown_classes_and_contexts_are_counted_and_shown_as_none, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_allocation(&f->objects, 1, 0, 10, 0x1000)->class_id = 9;
	sample_allocation(&f->objects, 2, 0, 10, 0x2000)->node = 99;
	sample_access(&f->objects, 0, 20, 0x1000)->node = 99;
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 3);
	assert_int_equal(objects_of(f)->sites[0].class_name, 0);
	assert_int_equal(objects_of(f)->sites[1].node, 0);
	assert_int_equal(objects_of(f)->accesses[0].node, 0);
}

TEST(objects_that_nobody_asked_for_are_dropped_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.kinds[JXP__KIND__KIND_OBJECTS] = false;
	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_INVALID), 2); /* Classes, and the allocation. */
	assert_int_equal(objects_of(f)->site_count, 0);
}

TEST(why_an_agent_tracks_no_objects_is_kept, set_up, tear_down)
{
	struct fixture *f = *state;

	f->sample.batch.objects_refused = (char *)"another agent\x1b samples allocations";
	apply(f, 100);
	f->sample.batch.objects_refused = (char *)"";
	apply(f, 200);
	assert_string_equal(f->window->objects_refused, "another agent? samples allocations");
}

TEST(positions_and_deaths_of_what_never_was_are_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	sample_pass(&f->objects, 2, 77, 0x1000, 78);
	sample_pass(&f->objects, 0, 79, 0x1000, 0);
	apply(f, 100);
	assert_int_equal(lost(f, LOSS_UNKNOWN_OBJECTS), 2);
	assert_int_equal(lost(f, LOSS_POSITIONS), 2);
}

static uint64_t next_random(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *random >> 20;
}

/* Allocations, accesses and passes with numbers that fit nothing, by the million. */
TEST(a_jvm_that_lies_does_not_grow_the_engine_past_its_limits, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t random = 7;
	size_t most = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		for (uint32_t j = 0; j < 16; j++) {
			uint64_t r = next_random(&random);
			uint32_t epoch = (uint32_t)(r % 3 ? r % 100 : r);
			struct event_allocation *a =
			    sample_allocation(&f->objects, (uint32_t)next_random(&random), epoch,
					      next_random(&random), next_random(&random) % 4096);

			a->size_bytes = 1 + next_random(&random) % 10000;
			a->node = j;
			(void)sample_access(&f->objects, epoch, next_random(&random),
					    next_random(&random) % 4096);
		}
		sample_pass(&f->objects, (uint32_t)(next_random(&random) % (i + 1)),
			    (uint32_t)next_random(&random), next_random(&random),
			    (uint32_t)next_random(&random));
		apply(f, i % 2 ? next_random(&random) % 1000 : 0);
		if (object_intake_memory_bytes(&f->intake.objects) > most)
			most = object_intake_memory_bytes(&f->intake.objects);
	}
	assert_int_equal(intake_finish(&f->intake), 0);
	assert_true(most < 32u << 20);
	assert_true(window_result_memory_bytes(f->window) < 1u << 20);
	assert_true(f->intake.objects.table.count <= TRACKED_MAX);
	assert_int_equal(f->intake.objects.order.heap_count, 0);
}

static const char *class_of_field(const struct fixture *f, const struct class_field *field)
{
	return strings_get(&f->window->profile.strings, field->class_name);
}

TEST(accesses_are_counted_by_what_they_touch_whatever_they_meet, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct class_profile *c = &objects_of(f)->classes;
	uint32_t next =
	    sample_objects_location(&f->objects, JXP__LOCATION__KIND__FIELD,
				    "java.util.HashMap$Node", "next", "java.util.HashMap$Node");
	struct event_access *a;

	(void)sample_allocation(&f->objects, 1, 0, 10, 0x1000);
	a = sample_access(&f->objects, 0, 20, 0x9000); /* Older than the window. */
	a->location = next;
	a->object_bytes = 32;
	(void)sample_access(&f->objects, 0, 21, 0x1000); /* Its class is that of what it met. */
	(void)sample_access(&f->objects, 0, 22, 0x9000); /* Nobody knows. */
	a = sample_access(&f->objects, 4, 23, 0x9000);   /* While objects were moved. */
	a->location = next;
	apply(f, 30);
	assert_int_equal(intake_finish(&f->intake), 0);
	assert_int_equal(c->field_count, 3);
	assert_int_equal(c->fields[0].sum.samples, 1);
	assert_string_equal(class_of_field(f, &c->fields[1]), "java.util.HashMap$Node");
	assert_int_equal(c->fields[1].sum.samples, 2);
	assert_int_equal(c->fields[1].tracked.samples, 0);
	assert_string_equal(class_of_field(f, &c->fields[2]), "float[]");
	assert_int_equal(c->fields[2].location, 0);
	assert_int_equal(c->fields[2].tracked.samples, 1);
	assert_float_equal(strata_all(&objects_of(f)->strata).metric, 40, 0);
	assert_int_equal(c->access_count, 3);
}

TEST(sizes_that_cannot_be_and_unknown_places_are_counted_and_left_out, set_up, tear_down)
{
	struct fixture *f = *state;
	struct event_access *a = sample_access(&f->objects, 0, 20, 0x9000);

	a->location = 77;
	a->object_bytes = LIMIT_OBJECT_BYTES + 1;
	apply(f, 30);
	assert_int_equal(lost(f, LOSS_UNKNOWN_IDS), 1);
	assert_int_equal(lost(f, LOSS_INVALID), 1);
	assert_int_equal(objects_of(f)->classes.fields[0].sum.samples, 1);
}

TEST(what_is_beyond_the_limits_of_classes_is_counted, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->objects.classes.refused = 5;
	f->window->objects.strata.refused = 6;
	apply(f, 30);
	assert_int_equal(lost(f, LOSS_CLASS_ACCESSES), 5);
	assert_int_equal(lost(f, LOSS_STRATA), 6);
}

TEST(the_smallest_size_in_force_is_the_agents, set_up, tear_down)
{
	struct fixture *f = *state;

	f->window->request.object_min_size_adapts = true;
	f->objects.batch->object_interval = 4096;
	f->objects.batch->object_min_size = 256;
	apply(f, 30);
	assert_int_equal(window_result_object_min_size(f->window), 256);
	f->window->request.object_min_size_adapts = false;
	assert_int_equal(window_result_object_min_size(f->window), 0);
}
