/*
 * The first findings of a window, as its report has them: also of one that still runs.
 */
#ifndef JXPERF_CLIENT_DAEMON_FINDINGS_H
#define JXPERF_CLIENT_DAEMON_FINDINGS_H

#include "client/daemon/client.h"

/* Beside what else is shown of a window there is room for few. */
#define FINDINGS_MAX 3
/* Who looks on asks no sooner again: each answer is a whole report for the daemon. */
#define FINDINGS_EVERY_S 4

struct finding {
	char *sentence; /* "C.m stores f again; ..." */
	Jxp__Kind kind; /* of its pairs, or KIND_NONE */
};

/* All zero is none. */
struct findings {
	struct finding list[FINDINGS_MAX];
	size_t count;
	bool cost_known;
	double cost; /* of the window: a fraction of the JVM's CPU time */
};

/* Asks for a window's report. 0, with findings that the caller releases, -EINTR for a signal, which
 * still waits in c->interrupt, or -errno. */
int findings_ask(struct client *c, const char *window, struct findings *out, struct err *err);

void findings_release(struct findings *f);

#endif
