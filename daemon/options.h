/*
 * The daemon's options: command line first, then the configuration file (fleet/config/config.h),
 * then defaults. A setting of the command line wins over the same one of the file.
 */
#ifndef JXPERF_DAEMON_OPTIONS_H
#define JXPERF_DAEMON_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "common/err.h"
#include "daemon/serve/reload.h"
#include "fleet/config/config.h"

/* What a field says that is not set: "" of a text, NULL of a pointer, -1 of a descriptor. */
struct options {
	/* One of these: only that is done. */
	bool version, help, check_config;
	const char *config; /* of argv, as are the other pointers */
	char socket[PATH_MAX];
	char http[64];            /* "ADDR:PORT" */
	char state_dir[PATH_MAX]; /* "": nothing outlives the daemon */
	char bundle[PATH_MAX];
	char agent_path[PATH_MAX]; /* the agent in images of containers */
	bool verbose;
	char user[64];         /* whom the engine becomes; "": whoever started it */
	char admin_group[64];  /* who may do everything besides root; "": nobody */
	char broker[PATH_MAX]; /* where a broker listens; "": the engine starts one of its own */
	int client_fd;         /* serves the client at its other end, and leaves with it; no http */
	const char *environment; /* of a process below; the engine has these from its file */
	const char *pod_labels;
	/* The process that this one is, unless it is the engine: */
	const char *broker_for; /* the user of the engines that this one has brokers for, or NULL */
	int broker_fd;
	int children_fd; /* a broker's */
};

extern const char options_usage[];

/* 0, with what the file holds, or the defaults, in *config, to be released with config_release;
 * -EINVAL when the command line or the file is wrong (one line says what and where); -errno when
 * the file cannot be read. */
int options_parse(struct options *o, struct config *config, int argc, char **argv, struct err *err);

/* Finds what an engine would not start with: an admin group or a user that is none, a control
 * socket that cannot be made; with --check-config also a state directory that cannot be, without
 * which it would. 0, or -EINVAL with one line. */
int options_check(const struct options *o, struct err *err);

/* Adds the keys that a start with next would have other values of than what runs. */
void options_changed(const struct options *running, const struct options *next,
		     struct reload_keys *keys);

#endif
