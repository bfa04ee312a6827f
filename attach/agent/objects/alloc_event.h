/*
 * Allocations that the JVM samples: JVMTI's SampledObjectAlloc, from the callback in the allocating
 * thread to the session thread.
 *
 * The callback takes a reference that keeps nothing alive, address, calling context and class, and
 * queues them; the queue has a fixed size, and what it has no room for is counted. Of an object
 * below the smallest size it takes no reference: what it does to the collector is nothing, and
 * where it was allocated is known all the same. The mutexes inside are held for a few instructions
 * and are taken by no signal handler, so one that interrupts a callback goes on.
 *
 * How likely an object was to be sampled. Each thread counts down the bytes that it allocates
 * (HotSpot's threadHeapSampler.cpp, memAllocator.cpp; JDK 11 to 25). Where the count reaches zero
 * lies a sample point; the object that contains it is reported, once, whether it lies in a TLAB or
 * outside of it, and the next count is drawn from the exponential distribution with the interval in
 * force then as its mean. That distribution has no memory: whatever was allocated before, an object
 * of s bytes contains at least one point with probability 1 - exp(-s / interval). Weighted by the
 * inverse, sampled objects give unbiased totals (Horvitz and Thompson 1952).
 *
 * The interval that counts is the one in force when the point was drawn, that is, at the previous
 * sample of the same thread; it is remembered for each thread, so objects sampled just after the
 * interval changed have the right weight. Of a thread that began in the window the first point
 * counts as drawn with the interval of its first sample. Not known is how that of a thread which is
 * older than its first window was drawn: the JVM's default is assumed. What such a thread allocated
 * in its TLAB before the window counts towards that first point, so the first sample of a thread,
 * and it alone, is somewhat too likely. In JDK 11 that first point is at the first allocation that
 * is looked at.
 */
#ifndef JXPERF_AGENT_OBJECTS_ALLOC_EVENT_H
#define JXPERF_AGENT_OBJECTS_ALLOC_EVENT_H

#include <jni.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Twenty times a second the queue is emptied, and an allocation that is sampled costs microseconds.
 */
#define ALLOC_QUEUE_EVENTS 2048u

struct object_refs_effect;
struct object_settings;

struct alloc_event {
	uint64_t time_ns;
	uint64_t address; /* 0: not known in this epoch */
	uint64_t size_bytes;
	void *ref;           /* of object_ref.h; NULL: the object is too small to be tracked */
	uint32_t kept_words; /* of 8 bytes that it may keep from being reclaimed */
	uint32_t stands_for; /* offered objects, itself included (track_room.h) */
	uint32_t interval;   /* with which its sample point was drawn, bytes */
	uint32_t tid;
	uint32_t cpu;
	uint32_t epoch;    /* even */
	uint32_t context;  /* 0: none */
	uint32_t class_id; /* of class_table */
};

/* Session thread. Accepts events from now on; at most max_refs references at a time, and with
 * them what the effect allows. */
void alloc_events_start(const struct object_settings *settings, unsigned max_refs,
			const struct object_refs_effect *effect);

/* Session thread. Accepts no more events and waits for callbacks that are under way. False when one
 * did not return in time; it will find that it is not wanted. Then the queue holds what is left. */
bool alloc_events_stop(unsigned timeout_ms);

/* Session thread: the next of the queue, whose reference, if any, is the caller's now; false when
 * it is empty. Every event that is queued after a call that gave false has a later time than the
 * call. */
bool alloc_events_take(struct alloc_event *out);

/* A reference that came with an event, and with these kept_words, has been deleted. */
void alloc_events_ref_released(uint32_t kept_words);

/* The interval that the JVM has been told. */
void alloc_events_set_interval(uint32_t bytes);

/* Smaller objects are not tracked from now on. */
void alloc_events_set_min_size(uint64_t bytes);

/* How many allocations of the window were sampled, and how many of them were smaller. */
void alloc_events_sizes(uint64_t *all, uint64_t *below);

/* Adds the module's counters of the window to counters[COUNTER_MAX]. */
void alloc_events_count(uint64_t *counters);

/* CPU time of the JVM in this window that callbacks took, and what they make the collector do. */
uint64_t alloc_events_cost_ns(void);

/* Has the session thread woken, once, when that cost comes to so much. */
void alloc_events_wake_at(uint64_t cost_ns);

/* The inverse of the probability that an object of this size is sampled; at least 1. */
double alloc_weight(uint64_t size_bytes, uint32_t interval);

/* The hook `allocated` (attach/agent/jvmti/vm.h). */
void JNICALL alloc_event_callback(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
				  jclass class, jlong size);

#endif
