/*
 * The daemon's options: command line first, then the configuration file, then defaults. A setting
 * of the command line wins over the same one of the file.
 *
 * The file holds "key = value" lines with the long options' names as keys (socket, http, state-dir,
 * bundle, user, verbose); empty lines and lines that start with '#' are skipped.
 */
#ifndef JXPERF_DAEMON_OPTIONS_H
#define JXPERF_DAEMON_OPTIONS_H

#include <limits.h>
#include <stdbool.h>

#include "common/err.h"

enum options_action {
	OPTIONS_RUN,
	OPTIONS_CHECK_CONFIG,
	OPTIONS_VERSION,
	OPTIONS_HELP,
};

struct options {
	enum options_action action;
	char config[PATH_MAX]; /* "" for none */
	char socket[PATH_MAX];
	char http[64]; /* "ADDR:PORT"; "" for none */
	char state_dir[PATH_MAX];
	char bundle[PATH_MAX];
	bool verbose;
	char user[64];  /* whom the engine becomes; "" for whoever started it */
	int client_fd;  /* above -1: serves the client at its other end, and leaves with it; no http
			 */
	int broker_fd;  /* above -1: this process is the broker */
	int worker_fd;  /* above -1: this process is a worker */
	int inspect_fd; /* above -1: this process is an inspector */
	int inspect_pid;
	const char *inspect_gate; /* of argv */
	const char *inspect_touch;
	int watch_fd; /* above -1: this process is a watcher */
	int watch_pid;
};

extern const char options_usage[];

/* 0; -EINVAL when the command line or the file is wrong (one line says what and where); -errno when
 * the file cannot be read. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);

#endif
