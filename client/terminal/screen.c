#include "client/terminal/screen.h"

#include <curses.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

struct screen {
	SCREEN *terminal;
	sigset_t before;  /* the signals that were blocked */
	sigset_t waiting; /* those that are while we wait: all but SIGWINCH */
	bool colour;
};

/* Attributes of a style; a kind's colour is the pair of its number. */
static attr_t attributes(const struct screen *s, enum terminal_style style)
{
	switch (style) {
	case STYLE_HEADING:
		return A_BOLD;
	case STYLE_QUIET:
		return A_DIM;
	case STYLE_DEAD_STORE:
	case STYLE_SILENT_STORE:
	case STYLE_SILENT_LOAD:
		return s->colour ? (attr_t)COLOR_PAIR(style) : A_NORMAL;
	default:
		return A_NORMAL;
	}
}

/* The same as terminal_sequence has; paper stays the user's. */
static void make_colours(struct screen *s)
{
	static const short colours[] = {[STYLE_DEAD_STORE] = COLOR_RED,
					[STYLE_SILENT_STORE] = COLOR_MAGENTA,
					[STYLE_SILENT_LOAD] = COLOR_CYAN};

	s->colour = s->colour && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (short i = STYLE_DEAD_STORE; s->colour && i <= STYLE_SILENT_LOAD; i++)
		(void)init_pair(i, colours[i], -1); /* Else it is plain. */
}

/* A new size is told by a signal, which ncurses has a handler for. It is let in only while we wait,
 * so that none comes between a look at the size and the wait. */
static void block_resizing(struct screen *s)
{
	sigset_t resizing;

	(void)sigemptyset(&resizing); /* These fail only for invalid arguments. */
	(void)sigaddset(&resizing, SIGWINCH);
	(void)sigprocmask(SIG_BLOCK, &resizing, &s->before);
	s->waiting = s->before;
	(void)sigdelset(&s->waiting, SIGWINCH);
}

/* Names are UTF-8 whatever the locale says; the rest of the client writes them as they are, too. */
static void use_utf8(void)
{
	(void)setlocale(LC_CTYPE, ""); /* Else it is that of C. */
	if (MB_CUR_MAX == 1)
		(void)setlocale(LC_CTYPE, "C.UTF-8"); /* Else other characters are not shown. */
}

struct screen *screen_open(bool colour)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	use_utf8();
	s->colour = colour;
	s->terminal = newterm(NULL, stdout, stdin);
	if (!s->terminal) {
		free(s);
		return NULL;
	}
	block_resizing(s);
	/* What of this a terminal cannot do it goes without. */
	(void)cbreak();
	(void)noecho();
	(void)curs_set(0);
	(void)nodelay(stdscr, TRUE);
	(void)keypad(stdscr, TRUE);
	make_colours(s);
	return s;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	(void)endwin(); /* Fails for a terminal that is gone. */
	delscreen(s->terminal);
	(void)sigprocmask(SIG_SETMASK, &s->before, NULL); /* As above. */
	free(s);
}

/* Inserted into an empty row, so that it does not go on in the next one. */
static void row(const struct screen *s, int y, const struct lines_row *r)
{
	(void)attrset(attributes(s, r->style));
	(void)mvinsstr(y, 0, r->text);
	(void)attrset(A_NORMAL);
}

void screen_draw(struct screen *s, const struct lines *l)
{
	size_t height = (size_t)(LINES > 0 ? LINES : 1);
	size_t shown = l->count <= height ? l->count : height - 1;

	/* ncurses says of none of these that matters whether it worked. */
	(void)erase();
	for (size_t i = 0; i < shown; i++)
		row(s, (int)i, &l->rows[i]);
	if (shown < l->count) {
		char text[64];

		(void)snprintf(text, sizeof(text), "%zu lines more than fit here",
			       l->count - shown);
		row(s, (int)shown, &(struct lines_row){text, STYLE_QUIET});
	}
	(void)refresh();
}

/* Takes what was typed, and a new size. */
static enum screen_event keys(void)
{
	enum screen_event event = SCREEN_TIME;

	for (;;)
		switch (getch()) {
		case 'q':
		case 'Q':
			return SCREEN_END;
		case KEY_RESIZE:
			event = SCREEN_RESIZED;
			break;
		case ERR:
			return event;
		default:
			break;
		}
}

enum screen_event screen_wait(struct screen *s, int signal_fd, uint64_t until_ns)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				       {.fd = signal_fd, .events = POLLIN}};
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t left_ns = now_ns < until_ns ? until_ns - now_ns : 0;
		struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S),
					.tv_nsec = (long)(left_ns % NS_PER_S)};
		enum screen_event event;

		/* Where it fails, by a signal say, nothing is set. */
		(void)ppoll(fds, 2, &left, &s->waiting);
		if (fds[1].revents || fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return SCREEN_END;
		event = keys();
		if (event != SCREEN_TIME || left_ns == 0)
			return event;
	}
}
