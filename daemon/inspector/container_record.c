#include "daemon/inspector/container_record.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/jvm_text.h"
#include "common/cleanup.h"
#include "common/proc.h"
#include "common/utf8.h"

/* A container's configuration has some ten thousand bytes. */
#define FILE_BYTES   (1u << 20)
#define CGROUP_BYTES 8192 /* a line for each hierarchy */
#define PATH_BYTES   64

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
	(void)snprintf(out->names.id, sizeof(out->names.id), "%s", id); /* Fits. */
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
		take_text(document, &runtimes[i].pod, out->names.pod, sizeof(out->names.pod));
		take_text(document, &runtimes[i].namespace, out->names.namespace,
			  sizeof(out->names.namespace));
		json_decref(document);
	}
}

void container_record_find(struct container_record *out, const char *cgroup)
{
	static const char *const roots[] = {"", "/proc/1/root"};
	char id[JVM_CONTAINER_ID_BYTES];

	*out = (struct container_record){0};
	jvm_text_container_id(id, cgroup);
	if (!id[0])
		return;
	_Static_assert(sizeof(id) == sizeof(out->names.id), "an id fits");
	memcpy(out->names.id, id, sizeof(id));
	if (jvm_text_is_in_user_slice(cgroup))
		return;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		container_record_read(out, roots[i], id);
		if (out->image[0] || out->names.pod[0])
			return;
	}
}

void container_names_of(struct container_names *out, pid_t pid)
{
	char path[PATH_BYTES], text[CGROUP_BYTES];
	struct container_record record = {0};

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid); /* Fits. */
	if (proc_read(path, text, sizeof(text)) > 0)
		container_record_find(&record, text);
	*out = record.names;
}
