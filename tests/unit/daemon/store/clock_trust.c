#include "tests/unit/support/test.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/store/clock_trust.h"

#define HOUR_S 3600
#define DAY_S  86400

/* The clocks as a test sets them: before the C library's function, this one is found. */
static struct timespec unix_time, boot_time;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = clock == CLOCK_REALTIME ? unix_time : boot_time;
	return 0;
}

static struct clock_trust trust;
static int64_t set_ns;

static int set_up(void **state)
{
	(void)state;
	unix_time.tv_sec = 1000 * DAY_S;
	boot_time.tv_sec = DAY_S;
	trust = (struct clock_trust){.known = false};
	return 0;
}

static void pass(time_t seconds)
{
	unix_time.tv_sec += seconds;
	boot_time.tv_sec += seconds;
}

static enum clock_verdict look(void)
{
	return clock_trust_look(&trust, true, &set_ns);
}

/* What another daemon, or this one after a restart, begins with. */
static void restart(void)
{
	char note[CLOCK_NOTE_BYTES];
	size_t size = clock_trust_note(&trust, note);
	struct clock_trust next = {.known = false};

	assert_true(clock_trust_restore(&next, note, size));
	trust = next;
}

static void boot(void)
{
	strcpy(trust.boot_id, "another");
	boot_time.tv_sec = 60;
}

/* Nothing is kept yet. */
static void begin_trusted(void)
{
	assert_int_equal(clock_trust_look(&trust, false, &set_ns), CLOCK_EVEN);
	assert_true(clock_trust_is_trusted(&trust));
}

TEST(a_clock_that_nothing_is_kept_of_is_trusted, set_up)
{
	assert_false(clock_trust_is_trusted(&trust));
	begin_trusted();
	pass(5);
	assert_int_equal(look(), CLOCK_EVEN);
	assert_true(clock_trust_is_trusted(&trust));
}

TEST(windows_of_an_unknown_clock_wait_for_a_day, set_up)
{
	assert_int_equal(look(), CLOCK_UNKNOWN);
	assert_false(clock_trust_is_trusted(&trust));
	pass(DAY_S - 1);
	assert_int_equal(look(), CLOCK_EVEN);
	assert_false(clock_trust_is_trusted(&trust));
	pass(2);
	assert_int_equal(look(), CLOCK_TRUSTED);
	assert_true(clock_trust_is_trusted(&trust));
	assert_int_equal(look(), CLOCK_EVEN);
}

TEST(a_clock_that_is_set_while_the_daemon_runs_is_doubted, set_up)
{
	static const time_t steps[] = {60 * DAY_S, -60 * DAY_S, 2 * HOUR_S, -2 * HOUR_S};

	begin_trusted();
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		pass(5);
		unix_time.tv_sec += steps[i];
		assert_int_equal(look(), CLOCK_WAS_SET);
		assert_int_equal(set_ns, steps[i] * (int64_t)NS_PER_S);
		assert_false(clock_trust_is_trusted(&trust));
		assert_int_equal(look(), CLOCK_EVEN); /* Said once. */
		pass(DAY_S);
		assert_int_equal(look(), CLOCK_TRUSTED);
	}
}

TEST(a_clock_that_was_set_between_two_daemons_is_doubted_by_each, set_up)
{
	begin_trusted();
	pass(HOUR_S);
	unix_time.tv_sec += 60 * DAY_S;
	restart();
	assert_int_equal(look(), CLOCK_WAS_SET);
	for (int daemon = 0; daemon < 3; daemon++) {
		pass(HOUR_S);
		restart();
		assert_int_equal(look(), CLOCK_EVEN);
		assert_false(clock_trust_is_trusted(&trust));
	}
	pass(21 * HOUR_S);
	restart();
	assert_int_equal(look(), CLOCK_TRUSTED);
}

TEST(time_without_a_daemon_passes_evenly, set_up)
{
	begin_trusted();
	pass(60 * DAY_S);
	restart();
	assert_int_equal(look(), CLOCK_EVEN);
	assert_true(clock_trust_is_trusted(&trust));
}

TEST(a_start_of_the_machine_may_have_taken_minutes, set_up)
{
	begin_trusted();
	pass(600);
	boot();
	restart();
	assert_int_equal(look(), CLOCK_EVEN);
	assert_true(clock_trust_is_trusted(&trust));
}

TEST(after_days_without_the_machine_the_clock_is_doubted, set_up)
{
	begin_trusted();
	unix_time.tv_sec += 60 * DAY_S;
	boot();
	restart();
	assert_int_equal(look(), CLOCK_WAS_SET);
	assert_false(clock_trust_is_trusted(&trust));
	/* And where it went back meanwhile. */
	unix_time.tv_sec -= 61 * DAY_S;
	boot();
	assert_int_equal(look(), CLOCK_WAS_SET);
}

TEST(many_small_steps_are_one, set_up)
{
	enum clock_verdict verdict = CLOCK_EVEN;

	begin_trusted();
	for (int i = 0; i < 13 && verdict == CLOCK_EVEN; i++) {
		pass(5);
		unix_time.tv_sec += 300;
		verdict = look();
	}
	assert_int_equal(verdict, CLOCK_WAS_SET);
}

TEST(what_is_no_note_is_not_taken, set_up)
{
	static const char *const notes[] = {"", "sums", "a 1 2 3", "a 1 2 3 x"};
	char large[2 * CLOCK_NOTE_BYTES];

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		assert_false(clock_trust_restore(&trust, notes[i], strlen(notes[i])));
	memset(large, '1', sizeof(large));
	assert_false(clock_trust_restore(&trust, large, sizeof(large)));
	assert_false(trust.known);
}
