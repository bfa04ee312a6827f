#include "tests/unit/support/test.h"

#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/terminal/terminal.h"

/* A terminal, and what is none. */
struct scene {
	int terminal, other_end;
	int pipe[2];
};

static int setup(void **state)
{
	static struct scene s;

	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	*state = &s;
	return pipe(s.pipe) == 0 ? openpty(&s.other_end, &s.terminal, NULL, NULL, NULL) : -1;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	(void)close(s->terminal);
	(void)close(s->other_end);
	(void)close(s->pipe[0]);
	return close(s->pipe[1]);
}

TEST(only_a_terminal_whose_type_is_known_understands_escapes, setup, teardown)
{
	const struct scene *s = *state;

	assert_true(terminal_understands(s->terminal));
	assert_false(terminal_understands(s->pipe[1]));
	(void)setenv("TERM", "dumb", 1);
	assert_false(terminal_understands(s->terminal));
	(void)setenv("TERM", "", 1);
	assert_false(terminal_understands(s->terminal));
	(void)unsetenv("TERM");
	assert_false(terminal_understands(s->terminal));
}

TEST(there_is_colour_unless_somebody_does_not_want_it, setup, teardown)
{
	const struct scene *s = *state;

	assert_true(terminal_may_colour(s->terminal, false));
	assert_false(terminal_may_colour(s->terminal, true));
	assert_false(terminal_may_colour(s->pipe[1], false));
	(void)setenv("NO_COLOR", "", 1); /* As if it were not set (no-color.org). */
	assert_true(terminal_may_colour(s->terminal, false));
	(void)setenv("NO_COLOR", "0", 1);
	assert_false(terminal_may_colour(s->terminal, false));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	assert_false(terminal_may_colour(s->terminal, false));
}

TEST(the_width_is_the_terminals_or_a_usual_one, setup, teardown)
{
	const struct scene *s = *state;
	const struct winsize size = {.ws_row = 7, .ws_col = 132};

	assert_int_equal(terminal_width(s->terminal), TERMINAL_WIDTH_DEFAULT);
	assert_int_equal(terminal_height(s->terminal), 0);
	assert_int_equal(ioctl(s->terminal, TIOCSWINSZ, &size), 0);
	assert_int_equal(terminal_width(s->terminal), 132);
	assert_int_equal(terminal_height(s->terminal), 7);
	assert_int_equal(terminal_width(s->pipe[1]), TERMINAL_WIDTH_DEFAULT);
	assert_int_equal(terminal_height(s->pipe[1]), 0);
}
