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

#define CONTAINER_IMAGE_BYTES 256 /* a longer one is missing */
#define CONTAINER_NAME_BYTES                                                \
	254 /* of what Kubernetes calls something: DNS names of 253 at most \
	     */

struct container_record {
	char image[CONTAINER_IMAGE_BYTES]; /* with registry and tag */
	char pod[CONTAINER_NAME_BYTES];
	char namespace[CONTAINER_NAME_BYTES];
};

/* id: all 64 digits. root: a directory that stands for "/", or "". "" is what is not known or does
 * not fit. */
void container_record_read(struct container_record *out, const char *root, const char *id);

#endif
