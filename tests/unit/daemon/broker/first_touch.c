#include "tests/unit/support/test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/broker/first_touch.h"
#include "daemon/broker/privilege.h"

/* The real program on faults of this process; SKIP where the kernel does not permit it. */

#define PAGES      64
#define PAGE_BYTES 4096u

static struct broker_touch *touch;
static struct err why_not;

static int open_touch(void **state)
{
	(void)state;
	(void)broker_touch_open(&touch, &why_not);
	return 0;
}

static int free_touch(void **state)
{
	(void)state;
	broker_touch_free(touch);
	return 0;
}

static void need_touch(void)
{
	if (touch)
		return;
	print_message("# SKIP %s\n", why_not.message);
	skip();
}

/* Memory that nobody touched, in small pages. */
static volatile char *fresh_pages(void)
{
	void *p = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	(void)madvise(p, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE); /* Kernels without have none. */
	return p;
}

TEST(the_first_touch_of_a_page_has_its_node)
{
	volatile char *pages = fresh_pages();
	uint64_t seen, lost;

	need_touch();
	assert_int_equal(broker_touch_node(touch, getpid(), (uintptr_t)pages), -1);
	assert_int_equal(broker_touch_trace(touch, getpid(), NULL), 0);
	for (int i = 0; i < PAGES; i++)
		pages[(size_t)i * PAGE_BYTES] = 1;
	for (int i = 0; i < PAGES; i++)
		assert_true(broker_touch_node(touch, getpid(),
					      (uintptr_t)&pages[(size_t)i * PAGE_BYTES + 7]) >= 0);
	assert_true(broker_touch_counts(touch, getpid(), &seen, &lost));
	assert_true(seen >= PAGES);
	assert_int_equal(lost, 0);
	broker_touch_forget(touch, getpid());
	(void)munmap((void *)pages, PAGES * PAGE_BYTES);
}

TEST(pages_touched_before_are_unknown)
{
	volatile char *pages = fresh_pages();

	need_touch();
	pages[0] = 1;
	assert_int_equal(broker_touch_trace(touch, getpid(), NULL), 0);
	pages[0] = 2;
	assert_int_equal(broker_touch_node(touch, getpid(), (uintptr_t)pages), -1);
	broker_touch_forget(touch, getpid());
	(void)munmap((void *)pages, PAGES * PAGE_BYTES);
}

TEST(what_is_forgotten_leaves_nothing)
{
	volatile char *pages = fresh_pages();
	uint64_t seen, lost;

	need_touch();
	assert_int_equal(broker_touch_trace(touch, getpid(), NULL), 0);
	assert_int_equal(broker_touch_trace(touch, getpid(), NULL), 0); /* Twice is once. */
	pages[0] = 1;
	broker_touch_forget(touch, getpid());
	assert_int_equal(broker_touch_node(touch, getpid(), (uintptr_t)pages), -1);
	assert_false(broker_touch_counts(touch, getpid(), &seen, &lost));
	pages[PAGE_BYTES] = 1;
	assert_int_equal(broker_touch_node(touch, getpid(), (uintptr_t)pages + PAGE_BYTES), -1);
	broker_touch_forget(touch, getpid());
	(void)munmap((void *)pages, PAGES * PAGE_BYTES);
}

/* As in the broker, whose privileges are reduced in between. */
TEST(tracing_takes_no_privilege_that_the_broker_gives_up)
{
	int status;
	pid_t pid;

	need_touch();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct err err;

		_exit(broker_privilege_reduce(&err) < 0     ? 1
		      : broker_touch_trial(touch, &err) < 0 ? 2
							    : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(what_others_have_is_left_when_one_is_forgotten)
{
	volatile char *pages = fresh_pages();

	need_touch();
	assert_int_equal(broker_touch_trace(touch, getpid(), NULL), 0);
	pages[0] = 1;
	assert_int_equal(broker_touch_trace(touch, getppid(), NULL), 0);
	broker_touch_forget(touch, getppid());
	assert_true(broker_touch_node(touch, getpid(), (uintptr_t)pages) >= 0);
	broker_touch_forget(touch, getpid());
	(void)munmap((void *)pages, PAGES * PAGE_BYTES);
}

int main(void)
{
	return tests_run(open_touch, free_touch);
}
