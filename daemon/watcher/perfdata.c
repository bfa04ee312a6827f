#include "daemon/watcher/perfdata.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/hsperfdata.h"
#include "common/cleanup.h"
#include "common/clock.h"

#define NAME_BYTES  64
#define GENERATIONS 3
#define SPACES      5

/* For those with a young generation, number 0 collects that and number 1 everything. The others'
 * pauses (G1's and CMS's concurrent marking) leave garbage in the heap. */
#define FULL_COLLECTOR 1u

/* At three gigabytes a second the heap has 30 MB more after so long. */
#define FRESH_NS 1e7

/* After so many collections one was seen at once, or nearly: that tells the JVM's clock. */
#define CLOCK_ENDS 4u

/* So much more in use is the same: a sixteenth, and some buffers. */
#define SAME_HEAP_SHARE 16u
#define SAME_HEAP_BYTES (UINT64_C(4) << 20)

int watcher_perfdata_init(struct watcher_perfdata *p, int fd)
{
	*p = (struct watcher_perfdata){.fd = fd, .copy = malloc(HSPERFDATA_MAX_BYTES)};
	return p->copy ? watcher_perfdata_find(p) : -ENOMEM;
}

void watcher_perfdata_release(struct watcher_perfdata *p)
{
	cleanup_close(&p->fd);
	free(p->copy);
	*p = (struct watcher_perfdata){.fd = -1};
}

/* From there to there, to the same place of the copy. */
static ssize_t read_file(struct watcher_perfdata *p, size_t first, size_t end)
{
	ssize_t n;

	do
		n = pread(p->fd, p->copy + first, end - first, (off_t)first);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* ---------------------------------------------------------------- where the numbers are */

/* A number's offset; what is read from now on reaches it. */
static bool find_number(struct watcher_perfdata *p, size_t size, size_t *offset, const char *format,
			unsigned i, unsigned j)
{
	char name[NAME_BYTES];

	(void)snprintf(name, sizeof(name), format, i, j);
	if (!hsperfdata_number(p->copy, size, name, offset))
		return false;
	if (p->first > *offset)
		p->first = *offset;
	if (p->end < *offset + sizeof(uint64_t))
		p->end = *offset + sizeof(uint64_t);
	return true;
}

static uint64_t number_at(const struct watcher_perfdata *p, size_t offset)
{
	uint64_t value;

	memcpy(&value, p->copy + offset, sizeof(value));
	return value;
}

static void find_collectors(struct watcher_perfdata *p, size_t size)
{
	p->collector_count = 0;
	for (unsigned i = 0; i < PERFDATA_COLLECTORS; i++) {
		struct perfdata_collector c = {0};

		if (!find_number(p, size, &c.invocations, "sun.gc.collector.%u.invocations", i,
				 0) ||
		    !find_number(p, size, &c.time, "sun.gc.collector.%u.time", i, 0) ||
		    !find_number(p, size, &c.last_exit, "sun.gc.collector.%u.lastExitTime", i, 0))
			continue;
		c.seen_exit = number_at(p, c.last_exit);
		p->collectors[p->collector_count++] = c;
	}
}

/* What a collection leaves is in all spaces but the one called eden, which G1, Parallel and Serial
 * empty. Others have no such space: ZGC and Shenandoah tell what is in use when one of their pauses
 * ends, with the garbage that they have not taken back by then. */
static void find_spaces(struct watcher_perfdata *p, size_t size)
{
	bool has_eden = false;

	p->space_count = 0;
	for (unsigned g = 0; g < GENERATIONS; g++)
		for (unsigned s = 0; s < SPACES; s++) {
			char name[NAME_BYTES], value[NAME_BYTES];
			size_t offset;

			(void)snprintf(name, sizeof(name), "sun.gc.generation.%u.space.%u.name", g,
				       s);
			if (!hsperfdata_string(p->copy, size, name, value, sizeof(value)))
				continue;
			if (strcmp(value, "eden") == 0)
				has_eden = true;
			else if (p->space_count < PERFDATA_SPACES &&
				 find_number(p, size, &offset, "sun.gc.generation.%u.space.%u.used",
					     g, s))
				p->spaces[p->space_count++] = offset;
		}
	if (!has_eden)
		p->space_count = 0;
}

int watcher_perfdata_find(struct watcher_perfdata *p)
{
	ssize_t n = read_file(p, 0, HSPERFDATA_MAX_BYTES);
	size_t frequency;

	if (n < 0)
		return (int)n;
	p->first = HSPERFDATA_MAX_BYTES;
	p->end = 0;
	if (!find_number(p, (size_t)n, &frequency, "sun.os.hrt.frequency", 0, 0) ||
	    number_at(p, frequency) == 0)
		return -EAGAIN;
	p->tick_ns = (double)NS_PER_S / (double)number_at(p, frequency);
	p->first = HSPERFDATA_MAX_BYTES; /* It does not change. */
	p->end = 0;
	find_collectors(p, (size_t)n);
	find_spaces(p, (size_t)n);
	return p->collector_count > 0 ? 0 : -EAGAIN;
}

/* ---------------------------------------------------------------- what they say */

static uint64_t heap_in_use(const struct watcher_perfdata *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->space_count; i++)
		sum += number_at(p, p->spaces[i]);
	return sum;
}

/* Has a collection of the heap ended since the last poll? *exit_ns: the last time at which one did,
 * by the JVM's clock. */
static bool collection_ended(struct watcher_perfdata *p, double *exit_ns)
{
	bool ended = false;

	*exit_ns = 0;
	for (size_t i = 0; i < p->collector_count && i <= FULL_COLLECTOR; i++) {
		struct perfdata_collector *c = &p->collectors[i];
		uint64_t exit = number_at(p, c->last_exit);

		ended |= exit != c->seen_exit;
		c->seen_exit = exit;
		if (*exit_ns < (double)exit * p->tick_ns)
			*exit_ns = (double)exit * p->tick_ns;
	}
	return ended;
}

static void take_heap(struct watcher_perfdata *p, uint64_t heap)
{
	if (p->lowest_heap == 0 || heap < p->lowest_heap)
		p->lowest_heap = heap;
}

/* What is in use some time after a collection is what that left if nothing has been added since:
 * the time was short; or the next look finds the same, in a JVM where looks between collections
 * always did: one that gets no CPU time adds nothing either. */
static void look_at_heap(struct watcher_perfdata *p, uint64_t heap, bool ended, double late_ns)
{
	uint64_t before = p->last_heap;

	if (!ended && before > 0 && heap > before + before / SAME_HEAP_SHARE + SAME_HEAP_BYTES)
		p->heap_moves = true;
	if (ended && p->ends >= CLOCK_ENDS && late_ns < FRESH_NS)
		take_heap(p, heap);
	else if (!ended && p->doubtful && !p->heap_moves)
		take_heap(p, before);
	p->doubtful = ended;
	p->last_heap = heap;
}

int watcher_perfdata_read(struct watcher_perfdata *p)
{
	ssize_t n = read_file(p, p->first, p->end);

	if (n < 0)
		return (int)n;
	return (size_t)n < p->end - p->first ? -ENODATA : 0; /* It was truncated. */
}

void watcher_perfdata_look(struct watcher_perfdata *p, uint64_t now_ns)
{
	double exit_ns, clock_ns;
	bool ended = collection_ended(p, &exit_ns);
	uint64_t heap = heap_in_use(p);

	p->quiet_polls = ended ? 0 : p->quiet_polls + 1;
	if (p->least_heap == 0 || heap < p->least_heap)
		p->least_heap = heap;
	clock_ns = (double)now_ns - exit_ns;
	if (ended && (p->ends++ == 0 || clock_ns < p->clock_ns))
		p->clock_ns = clock_ns;
	look_at_heap(p, heap, ended, clock_ns - p->clock_ns);
}

void watcher_perfdata_take(struct watcher_perfdata *p, Jxp__WatchRecord *out)
{
	double ticks = 0;

	out->collections = 0;
	for (size_t i = 0; i < p->collector_count; i++) {
		out->collections += number_at(p, p->collectors[i].invocations);
		ticks += (double)number_at(p, p->collectors[i].time);
	}
	/* Any number comes from the target: one too large for the type is cut. */
	ticks *= p->tick_ns;
	out->gc_time_ns = ticks < 0x1p63 ? (uint64_t)ticks : UINT64_C(1) << 63;
	out->heap_after_bytes = p->lowest_heap;
	out->heap_least_bytes = p->least_heap;
	p->lowest_heap = p->least_heap = 0;
}
