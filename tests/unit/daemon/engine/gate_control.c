#include "tests/unit/support/test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "daemon/engine/gate_control.h"
#include "tests/unit/support/fake_broker.h"
#include "tests/unit/support/sample_findings.h"

struct fixture {
	struct window_result *window;
	struct gate_control gate;
	uint64_t end_ns;
	int program; /* what opened was given, -2 before */
	bool closed;
};

static int set_up(void **state)
{
	static const struct window_request request = {.kinds = {false, true}};
	static struct fixture f;

	fake_broker = (struct fake_broker){.gate = true};
	f = (struct fixture){.program = -2, .end_ns = clock_monotonic_ns() + 60 * NS_PER_S};
	f.window = window_result_new(1, 42, &request, &sample_findings);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	gate_control_release(&f->gate);
	window_result_free(f->window);
	return 0;
}

static void on_opened(void *arg, int *program)
{
	((struct fixture *)arg)->program = *program;
}

static void on_closed(void *arg)
{
	((struct fixture *)arg)->closed = true;
}

static void open_gate(struct fixture *f)
{
	assert_int_equal(gate_control_open(&f->gate, NULL, f->window, f->end_ns, on_opened, f), 0);
	fake_broker_answer_gate(0, NULL, open("/dev/null", O_RDONLY | O_CLOEXEC));
	assert_true(f->program >= 0);
	assert_int_equal(f->gate.stage, GATE_IS_OPEN);
}

static uint64_t passed(const struct fixture *f)
{
	return f->window->counters[JXP__COUNTER__COUNTER_GATE_PASSED];
}

TEST(a_gate_that_opens_is_found_and_ends_when_it_was_told, set_up, tear_down)
{
	struct fixture *f = *state;

	open_gate(f);
	assert_true(f->window->findings.kernel_gate);
	assert_string_equal(f->window->findings.gate_reason, "");
	assert_int_equal(fake_broker.gate_limits.window_end_ns, f->end_ns);
}

TEST(a_gate_that_is_not_to_be_had_says_why_and_is_let_be, set_up, tear_down)
{
	struct fixture *f = *state;

	assert_int_equal(gate_control_open(&f->gate, NULL, f->window, f->end_ns, on_opened, f), 0);
	fake_broker_answer_gate(EPERM, NULL, -1);
	assert_int_equal(f->program, -1);
	assert_false(f->window->findings.kernel_gate);
	assert_string_equal(f->window->findings.gate_reason, "not today");
	gate_control_follow(&f->gate, f->end_ns);
	gate_control_shut(&f->gate);
	assert_int_equal(fake_broker.gate_id, 0);
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), -ENOENT);
}

TEST(a_broker_that_cannot_be_asked_is_a_reason_too, set_up, tear_down)
{
	struct fixture *f = *state;

	fake_broker.gate = false;
	assert_true(gate_control_open(&f->gate, NULL, f->window, f->end_ns, on_opened, f) < 0);
	assert_int_equal(f->program, -2); /* opened was not called */
	assert_non_null(
	    strstr(f->window->findings.gate_reason, "the broker could not be asked for it: "));
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), -ENOENT);
}

TEST(the_kernels_counts_come_on_top_of_the_agents_and_once, set_up, tear_down)
{
	struct gate_counts counts = {.samples = {[GATE_PASSED] = 7, [GATE_UNKNOWN] = 3}};
	struct fixture *f = *state;

	open_gate(f);
	f->window->counters[JXP__COUNTER__COUNTER_GATE_PASSED] = 100;
	gate_control_follow(&f->gate, f->end_ns);
	fake_broker_answer_gate(0, &counts, -1);
	assert_int_equal(passed(f), 107);
	assert_int_equal(f->gate.strangers, 3);
	counts.samples[GATE_PASSED] = 9;
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), 0);
	fake_broker_answer_gate(0, &counts, -1);
	assert_true(f->closed);
	assert_int_equal(passed(f), 109);
}

TEST(an_error_changes_no_count, set_up, tear_down)
{
	struct gate_counts counts = {.samples = {[GATE_PASSED] = 7}};
	struct fixture *f = *state;

	open_gate(f);
	gate_control_follow(&f->gate, f->end_ns);
	fake_broker_answer_gate(ESRCH, &counts, -1);
	assert_int_equal(passed(f), 0);
}

TEST(limits_follow_the_period_but_not_below_what_was_asked, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t interval_ns;

	open_gate(f);
	interval_ns = fake_broker.gate_limits.interval_ns;
	f->window->effective_period = 1; /* So says the agent. */
	gate_control_follow(&f->gate, f->end_ns);
	assert_int_equal(fake_broker.gate_limits.interval_ns, interval_ns);
	fake_broker_answer_gate(0, NULL, -1);
	f->window->effective_period = 10 * sample_findings.period;
	f->gate.next_ns = 0; /* Half a second later. */
	gate_control_follow(&f->gate, f->end_ns);
	assert_int_equal(fake_broker.gate_limits.interval_ns, 10 * interval_ns);
}

TEST(limits_are_set_twice_a_second_and_one_request_at_a_time, set_up, tear_down)
{
	struct fixture *f = *state;
	int asked;

	open_gate(f);
	gate_control_follow(&f->gate, f->end_ns);
	asked = fake_broker.last_id;
	f->gate.next_ns = 0;
	gate_control_follow(&f->gate, f->end_ns); /* The other is not answered. */
	assert_int_equal(fake_broker.last_id, asked);
	fake_broker_answer_gate(0, NULL, -1);
	f->gate.next_ns = clock_monotonic_ns() + NS_PER_S;
	gate_control_follow(&f->gate, f->end_ns); /* Too soon. */
	assert_int_equal(fake_broker.last_id, asked);
}

TEST(a_gate_that_was_shut_is_not_opened_again, set_up, tear_down)
{
	struct fixture *f = *state;
	int asked;

	open_gate(f);
	gate_control_follow(&f->gate, f->end_ns);
	gate_control_shut(&f->gate); /* The open request is forgotten for this one. */
	assert_true(fake_broker.gate_limits.window_end_ns <= clock_monotonic_ns());
	asked = fake_broker.last_id;
	fake_broker_answer_gate(0, NULL, -1);
	f->gate.next_ns = 0;
	gate_control_follow(&f->gate, f->end_ns);
	gate_control_shut(&f->gate);
	assert_int_equal(fake_broker.last_id, asked);
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), 0);
	assert_true(fake_broker.gate_removed);
}

TEST(nothing_is_asked_after_the_last_counts_were, set_up, tear_down)
{
	struct fixture *f = *state;

	open_gate(f);
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), 0);
	gate_control_follow(&f->gate, f->end_ns);
	gate_control_shut(&f->gate);
	assert_true(fake_broker.gate_removed);
	assert_int_equal(gate_control_close(&f->gate, on_closed, f), -ENOENT);
	gate_control_release(&f->gate);
	assert_int_equal(fake_broker.gate_id, 0); /* forgotten */
	assert_false(f->closed);
}
