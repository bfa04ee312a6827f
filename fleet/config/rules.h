/*
 * Which JVMs a configuration means, and what it calls them, as the file says it.
 */
#ifndef JXPERF_FLEET_CONFIG_RULES_H
#define JXPERF_FLEET_CONFIG_RULES_H

#include <stdbool.h>

/* Longest name of an application or a schedule, which are labels in metrics. */
#define CONFIG_NAME_MAX 63

/* Which JVMs are meant: those for which every pattern that is given (not NULL) matches. Patterns
 * are those of the shell (fnmatch(3)). */
struct config_match {
	char *app;          /* the name that the rules under `apps` gave it; schedules only */
	char *user;         /* who runs it */
	char *main_class;   /* with its package, or the path of its jar, or a module's main class */
	char *command;      /* its command line, arguments joined by blanks */
	char *cgroup;       /* the path of its control group */
	char *container;    /* the first 12 digits of the container's id */
	char *pod;          /* the uid of its Kubernetes pod */
	char **environment; /* "NAME=PATTERN", of names that `environment` lists */
	unsigned environment_count;
};

/* The first rule that matches a JVM, and knows all that it puts into the name, names it. */
struct config_app {
	struct config_match match;
	char *app;     /* fleet/config/template.h */
	char *version; /* likewise; NULL: it says none */
};

/* These are taken as they are written; NULL where the file says nothing, and the command line's
 * come first. */
struct config_texts {
	char *socket;
	char *http;
	char *state_dir;
	char *bundle;
	char *agent_path; /* the agent's library in images of containers */
	char *user;
	bool *verbose;
	bool *jar_versions; /* of JVMs whose rules give none; NULL: true */
	char *admin_group;
	char *salt;         /* of the draws; the same on all hosts of a fleet */
	char *host_id;      /* NULL: the machine's */
	char *host_group;   /* which hosts it is one of; NULL: none */
	char *pause_file;   /* its being there forbids windows; never NULL */
	char *pod_labels;   /* the file of a pod's labels as its JVMs see it; NULL: none */
	char **environment; /* names of variables that may be looked at */
	unsigned environment_count;
};

#endif
