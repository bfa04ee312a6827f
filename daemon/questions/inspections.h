/*
 * Questions about processes, which the broker's inspectors answer (daemon/inspector/inspector.h),
 * in one queue, so that nobody takes the places of others: clients ask (list, check), windows whose
 * JVM is to have a name, and the survey of the schedules.
 *
 * The survey has a place of its own, for one question at a time, and so have jars. The others share
 * INSPECTIONS_MAX places: a user has one answered at a time, those who see everything as many as
 * there are. Further questions wait; next is that of the user whose questions took least of late,
 * and of one user's the oldest.
 *
 * A place is free again when its inspector has ended, whether or not there is still somebody who
 * asks: who asks and leaves does not get another one meanwhile.
 *
 * Loop thread only. Loop and broker client are borrowed.
 */
#ifndef JXPERF_DAEMON_QUESTIONS_INSPECTIONS_H
#define JXPERF_DAEMON_QUESTIONS_INSPECTIONS_H

#include <sys/types.h>
#include <uv.h>

#include "daemon/broker/client.h"
#include "proto/jxperf.pb-c.h"

/* Inspectors at a time, besides those of the survey and of jars. The broker has twice as many
 * places, since one that has closed its connection may not have ended yet. */
#define INSPECTIONS_MAX 2

struct inspections;
struct inspection;

/* answer holds check, jvms or failure, and lives until the callback returns. */
typedef void (*inspection_done_fn)(void *arg, Jxp__ControlReply *answer);

/* NULL without memory. */
struct inspections *inspections_new(uv_loop_t *loop, struct broker_client *broker);

/* No callback runs any more, and no inspection is there. free(NULL) is safe. */
void inspections_free(struct inspections *all);

/* question: a BROKER_INSPECT, of which pid (of a process, INSPECTOR_MACHINE or INSPECTOR_LIST),
 * owner (there are only processes of owner; PROC_ANY_UID: of all users) and, for a list as if there
 * were only these processes, pids count. user: whose place it takes, PROC_ANY_UID: of one who sees
 * everything. done runs once, maybe from inside this call; *out, which is set before that, is no
 * more then. 0 or -ENOMEM. */
int inspections_ask(struct inspection **out, struct inspections *all, uid_t user,
		    const struct broker_request *question, inspection_done_fn done, void *arg);

/* Likewise for what a JVM's jar says, which may lie on a file system that does not answer, and
 * which nobody waits for: such questions wait for each other only. */
int inspections_ask_for_jar(struct inspection **out, struct inspections *all, uid_t user,
			    const struct broker_request *question, inspection_done_fn done,
			    void *arg);

/* Likewise for the survey, whose questions wait for each other only. */
int inspections_ask_for_survey(struct inspection **out, struct inspections *all,
			       const struct broker_request *question, inspection_done_fn done,
			       void *arg);

/* The survey's questions are no more, and its place is free whatever became of its inspector: that
 * is late, or its broker has gone. */
void inspections_give_up_survey(struct inspections *all);

/* done will not run. forget(NULL) is safe. */
void inspection_forget(struct inspection *i);

#endif
