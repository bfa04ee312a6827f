#include "daemon/inspector/container_record.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "common/utf8.h"

/* A container's configuration has some ten thousand bytes. */
#define FILE_BYTES (1u << 20)

/* Text member of an object, which is in another object or at the top. */
struct annotation {
	const char *outer, *object, *member;
};

static const struct {
	const char *before, *after; /* of the id in the path */
	struct annotation image, pod, namespace;
} runtimes[] = {
    {"/var/lib/docker/containers/", "/config.v2.json", .image = {NULL, "Config", "Image"},
     .pod = {"Config", "Labels", "io.kubernetes.pod.name"},
     .namespace = {"Config", "Labels", "io.kubernetes.pod.namespace"}},
    {"/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json",
     .image = {NULL, "annotations", "io.kubernetes.cri.image-name"},
     .pod = {NULL, "annotations", "io.kubernetes.cri.sandbox-name"},
     .namespace = {NULL, "annotations", "io.kubernetes.cri.sandbox-namespace"}},
    {"/run/containers/storage/overlay-containers/", "/userdata/config.json",
     .image = {NULL, "annotations", "io.kubernetes.cri-o.ImageName"},
     .pod = {NULL, "annotations", "io.kubernetes.pod.name"},
     .namespace = {NULL, "annotations", "io.kubernetes.pod.namespace"}},
};

static void take_text(const json_t *root, const struct annotation *place, char *text, size_t size)
{
	const json_t *outer = place->outer ? json_object_get(root, place->outer) : root;
	const char *found = json_string_value(
	    json_object_get(json_object_get(outer, place->object), place->member));

	text[0] = '\0';
	if (found && strlen(found) < size)
		(void)utf8_sanitize(text, size, found); /* May be cut. */
}

void container_record_read(struct container_record *out, const char *root, const char *id)
{
	_cleanup_free_ char *text = malloc(FILE_BYTES);

	*out = (struct container_record){0};
	for (size_t i = 0; text && !out->image[0] && i < sizeof(runtimes) / sizeof(runtimes[0]);
	     i++) {
		char path[PATH_MAX];
		json_t *document;

		if (snprintf(path, sizeof(path), "%s%s%s%s", root, runtimes[i].before, id,
			     runtimes[i].after) >= (int)sizeof(path) ||
		    proc_read(path, text, FILE_BYTES) <= 0)
			continue;
		document = json_loads(text, 0, NULL);
		take_text(document, &runtimes[i].image, out->image, sizeof(out->image));
		take_text(document, &runtimes[i].pod, out->pod, sizeof(out->pod));
		take_text(document, &runtimes[i].namespace, out->namespace, sizeof(out->namespace));
		json_decref(document);
	}
}
