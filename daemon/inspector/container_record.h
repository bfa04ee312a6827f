/*
 * What a container's runtime wrote down of it for itself on this host: the image that it was made
 * from, and its Kubernetes pod. No runtime and no API server is asked.
 *
 * Docker:      /var/lib/docker/containers/ID/config.v2.json, Config.Image and Config.Labels
 * containerd:  /run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json, annotations of
 * its CRI plugin
 * CRI-O:       /run/containers/storage/overlay-containers/ID/userdata/config.json, its annotations
 *
 * The files are root's. Read with the caller's rights; no state.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CONTAINER_RECORD_H
#define JXPERF_DAEMON_INSPECTOR_CONTAINER_RECORD_H

#include <sys/types.h>

#include "proto/container_names.h"

#define CONTAINER_IMAGE_BYTES 256 /* a longer one is missing */

struct container_record {
	char image[CONTAINER_IMAGE_BYTES]; /* with registry and tag */
	struct container_names names;
};

/* id: all 64 digits. root: a directory that stands for "/", or "". "" is what is not known or does
 * not fit. */
void container_record_read(struct container_record *out, const char *root, const char *id);

/* Of the container that the text of /proc/PID/cgroup names: in this process's file system, and, if
 * it is in a container itself with the host's processes around it (hostPID), in the host's, which
 * takes CAP_SYS_PTRACE. Of one below a user's own groups nothing is read but its id: the runtime's
 * file is root's, and users may not choose whose. */
void container_record_find(struct container_record *out, const char *cgroup);

/* What the container of a process is called; all "" where it is in none, or has ended. */
void container_names_of(struct container_names *out, pid_t pid);

#endif
