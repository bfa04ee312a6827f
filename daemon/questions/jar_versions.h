/*
 * Which versions JVMs' jars say that they are (daemon/inspector/jar_version.h), for windows of JVMs
 * whose rules give none.
 *
 * A JVM's jar does not change while it runs, so what was found of it is kept, for as many JVMs as
 * JAR_VERSIONS_MAX; of more, the one asked for longest ago is forgotten. What could not be found
 * (the JVM has only begun, a file system does not answer) is asked for again by later windows,
 * JAR_VERSIONS_TRIES times in all. Nobody waits for an answer: questions about jars wait for each
 * other only (daemon/questions/inspections.h), users take turns, and one goes on when its window
 * has ended.
 *
 * Loop thread only. Inspections are borrowed.
 */
#ifndef JXPERF_DAEMON_QUESTIONS_JAR_VERSIONS_H
#define JXPERF_DAEMON_QUESTIONS_JAR_VERSIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/inspector/jar_version.h"

#define JAR_VERSIONS_MAX   1024
#define JAR_VERSIONS_TRIES 3

struct inspections;
struct jar_versions;

struct jar_versions_jvm {
	pid_t pid;
	uint64_t start_ticks; /* with pid, an identity that reuse cannot forge */
	uid_t user;           /* whose turn it is; PROC_ANY_UID: of one who sees everything */
};

/* version: of the characters that rules may give (common/label.h), '_' in place of others. */
typedef void (*jar_version_fn)(void *arg, const char *version);

/* NULL without memory. */
struct jar_versions *jar_versions_new(struct inspections *inspections);

/* No callback runs any more. free(NULL) is safe. */
void jar_versions_free(struct jar_versions *all);

/* told runs once the version is known, maybe from inside this call; never where the jar says none.
 * A JVM has one who is told: the one who asked last. */
void jar_versions_ask(struct jar_versions *all, const struct jar_versions_jvm *jvm,
		      jar_version_fn told, void *arg);

/* Who asked with arg is not told any more. forget(NULL, arg) is safe. */
void jar_versions_forget(struct jar_versions *all, const void *arg);

/* How many answers were so, and the name of that for metrics ("found"); static text. */
uint64_t jar_versions_count(const struct jar_versions *all, enum jar_result result);
const char *jar_versions_result_name(enum jar_result result);

#endif
