/*
 * Which image a container was made from: what its runtime wrote down for itself on this host. No
 * runtime is asked.
 *
 * Docker:      /var/lib/docker/containers/ID/config.v2.json, Config.Image
 * containerd:  /run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json, the annotation
 * of its CRI plugin CRI-O: /run/containers/storage/overlay-containers/ID/userdata/config.json, its
 * annotation
 *
 * The files are root's. Read with the caller's rights; no state.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CONTAINER_IMAGE_H
#define JXPERF_DAEMON_INSPECTOR_CONTAINER_IMAGE_H

#include <stddef.h>

/* id: all 64 digits. root is "" but in tests: a directory that stands for "/". The image with
 * registry and tag, or "" when it is not known or does not fit. */
void container_image(const char *root, const char *id, char *image, size_t size);

#endif
