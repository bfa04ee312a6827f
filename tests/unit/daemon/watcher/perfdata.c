#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/watcher/perfdata.h"
#include "tests/unit/support/perfdata_file.h"

#define MIB (UINT64_C(1) << 20)

/* One that the test changes as a JVM does. */
struct file {
	struct perfdata_file data;
	int fd;
};

static size_t add_number(struct file *f, const char *name, uint64_t value)
{
	return perfdata_file_add_number(&f->data, name, value);
}

static size_t add_space(struct file *f, const char *space, const char *name, uint64_t used)
{
	char entry[64];

	(void)snprintf(entry, sizeof(entry), "sun.gc.generation.%s.name", space);
	perfdata_file_add_string(&f->data, entry, name);
	(void)snprintf(entry, sizeof(entry), "sun.gc.generation.%s.used", space);
	return add_number(f, entry, used);
}

/* Where the numbers of a JVM with G1 are. */
struct g1 {
	struct file f;
	size_t invocations, time, exit, eden, survivor, old;
};

static void file_init(struct file *f)
{
	perfdata_file_init(&f->data);
	f->fd = memfd_create("hsperfdata", MFD_CLOEXEC);
	assert_true(f->fd >= 0);
}

static void file_write(struct file *f)
{
	assert_int_equal(pwrite(f->fd, f->data.bytes, sizeof(f->data.bytes), 0),
			 sizeof(f->data.bytes));
}

static void g1_init(struct g1 *g)
{
	file_init(&g->f);
	(void)add_number(&g->f, "sun.os.hrt.frequency", 1000000000);
	g->invocations = add_number(&g->f, "sun.gc.collector.0.invocations", 7);
	g->time = add_number(&g->f, "sun.gc.collector.0.time", 5000);
	g->exit = add_number(&g->f, "sun.gc.collector.0.lastExitTime", 100);
	g->eden = add_space(&g->f, "0.space.0", "eden", 300 * MIB);
	g->survivor = add_space(&g->f, "0.space.2", "s1", 1 * MIB);
	g->old = add_space(&g->f, "1.space.0", "space", 5 * MIB);
	file_write(&g->f);
}

static void set(struct g1 *g, size_t offset, uint64_t value)
{
	memcpy(g->f.data.bytes + offset, &value, sizeof(value));
	file_write(&g->f);
}

/* A collection ends at that time of the JVM's clock, and leaves so much in the old space. */
static void collect(struct g1 *g, uint64_t exit_ns, uint64_t old_bytes)
{
	uint64_t n;

	memcpy(&n, g->f.data.bytes + g->invocations, sizeof(n));
	set(g, g->invocations, n + 1);
	set(g, g->exit, exit_ns);
	set(g, g->old, old_bytes);
}

static int poll_at(struct watcher_perfdata *p, uint64_t now_ns)
{
	int r = watcher_perfdata_read(p);

	if (r == 0)
		watcher_perfdata_look(p, now_ns);
	return r;
}

TEST(collections_and_their_time_are_read)
{
	Jxp__WatchRecord r = JXP__WATCH_RECORD__INIT;
	struct watcher_perfdata p;
	struct g1 g;

	g1_init(&g);
	assert_int_equal(watcher_perfdata_init(&p, g.f.fd), 0);
	assert_int_equal(poll_at(&p, 1000), 0);
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.collections, 7);
	assert_int_equal(r.gc_time_ns, 5000);
	assert_int_equal(r.heap_after_bytes, 0); /* None has ended since. */
	assert_int_equal(r.heap_least_bytes, 6 * MIB);
	set(&g, g.time, UINT64_MAX); /* nonsense */
	assert_int_equal(poll_at(&p, 2000), 0);
	watcher_perfdata_take(&p, &r);
	assert_true(r.gc_time_ns > 5000);
	watcher_perfdata_release(&p);
}

/* What was added since the collection is not what that left. */
TEST(the_heap_counts_when_it_is_seen_soon_after_a_collection_or_unchanged)
{
	Jxp__WatchRecord r = JXP__WATCH_RECORD__INIT;
	struct watcher_perfdata p;
	uint64_t now = 1000 * NS_PER_S;
	struct g1 g;

	g1_init(&g);
	assert_int_equal(watcher_perfdata_init(&p, g.f.fd), 0);
	/* The JVM's clock is 999 s behind; each is seen a millisecond later. */
	for (unsigned i = 0; i < 4; i++) {
		now += 100 * NS_PER_MS;
		collect(&g, now - 999 * NS_PER_S - NS_PER_MS, 5 * MIB);
		assert_int_equal(poll_at(&p, now), 0);
	}
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.heap_after_bytes, 6 * MIB);
	/* 40 ms late, but nothing has been added at the next look either. */
	now += 200 * NS_PER_MS;
	collect(&g, now - 999 * NS_PER_S - 40 * NS_PER_MS, 70 * MIB);
	assert_int_equal(poll_at(&p, now), 0);
	assert_int_equal(poll_at(&p, now + 50 * NS_PER_MS), 0);
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.heap_after_bytes, 71 * MIB);
	/* Now there is more, and more still at the next look. */
	now += 100 * NS_PER_MS;
	collect(&g, now - 999 * NS_PER_S - 40 * NS_PER_MS, 130 * MIB);
	assert_int_equal(poll_at(&p, now), 0);
	set(&g, g.old, 280 * MIB);
	assert_int_equal(poll_at(&p, now + 50 * NS_PER_MS), 0);
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.heap_after_bytes, 0);
	/* From then on a second look proves nothing: that JVM may have had no CPU time. */
	now += 100 * NS_PER_MS;
	collect(&g, now - 999 * NS_PER_S - 40 * NS_PER_MS, 90 * MIB);
	assert_int_equal(poll_at(&p, now), 0);
	assert_int_equal(poll_at(&p, now + 50 * NS_PER_MS), 0);
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.heap_after_bytes, 0);
	watcher_perfdata_release(&p);
}

/* ZGC's and Shenandoah's spaces hold garbage when their pauses end. */
TEST(a_collector_without_eden_does_not_tell_what_it_left)
{
	Jxp__WatchRecord r = JXP__WATCH_RECORD__INIT;
	struct watcher_perfdata p;
	struct file f;

	file_init(&f);
	(void)add_number(&f, "sun.os.hrt.frequency", 1000000000);
	(void)add_number(&f, "sun.gc.collector.2.invocations", 9);
	(void)add_number(&f, "sun.gc.collector.2.time", 9);
	(void)add_number(&f, "sun.gc.collector.2.lastExitTime", 9);
	(void)add_space(&f, "1.space.0", "space", 70 * MIB);
	file_write(&f);
	assert_int_equal(watcher_perfdata_init(&p, f.fd), 0);
	assert_int_equal(poll_at(&p, 1000), 0);
	watcher_perfdata_take(&p, &r);
	assert_int_equal(r.collections, 9);
	assert_int_equal(r.heap_least_bytes, 0);
	watcher_perfdata_release(&p);
}

TEST(a_file_without_collectors_is_tried_again)
{
	struct watcher_perfdata p;
	struct file f;

	file_init(&f);
	file_write(&f);
	assert_int_equal(watcher_perfdata_init(&p, f.fd), -EAGAIN);
	(void)add_number(&f, "sun.os.hrt.frequency", 0); /* nonsense */
	file_write(&f);
	assert_int_equal(watcher_perfdata_find(&p), -EAGAIN);
	watcher_perfdata_release(&p);
}

TEST(a_file_that_its_owner_truncates_is_an_error)
{
	struct watcher_perfdata p;
	struct g1 g;

	g1_init(&g);
	assert_int_equal(watcher_perfdata_init(&p, g.f.fd), 0);
	assert_int_equal(ftruncate(g.f.fd, 100), 0);
	assert_int_equal(poll_at(&p, 1000), -ENODATA);
	watcher_perfdata_release(&p);
}
