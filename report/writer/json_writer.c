#include "report/writer/json_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/certainty.h"
#include "report/content/names.h"
#include "proto/words.h"

/* Frames of one document, over all its pairs: about 200 bytes each as text. Pairs beyond it are
 * omitted, and counted in pairs_omitted. */
#define FRAMES_MAX 250000

/* The names in them: 160 bytes a frame, where 100 are usual and a hostile JVM's have 12 KiB. */
#define NAME_BYTES_MAX ((size_t)40 << 20)

static const struct profile *profile_of(const struct json_writer *writer)
{
	return &writer->model->window->profile;
}

int json_writer_init(struct json_writer *writer, const struct report_model *m)
{
	*writer = (struct json_writer){
	    .model = m, .frames_left = FRAMES_MAX, .name_bytes_left = NAME_BYTES_MAX};
	writer->frames = calloc(profile_of(writer)->cct.node_count + 1, sizeof(json_t *));
	return writer->frames ? 0 : -ENOMEM;
}

void json_writer_release(struct json_writer *writer)
{
	for (size_t i = 0; writer->frames && i <= profile_of(writer)->cct.node_count; i++)
		json_decref(writer->frames[i]);
	free(writer->frames);
	*writer = (struct json_writer){0};
}

const char *report_json_attribution(const struct cct_node *node)
{
	return node && node->certainty ? certainty_name((enum certainty)node->certainty) : NULL;
}

/* A new reference to the node's frame, or NULL without memory. */
static json_t *frame_json(struct json_writer *writer, uint32_t id)
{
	const struct profile *p = profile_of(writer);
	const struct cct_node *node = cct_node(&p->cct, id);
	struct method_names names = method_names(p, node->method);

	if (!writer->frames[id])
		writer->frames[id] = JSON_OBJECT(
		    {"class", json_string(names.class_name)}, {"method", json_string(names.name)},
		    {"file", json_string(names.file)}, {"line", json_integer(node->line)},
		    {"bci", json_integer(node->bci)},
		    {"tier", json_string(name_of_tier((Jxp__Tier)node->tier))});
	return json_incref(writer->frames[id]);
}

json_t *report_json_frames(struct json_writer *writer, uint32_t node)
{
	const struct profile *p = profile_of(writer);
	json_t *frames = json_array();

	for (; node != 0; node = cct_node(&p->cct, node)->parent)
		frames = json_appended(frames, frame_json(writer, node));
	return frames;
}

static size_t name_bytes(const struct profile *p, uint32_t node)
{
	struct method_names names = frame_names(p, node);

	return strlen(names.class_name) + strlen(names.name) + strlen(names.file);
}

bool report_json_take_contexts(struct json_writer *writer, uint32_t node, uint32_t other)
{
	const struct profile *p = profile_of(writer);
	size_t frames = cct_depth(&p->cct, node) + cct_depth(&p->cct, other), bytes = 0;

	if (frames > writer->frames_left)
		return false;
	for (uint32_t id = node; id != 0; id = cct_node(&p->cct, id)->parent)
		bytes += name_bytes(p, id);
	for (uint32_t id = other; id != 0; id = cct_node(&p->cct, id)->parent)
		bytes += name_bytes(p, id);
	if (bytes > writer->name_bytes_left)
		return false;
	writer->frames_left -= frames;
	writer->name_bytes_left -= bytes;
	return true;
}

bool report_json_take_names(struct json_writer *writer, size_t bytes)
{
	if (bytes > writer->name_bytes_left)
		return false;
	writer->name_bytes_left -= bytes;
	return true;
}

bool report_json_take_lines(struct json_writer *writer, uint32_t node, uint32_t other)
{
	const struct profile *p = profile_of(writer);

	return report_json_take_names(writer, name_bytes(p, node) + name_bytes(p, other));
}
