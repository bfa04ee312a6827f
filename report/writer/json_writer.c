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

int json_writer_init(struct json_writer *writer, const struct report_model *m, bool numbered)
{
	const struct cct *cct = &m->window->profile.cct;

	*writer = (struct json_writer){.model = m,
				       .frames_left = FRAMES_MAX,
				       .name_bytes_left = NAME_BYTES_MAX,
				       .numbered = numbered};
	if (!numbered) {
		writer->frames = calloc(cct->node_count + 1, sizeof(json_t *));
		return writer->frames ? 0 : -ENOMEM;
	}
	writer->methods = json_array();
	writer->numbers = calloc(cct->node_count + 1, sizeof(uint32_t));
	writer->method_numbers = calloc(cct->method_count + 1, sizeof(uint32_t));
	for (int i = 0; i < JSON_CONTEXT_COLUMNS; i++)
		if (!(writer->columns[i] = json_array()))
			return -ENOMEM;
	return writer->methods && writer->numbers && writer->method_numbers ? 0 : -ENOMEM;
}

void json_writer_release(struct json_writer *writer)
{
	for (size_t i = 0; writer->frames && i <= profile_of(writer)->cct.node_count; i++)
		json_decref(writer->frames[i]);
	for (int i = 0; i < JSON_CONTEXT_COLUMNS; i++)
		json_decref(writer->columns[i]);
	json_decref(writer->methods);
	free(writer->frames);
	free(writer->numbers);
	free(writer->method_numbers);
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

/* ---------------------------------------------------------------- numbers */

/* 0 for method 0, which has no name, and without memory. */
static uint32_t method_number(struct json_writer *writer, uint32_t method)
{
	struct method_names names = method_names(profile_of(writer), method);

	if (method == 0)
		return 0;
	if (writer->method_numbers[method] == 0 &&
	    json_array_append_new(writer->methods, json_pack("[s,s,s]", names.class_name,
							     names.name, names.file)) == 0)
		writer->method_numbers[method] = (uint32_t)json_array_size(writer->methods);
	return writer->method_numbers[method];
}

/* False without memory. parent is a number, id a node that has none. */
static bool number_node(struct json_writer *writer, uint32_t parent, uint32_t id)
{
	const struct cct_node *node = cct_node(&profile_of(writer)->cct, id);
	json_t *values[JSON_CONTEXT_COLUMNS] = {
	    [JSON_CONTEXT_PARENT] = json_integer(parent),
	    [JSON_CONTEXT_METHOD] = json_integer(method_number(writer, node->method)),
	    [JSON_CONTEXT_LINE] = json_integer(node->line),
	    [JSON_CONTEXT_BCI] = json_integer(node->bci),
	    [JSON_CONTEXT_TIER] = json_string(name_of_tier((Jxp__Tier)node->tier)),
	};
	bool added = true;

	for (int i = 0; i < JSON_CONTEXT_COLUMNS; i++)
		if (json_array_append_new(writer->columns[i], values[i]) < 0)
			added = false;
	if (added)
		writer->numbers[id] =
		    (uint32_t)json_array_size(writer->columns[JSON_CONTEXT_PARENT]);
	return added;
}

/* Numbers the node behind those of its callers that have no number yet. NULL without memory. */
static json_t *number_json(struct json_writer *writer, uint32_t node)
{
	const struct cct *cct = &profile_of(writer)->cct;
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t count = 0;

	for (uint32_t id = node; id != 0 && writer->numbers[id] == 0;
	     id = cct_node(cct, id)->parent)
		path[count++] = id;
	while (count-- > 0) {
		uint32_t parent = cct_node(cct, path[count])->parent;

		if (!number_node(writer, writer->numbers[parent], path[count]))
			return NULL;
	}
	return json_integer(writer->numbers[node]);
}

json_t *report_json_contexts(const struct json_writer *writer)
{
	static const char *const names[] = {[JSON_CONTEXT_PARENT] = "parent",
					    [JSON_CONTEXT_METHOD] = "method",
					    [JSON_CONTEXT_LINE] = "line",
					    [JSON_CONTEXT_BCI] = "bci",
					    [JSON_CONTEXT_TIER] = "tier"};
	json_t *contexts = json_pack("{s:O}", "methods", writer->methods);

	for (int i = 0; i < JSON_CONTEXT_COLUMNS; i++)
		contexts = json_with(contexts, names[i], json_incref(writer->columns[i]));
	return contexts;
}

/* ---------------------------------------------------------------- contexts */

json_t *report_json_frames(struct json_writer *writer, uint32_t node)
{
	const struct profile *p = profile_of(writer);
	json_t *frames;

	if (writer->numbered)
		return number_json(writer, node);
	frames = json_array();
	for (; node != 0; node = cct_node(&p->cct, node)->parent)
		frames = json_appended(frames, frame_json(writer, node));
	return frames;
}

static size_t name_bytes(const struct profile *p, uint32_t node)
{
	struct method_names names = frame_names(p, node);

	return strlen(names.class_name) + strlen(names.name) + strlen(names.file);
}

/* Adds up the frames of a context, and the bytes of their names; of numbered ones those that the
 * document does not have yet. */
static void add_context(const struct json_writer *writer, uint32_t node, size_t *frames,
			size_t *bytes)
{
	const struct profile *p = profile_of(writer);

	for (; node != 0; node = cct_node(&p->cct, node)->parent) {
		if (writer->numbered && writer->numbers[node] != 0)
			break;
		(*frames)++;
		*bytes += name_bytes(p, node);
	}
}

bool report_json_take_contexts(struct json_writer *writer, uint32_t node, uint32_t other)
{
	size_t frames = 0, bytes = 0;

	add_context(writer, node, &frames, &bytes);
	add_context(writer, other, &frames, &bytes);
	if (frames > writer->frames_left || bytes > writer->name_bytes_left)
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
