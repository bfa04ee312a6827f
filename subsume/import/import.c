/* From a file's bytes to a tree: which format it is, and what all formats share. */
#include "subsume/import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "subsume/import/input.h"
#include "subsume/import/sink.h"
#include "export/protobuf/wire.h"

/* Bytes, and fields, from which a file is told from others. */
#define LOOKED_AT   4096u
#define FIELDS_SEEN 3u

/* A text with a damaged part has at most one control character in so many. */
#define CONTROLS_LEAST 8u

static int (*const readers[])(const uint8_t *bytes, size_t size, struct import_sink *s) = {
    [IMPORT_COLLAPSED] = import_collapsed,
    [IMPORT_PPROF] = import_pprof,
    [IMPORT_JFR] = import_jfr,
};

/* How many of the first bytes no text has. */
static size_t controls(const uint8_t *bytes, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += bytes[i] == 0x7f || (bytes[i] < ' ' && bytes[i] != '\t' &&
					      bytes[i] != '\r' && bytes[i] != '\n');
	return count;
}

/* Whether it begins with fields as profile.proto has them. */
static bool is_pprof(const uint8_t *bytes, size_t size)
{
	const unsigned fields = 14;
	struct wire w = wire_of(bytes, size);
	struct wire_field field;
	unsigned known = 0;

	for (unsigned i = 0; i < FIELDS_SEEN && wire_next(&w, &field); i++)
		known += field.number <= fields;
	return !w.wrong && known > 0;
}

enum import_format import_detect(const uint8_t *bytes, size_t size)
{
	size_t looked_at = size < LOOKED_AT ? size : LOOKED_AT;
	size_t strange = controls(bytes, looked_at);

	if (size >= 4 && memcmp(bytes, "FLR", 4) == 0)
		return IMPORT_JFR;
	if (strange == 0)
		return IMPORT_COLLAPSED;
	if (is_pprof(bytes, size))
		return IMPORT_PPROF;
	return strange < looked_at / CONTROLS_LEAST ? IMPORT_COLLAPSED : IMPORT_AUTO;
}

static void free_builder(struct subsume_builder **b)
{
	subsume_builder_free(*b);
}

/* Reads the file, by the format that is asked for, or found. */
static int read_input(const struct import_input *in, struct import_sink *s)
{
	enum import_format format = s->options->format;
	int r;

	if (!format)
		format = import_detect(in->bytes, in->size);
	if (format == IMPORT_AUTO && !in->cut)
		return err_set(s->err, EBADMSG,
			       "at byte 0: neither collapsed stacks, nor pprof, nor a recording of "
			       "the JDK Flight Recorder");
	r = format == IMPORT_AUTO ? -EBADMSG : readers[format](in->bytes, in->size, s);
	if (!in->cut)
		return r;
	if (r < 0 || format == IMPORT_PPROF)
		return import_fail(s, EBADMSG, in->size,
				   "the compressed data end too early: the file is cut, get it "
				   "anew");
	import_notes_remark(
	    s->notes,
	    "the compressed data end too early: what was behind byte %zu of what is "
	    "in them is missing",
	    in->size);
	return 0;
}

static int read_all(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	_cleanup_(import_input_release) struct import_input in = {0};
	uint64_t most = s->options->bytes_max ? s->options->bytes_max : IMPORT_BYTES_MAX;
	int r;

	if (size > most)
		return err_set(s->err, EFBIG,
			       "%zu bytes are too many: at most %" PRIu64 " are read", size, most);
	r = import_input_open(&in, bytes, size,
			      s->options->bytes_max ? s->options->bytes_max : INPUT_UNPACKED_MAX,
			      s->notes, s->err);
	return r < 0 ? r : read_input(&in, s);
}

static int fail_without_cost(const struct import_notes *notes, struct err *err)
{
	const struct subsume_tree none = {.node_count = 0};
	char line[ERR_MESSAGE_MAX];

	import_notes_line(notes, &none, line, sizeof(line));
	return err_set(err, line[0] ? EBADMSG : ENODATA, "no stack in it has a cost%s%s",
		       line[0] ? ": " : "", line);
}

int import_profile(const uint8_t *bytes, size_t size, const struct import_options *options,
		   struct subsume_tree *out, struct import_notes *notes, struct err *err)
{
	_cleanup_(free_builder) struct subsume_builder *builder = subsume_builder_new();
	struct import_notes found = {.count = 0};
	struct import_sink s = {.builder = builder,
				.options = options,
				.unit = "samples",
				.scale = 1,
				.notes = &found,
				.err = err};
	int r;

	if (!builder)
		return err_set(err, ENOMEM, "no memory for the profile's tree");
	r = read_all(bytes, size, &s);
	if (r < 0)
		return r;
	if (s.total == 0)
		return fail_without_cost(&found, err);
	r = subsume_builder_finish(builder, s.samples, s.unit, out);
	if (r < 0)
		return err_set(err, -r, "no memory for the profile's tree");
	out->scale = s.scale;
	*notes = found;
	return 0;
}
