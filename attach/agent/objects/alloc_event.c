#include "attach/agent/objects/alloc_event.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/jvmti/alloc_sampling.h"
#include "attach/agent/jvm/class_table.h"
#include "attach/agent/jvm/session_wake.h"
#include "attach/agent/objects/object_ref.h"
#include "attach/agent/objects/object_settings.h"
#include "attach/agent/objects/track_room.h"
#include "common/clock.h"
#include "common/proc.h"
#include "common/random.h"
#include "proto/jxperf.pb-c.h"
#include "proto/ledger.h"
#include "proto/limits.h"

/* All of this is global because the JVM hands the callback nothing of ours. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct alloc_event queue[ALLOC_QUEUE_EVENTS];
static uint32_t head, tail; /* under the lock: events ever put and taken */

static _Atomic bool active; /* changed under the lock */
static _Atomic uint32_t in_callback;
static _Atomic uint64_t cost_ns;
static _Atomic uint64_t wake_at_ns; /* of cost_ns; 0: never */
static _Atomic uint32_t interval = ALLOC_SAMPLING_DEFAULT;
static struct track_room room;
static _Atomic uint64_t min_size_bytes;
static unsigned max_frames;
static double kept_byte_ns;

/* Counters of the window, in places of their own because any thread counts. */
static _Atomic uint64_t sampled, small, thinned, untracked, over_bytes, dropped, unwalkable,
    truncated, contexts_full;

static uint64_t started_ns; /* CLOCK_BOOTTIME; before active is set */

/* The allocating thread's; touched in its callbacks only, never in a signal handler. */
static __thread struct {
	uint32_t drawn; /* interval with which the pending sample point was drawn; 0: unknown */
	uint32_t tid;
	uint64_t stack_high; /* 0: not asked for yet */
	struct random random;
} own;

static void count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void charge(uint64_t ns)
{
	uint64_t before = atomic_fetch_add_explicit(&cost_ns, ns, memory_order_relaxed);
	uint64_t limit = atomic_load_explicit(&wake_at_ns, memory_order_relaxed);

	if (before < limit && before + ns >= limit)
		session_wake_send();
}

double alloc_weight(uint64_t size_bytes, uint32_t mean)
{
	double probability;

	if (mean == 0)
		return 1; /* Every allocation is sampled. */
	probability = -expm1(-(double)size_bytes / (double)mean);
	return probability > 0 ? 1 / probability : 1;
}

/* ---------------------------------------------------------------- in the allocating thread */

/* The JVM's event tells this. */
struct allocation {
	jvmtiEnv *jvmti;
	JNIEnv *jni;
	jobject object;
	jclass class;
};

/* Did the calling thread begin when events were accepted already? By the kernel's count of its
 * start, in hundredths of a second: nobody is told of starts, since each would be made to wait for
 * it. */
static bool is_newcomer(void)
{
	uint64_t ticks;

	return proc_start_time((pid_t)syscall(SYS_gettid), &ticks) == 0 &&
	       ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)) >= started_ns;
}

/* The interval of the point that was hit. The next one has been drawn before the callback
 * (check_for_sampling), with what is in force now. */
static uint32_t take_interval(void)
{
	uint32_t now = atomic_load_explicit(&interval, memory_order_relaxed);
	uint32_t drawn = own.drawn;

	if (!drawn)
		drawn = is_newcomer() ? now : ALLOC_SAMPLING_DEFAULT;

	own.drawn = now;
	return drawn;
}

static bool reserve_bytes(struct alloc_event *e, uint64_t bytes)
{
	uint64_t words = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);

	if (words > UINT32_MAX || !track_room_take_words(&room, (uint32_t)words))
		return false;
	e->kept_words = (uint32_t)words;
	charge((uint64_t)((double)bytes * kept_byte_ns));
	return true;
}

/* A pause that begins, ends or passes meanwhile may have moved the object. */
static void locate(JNIEnv *jni, struct alloc_event *e)
{
	uint32_t epoch = atomic_load_explicit(&handlers.epoch, memory_order_acquire);
	uint64_t address = object_ref_address(jni, e->ref);

	atomic_thread_fence(memory_order_acquire);
	if (epoch % 2 == 0 && atomic_load_explicit(&handlers.epoch, memory_order_acquire) == epoch)
		e->address = address;
	e->epoch = epoch + epoch % 2;
}

/* The end of this thread's stack, which is asked for once. 0: nobody knows. */
static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	size_t bytes = 0;
	void *low = NULL;

	if (own.stack_high)
		return own.stack_high;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return 0;
	if (pthread_attr_getstack(&attr, &low, &bytes) == 0)
		own.stack_high = (uint64_t)(uintptr_t)low + bytes;
	(void)pthread_attr_destroy(&attr);
	return own.stack_high;
}

/* The calling context; exact, because the thread stands at the allocation, in the JVM: its last
 * Java frame is noted. Nobody is asked for it: HotSpot 21 to 23 may wait for what waits for us
 * (JvmtiVTMSTransitionDisabler). */
static uint32_t capture(void)
{
	struct call calls[MAX_FRAMES_LIMIT];
	struct stack_outcome outcome;
	ucontext_t here;
	struct stack_place place = {.uc = &here,
				    .stack_high = stack_end(),
				    .epoch = handlers_epoch(),
				    .max_frames = max_frames,
				    .calls = calls};

	(void)getcontext(&here); /* Does not fail. */
	place.ip = (uint64_t)here.uc_mcontext.gregs[REG_RIP];
	switch (stack_capture(&handlers.walker, &place, handlers.contexts, &outcome)) {
	case STACK_OK:
		break;
	case STACK_TRUNCATED:
		count(&truncated);
		break;
	case STACK_UNWALKABLE:
	case STACK_NO_JAVA:
		count(&unwalkable);
		break;
	case STACK_TABLE_FULL:
		count(&contexts_full);
		break;
	}
	return outcome.context;
}

static uint32_t class_of(jvmtiEnv *jvmti, jclass class)
{
	char *signature;
	uint32_t id;

	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return 0;
	id = class_table_intern(signature);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature); /* JVMTI's own. */
	return id;
}

/* The time is taken under the lock: what a later taker finds is not of an earlier time. */
static bool put(struct alloc_event *e)
{
	bool fits;

	(void)pthread_mutex_lock(&lock);
	fits = active && head - tail < ALLOC_QUEUE_EVENTS;
	if (fits) {
		e->time_ns = clock_monotonic_ns();
		queue[head++ % ALLOC_QUEUE_EVENTS] = *e;
	}
	(void)pthread_mutex_unlock(&lock);
	return fits;
}

static bool refer(const struct allocation *a, struct alloc_event *e)
{
	uint64_t bytes;

	e->ref = object_ref_new(a->jni, a->object, e->size_bytes, &bytes);
	if (!e->ref) {
		count(&untracked);
		return false;
	}
	if (reserve_bytes(e, bytes))
		return true;
	count(&over_bytes);
	object_ref_delete(a->jni, e->ref);
	return false;
}

static void track(const struct allocation *a, struct alloc_event *e)
{
	int cpu = sched_getcpu();

	if (!refer(a, e)) {
		alloc_events_ref_released(0);
		return;
	}
	e->cpu = cpu >= 0 ? (uint32_t)cpu : 0;
	locate(a->jni, e);
	e->context = capture();
	e->class_id = class_of(a->jvmti, a->class);
	if (!put(e)) {
		object_ref_delete(a->jni, e->ref);
		alloc_events_ref_released(e->kept_words);
		count(&dropped);
	}
}

/* The object is too small to be tracked; where it is allocated counts. */
static void tell(const struct allocation *a, struct alloc_event *e)
{
	count(&small);
	e->stands_for = 1;
	e->context = capture();
	e->class_id = class_of(a->jvmti, a->class);
	if (!put(e))
		count(&dropped);
}

static void know_this_thread(void)
{
	if (own.tid != 0)
		return;
	own.tid = (uint32_t)syscall(SYS_gettid);
	random_seed(&own.random, own.tid ^ clock_monotonic_ns());
}

/* Is the object one of those that are tracked, as room runs short? Asked only of objects that are
 * large enough: small ones take no room, so they have no say in how many do. */
static bool is_drawn(struct alloc_event *e)
{
	if (track_room_draw(&room, &own.random, e->size_bytes, &e->stands_for))
		return true;
	count(&thinned);
	return false;
}

static void take(const struct allocation *a, uint64_t size_bytes)
{
	struct alloc_event e = {.size_bytes = size_bytes, .interval = take_interval()};

	count(&sampled);
	know_this_thread();
	e.tid = own.tid;
	if (e.size_bytes < atomic_load_explicit(&min_size_bytes, memory_order_relaxed)) {
		tell(a, &e);
	} else if (!is_drawn(&e)) {
		return;
	} else if (!track_room_take_ref(&room)) {
		count(&untracked);
	} else {
		track(a, &e);
	}
}

void JNICALL alloc_event_callback(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
				  jclass class, jlong size)
{
	const struct allocation a = {.jvmti = jvmti, .jni = jni, .object = object, .class = class};

	(void)thread;

	/* Entered before active is looked at, as the session thread clears it before it looks here:
	 * one of the two sees the other. */
	atomic_fetch_add(&in_callback, 1);
	if (atomic_load(&active)) {
		uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		take(&a, (uint64_t)size);
		charge(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start + LEDGER_ALLOCATION_NS);
	}
	atomic_fetch_sub(&in_callback, 1);
}

/* ---------------------------------------------------------------- session thread */

void alloc_events_start(const struct object_settings *settings, unsigned max_refs,
			const struct object_refs_effect *effect)
{
	(void)pthread_mutex_lock(&lock);
	head = tail = 0;
	atomic_store(&min_size_bytes, settings->min_size_bytes);
	max_frames = settings->max_frames;
	track_room_limit(&room, max_refs, effect->kept_bytes_max, effect->large_bytes);
	kept_byte_ns = effect->kept_byte_ns;
	atomic_store(&cost_ns, 0);
	atomic_store(&wake_at_ns, 0);
	sampled = small = thinned = untracked = over_bytes = dropped = unwalkable = truncated =
	    contexts_full = 0;
	started_ns = clock_ns(CLOCK_BOOTTIME);
	atomic_store(&active, true);
	(void)pthread_mutex_unlock(&lock);
}

bool alloc_events_stop(unsigned timeout_ms)
{
	const struct timespec tick = {.tv_nsec = (long)NS_PER_MS};
	uint64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	(void)pthread_mutex_lock(&lock);
	atomic_store(&active, false);
	(void)pthread_mutex_unlock(&lock);
	/* Nothing tells of a callback's end: it would have to be told to every one. */
	while (atomic_load(&in_callback) != 0) {
		if (clock_monotonic_ns() >= deadline)
			return false;
		(void)nanosleep(&tick, NULL); /* Too short a sleep does no harm. */
	}
	return true;
}

bool alloc_events_take(struct alloc_event *out)
{
	bool found;

	(void)pthread_mutex_lock(&lock);
	found = head != tail;
	if (found)
		*out = queue[tail++ % ALLOC_QUEUE_EVENTS];
	(void)pthread_mutex_unlock(&lock);
	return found;
}

void alloc_events_ref_released(uint32_t kept_words)
{
	track_room_give(&room, kept_words);
}

void alloc_events_set_interval(uint32_t bytes)
{
	atomic_store(&interval, bytes);
}

void alloc_events_set_min_size(uint64_t bytes)
{
	atomic_store(&min_size_bytes, bytes);
}

void alloc_events_sizes(uint64_t *all, uint64_t *below)
{
	*below = atomic_load(&small);
	*all = atomic_load(&sampled);
}

void alloc_events_count(uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_OBJECTS_SAMPLED] += atomic_load(&sampled);
	counters[JXP__COUNTER__COUNTER_OBJECTS_SMALL] += atomic_load(&small);
	counters[JXP__COUNTER__COUNTER_OBJECTS_THINNED] += atomic_load(&thinned);
	counters[JXP__COUNTER__COUNTER_OBJECTS_UNTRACKED] += atomic_load(&untracked);
	counters[JXP__COUNTER__COUNTER_OBJECTS_OVER_BYTES] += atomic_load(&over_bytes);
	counters[JXP__COUNTER__COUNTER_OBJECTS_QUEUE_FULL] += atomic_load(&dropped);
	counters[JXP__COUNTER__COUNTER_UNWALKABLE] += atomic_load(&unwalkable);
	counters[JXP__COUNTER__COUNTER_TRUNCATED] += atomic_load(&truncated);
	counters[JXP__COUNTER__COUNTER_CONTEXTS_FULL] += atomic_load(&contexts_full);
}

void alloc_events_wake_at(uint64_t ns)
{
	atomic_store_explicit(&wake_at_ns, ns, memory_order_relaxed);
}

uint64_t alloc_events_cost_ns(void)
{
	return atomic_load(&cost_ns);
}
