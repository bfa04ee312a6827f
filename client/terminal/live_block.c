#include "client/terminal/live_block.h"

#include <stdio.h>
#include <unistd.h>

/* ECMA-48: to the first column and erase to the end of the screen; a line up. */
#define ERASE "\r\033[J"
#define UP    "\033[A"
/* No line goes on in the next one, so that as many are erased as were written (DECAWM). */
#define CUT    "\033[?7l"
#define NO_CUT "\033[?7h"

struct live_block live_block_on_stderr(bool json)
{
	return (struct live_block){.terminal = terminal_understands(STDERR_FILENO),
				   .colour = terminal_may_colour(STDERR_FILENO, json)};
}

static void go_back(struct live_block *b)
{
	for (; b->shown > 1; b->shown--)
		(void)fputs(UP, stderr);
	(void)fputs(ERASE, stderr);
	b->shown = 0;
}

void live_block_show(struct live_block *b, const struct lines *l)
{
	size_t height = terminal_height(STDERR_FILENO);

	if (!b->terminal)
		return;
	go_back(b);
	(void)fputs(CUT, stderr);
	for (; b->shown < l->count && (height == 0 || b->shown < height); b->shown++) {
		const struct lines_row *row = &l->rows[b->shown];
		const char *sequence = b->colour ? terminal_sequence(row->style) : "";

		(void)fprintf(stderr, "%s%s%s%s", b->shown ? "\n" : "", sequence, row->text,
			      sequence[0] ? TERMINAL_PLAIN : "");
	}
	(void)fputs(NO_CUT, stderr);
	(void)fflush(stderr);
}

void live_block_erase(struct live_block *b)
{
	if (b->shown == 0)
		return;
	go_back(b);
	(void)fflush(stderr);
}
