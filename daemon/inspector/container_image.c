#include "daemon/inspector/container_image.h"

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

static const struct {
	const char *before, *after; /* of the id in the path */
	const char *object, *member;
} runtimes[] = {
    {"/var/lib/docker/containers/", "/config.v2.json", "Config", "Image"},
    {"/run/containerd/io.containerd.runtime.v2.task/k8s.io/", "/config.json", "annotations",
     "io.kubernetes.cri.image-name"},
    {"/run/containers/storage/overlay-containers/", "/userdata/config.json", "annotations",
     "io.kubernetes.cri-o.ImageName"},
};

/* A text in an object of the document; "" without. */
static void take_text(const char *document, const char *object, const char *member, char *text,
		      size_t size)
{
	json_t *root = json_loads(document, 0, NULL);
	const char *found =
	    json_string_value(json_object_get(json_object_get(root, object), member));

	if (found && strlen(found) < size)
		(void)utf8_sanitize(text, size, found); /* May be cut. */
	json_decref(root);
}

void container_image(const char *root, const char *id, char *image, size_t size)
{
	_cleanup_free_ char *text = malloc(FILE_BYTES);

	image[0] = '\0';
	for (size_t i = 0; text && !image[0] && i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		char path[PATH_MAX];

		if (snprintf(path, sizeof(path), "%s%s%s%s", root, runtimes[i].before, id,
			     runtimes[i].after) < (int)sizeof(path) &&
		    proc_read(path, text, FILE_BYTES) > 0)
			take_text(text, runtimes[i].object, runtimes[i].member, image, size);
	}
}
