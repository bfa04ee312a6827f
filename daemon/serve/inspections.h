/*
 * Questions of clients about processes (list, check), so that nobody takes all the places that the
 * broker has for them: a user has one answered at a time, those who see everything as many as there
 * are places, and one place is left to the survey of the schedules. Further ones wait, in order.
 *
 * A place is free again when its inspector has answered or ended, whether or not the client is
 * still there: who asks and leaves does not get another one meanwhile.
 *
 * Loop thread only. Loop and broker client are borrowed.
 */
#ifndef JXPERF_DAEMON_SERVE_INSPECTIONS_H
#define JXPERF_DAEMON_SERVE_INSPECTIONS_H

#include <uv.h>

#include "daemon/engine/inspector_answer.h"
#include "profile/window/asker.h"

/* Inspectors for clients at a time. Of the broker's (BROKER_INSPECTORS_MAX) one is the survey's,
 * and one may have answered and not have ended yet. */
#define INSPECTIONS_MAX 2

struct inspections;
struct inspection;

/* NULL without memory. */
struct inspections *inspections_new(uv_loop_t *loop, struct broker_client *broker);

/* No callback runs any more. free(NULL) is safe. */
void inspections_free(struct inspections *all);

/* Has an inspector look for asker: pid, INSPECTOR_MACHINE or INSPECTOR_LIST. done runs once, maybe
 * from inside this call, with the answer or a failure, which live until it returns; *out, which is
 * set before that, is no more then. 0 or -ENOMEM. */
int inspections_ask(struct inspection **out, struct inspections *all,
		    const struct window_asker *asker, int pid, inspector_answer_done_fn done,
		    void *arg);

/* done will not run. forget(NULL) is safe. */
void inspection_forget(struct inspection *i);

#endif
