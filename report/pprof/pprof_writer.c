#include "report/pprof/pprof_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/content/names.h"

/* Writes a part of the profile that has one of a repeated member alone: the variable's value. */
#define PUT_ONE(w, member, variable)                                                             \
	pprof_writer_put(                                                                        \
	    (w), &(Perftools__Profiles__Profile){                                                \
		     .base = PROTOBUF_C_MESSAGE_INIT(&perftools__profiles__profile__descriptor), \
		     .n_##member = 1,                                                            \
		     .member = &(variable)})

#define GZIP_HEADER 16 /* added to the bits of the window (deflateInit2) */

/* ---------------------------------------------------------------- bytes */

/* Hands what is pending to the compressor, and what that has ready to the file. */
static void flush(struct pprof_writer *w, int mode)
{
	uint8_t compressed[16384];

	w->stream.next_in = w->pending;
	w->stream.avail_in = (uInt)w->pending_bytes;
	do {
		w->stream.next_out = compressed;
		w->stream.avail_out = sizeof(compressed);
		(void)deflate(&w->stream, mode); /* Fails only for a stream that is not one. */
		(void)fwrite(compressed, 1, sizeof(compressed) - w->stream.avail_out,
			     w->out); /* The caller asks the file. */
	} while (w->stream.avail_out == 0 && !ferror(w->out));
	w->pending_bytes = 0;
}

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	struct pprof_writer *w = (struct pprof_writer *)buffer; /* It is its first member. */

	while (size > 0 && !pprof_writer_failed(w)) {
		size_t room = sizeof(w->pending) - w->pending_bytes;
		size_t part = size < room ? size : room;

		memcpy(w->pending + w->pending_bytes, bytes, part);
		w->pending_bytes += part;
		bytes += part;
		size -= part;
		if (w->pending_bytes == sizeof(w->pending))
			flush(w, Z_NO_FLUSH);
	}
}

int pprof_writer_init(struct pprof_writer *w, FILE *out, const struct strings *strings,
		      const struct cct *cct)
{
	char *empty = (char *)"";

	*w = (struct pprof_writer){
	    .base = {.append = append}, .out = out, .strings = strings, .cct = cct};
	w->told = calloc(cct->node_count + 1, 1);
	w->functions = calloc(cct->method_count + 1, 1);
	if (!w->told || !w->functions || cct_lines(cct, &w->lines) < 0 ||
	    deflateInit2(&w->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_HEADER,
			 MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return w->error = -ENOMEM;
	w->open = true;
	PUT_ONE(w, string_table, empty);
	w->left_out = pprof_writer_text(w, "[left out]");
	return w->error;
}

void pprof_writer_release(struct pprof_writer *w)
{
	if (w->open)
		(void)deflateEnd(&w->stream); /* Says that not all was taken, which is known. */
	free(w->lines);
	free(w->told);
	free(w->functions);
	strings_release(&w->names);
	free(w->places);
	w->open = false;
	w->lines = w->places = NULL;
	w->told = w->functions = NULL;
}

bool pprof_writer_failed(const struct pprof_writer *w)
{
	return w->error < 0 || ferror(w->out);
}

void pprof_writer_put(struct pprof_writer *w, const Perftools__Profiles__Profile *part)
{
	if (!pprof_writer_failed(w))
		(void)protobuf_c_message_pack_to_buffer(&part->base, &w->base); /* Its size. */
}

int pprof_writer_finish(struct pprof_writer *w)
{
	if (!pprof_writer_failed(w))
		flush(w, Z_FINISH);
	return w->error;
}

/* ---------------------------------------------------------------- texts */

/* The position of a text that is in the table: places grow, so that it is found by halving. */
static int64_t position_of(const struct pprof_writer *w, uint32_t place)
{
	return (int64_t)SEARCH_FIRST(i, w->place_count, w->places[i] >= place) + 1;
}

static int64_t add_text(struct pprof_writer *w, uint32_t place)
{
	char *text = (char *)strings_get(&w->names, place);

	w->error =
	    array_reserve(&w->places, &w->place_capacity, w->place_count + 1, sizeof(w->places[0]));
	if (w->error < 0)
		return 0;
	w->places[w->place_count++] = place;
	PUT_ONE(w, string_table, text);
	return (int64_t)w->place_count;
}

int64_t pprof_writer_text(struct pprof_writer *w, const char *text)
{
	uint32_t place;
	int r;

	if (w->error < 0)
		return 0;
	r = strings_intern(&w->names, text, &place);
	if (r == -ENOSPC) {
		w->names_left_out = true;
		return w->left_out;
	}
	if (r < 0) {
		w->error = r;
		return 0;
	}
	if (place == 0)
		return 0;
	if (w->place_count > 0 && place <= w->places[w->place_count - 1])
		return position_of(w, place);
	return add_text(w, place);
}

void pprof_writer_type(struct pprof_writer *w, const char *type, const char *unit)
{
	Perftools__Profiles__ValueType value = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *values = &value;

	value.type = pprof_writer_text(w, type);
	value.unit = pprof_writer_text(w, unit);
	PUT_ONE(w, sample_type, values);
}

void pprof_writer_comment(struct pprof_writer *w, const char *text)
{
	int64_t position = pprof_writer_text(w, text);

	PUT_ONE(w, comment, position);
}

/* ---------------------------------------------------------------- frames */

static void put_function(struct pprof_writer *w, uint64_t id, const char *name, const char *file)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Function *functions = &function;

	function.id = id;
	function.name = function.system_name = pprof_writer_text(w, name);
	function.filename = pprof_writer_text(w, file);
	PUT_ONE(w, function, functions);
}

static void put_location(struct pprof_writer *w, uint64_t id, uint64_t function, int64_t number)
{
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *locations = &location;
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;
	Perftools__Profiles__Line *lines = &line;

	line.function_id = function;
	line.line = number;
	location.id = id;
	location.mapping_id = PPROF_MAPPING_ID;
	location.n_line = 1;
	location.line = &lines;
	PUT_ONE(w, location, locations);
}

/* "java.util.HashMap.get", as in collapsed stacks. */
static void put_method(struct pprof_writer *w, uint64_t id, const struct cct_method *method)
{
	char name[2 * LIMIT_STRING_BYTES];

	if (!method || (method->class_name == 0 && method->name == 0)) {
		put_function(w, id, METHOD_UNKNOWN, "");
		return;
	}
	(void)snprintf(name, sizeof(name), "%s.%s", strings_get(w->strings, method->class_name),
		       strings_get(w->strings, method->name)); /* Fits: texts are cut. */
	put_function(w, id, name, strings_get(w->strings, method->file));
}

/* The ids of the tree's methods begin with 1; behind them come a frame without a name, and those
 * that no node has. */
static uint64_t function_of(struct pprof_writer *w, uint32_t method)
{
	uint64_t id = method ? method : w->cct->method_count + 1;

	if (!w->functions[method]) {
		w->functions[method] = 1;
		put_method(w, id, cct_method(w->cct, method));
	}
	return id;
}

uint64_t pprof_writer_frame(struct pprof_writer *w, const char *name)
{
	uint64_t function = w->cct->method_count + 2 + w->made;
	uint64_t location = w->cct->node_count + 2 + w->made;

	w->made++;
	put_function(w, function, name, "");
	put_location(w, location, function, 0);
	return w->error < 0 ? 0 : location;
}

/* First the tree's nodes, then the empty context. */
static uint64_t location_of(struct pprof_writer *w, uint32_t node)
{
	uint32_t oldest = w->lines[node];
	uint64_t id = oldest ? oldest : w->cct->node_count + 1;
	const struct cct_node *n = cct_node(w->cct, oldest);

	if (!w->told[oldest]) {
		w->told[oldest] = 1;
		put_location(w, id, function_of(w, n ? n->method : 0),
			     n && n->line > 0 ? n->line : 0);
	}
	return id;
}

void pprof_writer_path(struct pprof_writer *w, uint32_t leaf, struct pprof_sample *sample)
{
	if (leaf == 0)
		sample->frames[sample->frame_count++] = location_of(w, 0);
	for (uint32_t id = leaf; id != 0; id = cct_node(w->cct, id)->parent)
		sample->frames[sample->frame_count++] = location_of(w, id);
}

/* ---------------------------------------------------------------- samples */

void pprof_writer_label(struct pprof_writer *w, struct pprof_sample *sample, const char *key,
			const char *text)
{
	Perftools__Profiles__Label *label = &sample->labels[sample->label_count];

	if (!text[0])
		return;
	perftools__profiles__label__init(label);
	label->key = pprof_writer_text(w, key);
	label->str = pprof_writer_text(w, text);
	sample->label_count++;
}

void pprof_writer_sample(struct pprof_writer *w, struct pprof_sample *sample, size_t values)
{
	Perftools__Profiles__Sample message = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Sample *messages = &message;
	Perftools__Profiles__Label *labels[SAMPLE_LABELS_MAX];

	for (size_t i = 0; i < sample->label_count; i++)
		labels[i] = &sample->labels[i];
	message.n_location_id = sample->frame_count;
	message.location_id = sample->frames;
	message.n_value = values;
	message.value = sample->values;
	message.n_label = sample->label_count;
	message.label = labels;
	PUT_ONE(w, sample, messages);
}
