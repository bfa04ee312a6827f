/*
 * The first findings of a window, as its report has them: also of one that still runs.
 */
#ifndef JXPERF_CLIENT_COMMAND_FINDINGS_H
#define JXPERF_CLIENT_COMMAND_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "client/daemon/client.h"
#include "client/terminal/lines.h"

/* Beside what else is shown of a window there is room for few. */
#define FINDINGS_MAX 3
/* Who looks on asks no sooner again: each answer is a whole report for the daemon. */
#define FINDINGS_EVERY_S 4

struct finding {
	char *sentence; /* "C.m stores f again; ..." */
	Jxp__Kind kind; /* of its pairs, or KIND_NONE */
};

/* All zero is what is not known yet. */
struct findings {
	bool known;
	struct finding list[FINDINGS_MAX];
	size_t count;
	bool cost_known;
	double cost; /* of the window: a fraction of the JVM's CPU time */
};

/* Asks for a window's report. 0, with findings that the caller releases, -EINTR for a signal, which
 * still waits in c->interrupt, or -errno. */
int findings_ask(struct client *c, const char *window, struct findings *out, struct err *err);

/* Appends them to the lines of a terminal that is so wide: nothing as long as they are not known.
 */
void findings_show(const struct findings *f, struct lines *l, size_t width);

void findings_release(struct findings *f);

#endif
