/*
 * What the privileged processes know of the configuration, when they are started and from then on:
 * the engine cannot widen it. They hand it on as options.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_STARTUP_H
#define JXPERF_DAEMON_INSPECTOR_STARTUP_H

#include "proto/helper.h"

/* Options of a jxperfd that is started with them. */
#define STARTUP_OPTION_BUNDLE      "--bundle"
#define STARTUP_OPTION_AGENT_PATH  "--agent-path"
#define STARTUP_OPTION_ENVIRONMENT "--environment"
#define STARTUP_OPTION_POD_LABELS  "--pod-labels"

/* Texts of the caller's, "" for nothing, which is what an option that is not there means. */
struct startup {
	struct agent_files agent;
	const char *environment; /* names of JVMs' variables that may be looked at: "A,B" */
	const char *pod_labels;  /* the file of a pod's labels, as its JVMs see it */
	int children_fd;         /* jxperf-child; no option, and of no use to an inspector */
};

#define STARTUP_ARGUMENTS 8

/* Writes the options that stand for them to argv, at most STARTUP_ARGUMENTS of them and a NULL. */
void startup_arguments(const struct startup *s, char **argv);

#endif
