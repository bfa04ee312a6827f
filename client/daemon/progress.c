#include "client/daemon/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

/* Back to the first column, and erase to the end of the line (ECMA-48). */
#define LINE_START "\r\033[K"

void progress_init(struct progress *p)
{
	*p = (struct progress){.terminal = isatty(STDERR_FILENO)};
}

/* A failing terminal is no reason to give up the window. */
void progress_show(struct progress *p, const Jxp__Progress *state)
{
	if (!p->terminal)
		return;
	(void)fprintf(stderr,
		      LINE_START "window %.40s: %.0f s of %.0f s, %" PRIu64 " samples, %" PRIu64
				 " pairs (^C ends it now)",
		      state->window, (double)state->elapsed_ns / (double)NS_PER_S,
		      (double)state->duration_ns / (double)NS_PER_S, state->samples, state->traps);
	(void)fflush(stderr);
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (!p->shown)
		return;
	(void)fputs(LINE_START, stderr);
	(void)fflush(stderr);
	p->shown = false;
}
