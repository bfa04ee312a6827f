/*
 * The hosts of a fleet and how many JVMs of which applications they run, as a file says it, a line
 * for each application of a host:
 *
 *   # HOST    APP  COUNT
 *   web-0017  shop     3
 *
 * Blank lines and those that begin with # are skipped; the same host and application once more adds
 * to the count. Plain data; whoever loads it owns it.
 */
#ifndef JXPERF_FLEET_HOSTS_H
#define JXPERF_FLEET_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Limits of the file, of a name, and of the whole fleet. */
#define FLEET_BYTES_MAX      (64u << 20)
#define FLEET_NAME_BYTES_MAX 255
#define FLEET_JVMS_MAX       10000000

/* The JVMs of one application on one host. */
struct fleet_group {
	const char *host;
	const char *app;
	uint32_t count;    /* above 0 */
	size_t app_number; /* below app_count */
};

/* All zero is an empty one. */
struct fleet_hosts {
	struct fleet_group *groups; /* by host, and by application within each */
	size_t count;
	size_t host_count;
	size_t app_count;
	uint64_t jvm_count;
	char *text; /* holds the names */
};

/* Reads path. 0, to be released with fleet_hosts_release; or -errno with one line for the user
 * ("hosts:12: ...") and *h unchanged. */
int fleet_hosts_load(struct fleet_hosts *h, const char *path, struct err *err);

/* The same for a text in memory, called name in messages. */
int fleet_hosts_parse(struct fleet_hosts *h, const char *name, const char *text, size_t size,
		      struct err *err);

void fleet_hosts_release(struct fleet_hosts *h);

#endif
