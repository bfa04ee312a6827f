/* From a file's bytes to a tree: which format it is, and what all formats share. */
#include "subsume/import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "subsume/import/sink.h"

/* Bytes from which a text is told from the rest. */
#define LOOKED_AT 4096u

static const struct {
	const char *name;
	int (*read)(const uint8_t *bytes, size_t size, struct import_sink *s);
} readers[] = {
    [IMPORT_AUTO] = {"auto", NULL},
    [IMPORT_COLLAPSED] = {"collapsed", import_collapsed},
    [IMPORT_PPROF] = {"pprof", import_pprof},
    [IMPORT_JFR] = {"jfr", import_jfr},
};

const char *import_format_name(enum import_format format)
{
	return readers[format].name;
}

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < LOOKED_AT; i++)
		if (bytes[i] == 0x7f ||
		    (bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\r' && bytes[i] != '\n'))
			return false;
	return true;
}

enum import_format import_detect(const uint8_t *bytes, size_t size)
{
	/* Of profile.proto: numbers of its fields in the upper bits, and a wire type that they
	 * have, 0 or 2, in the lower three. */
	const unsigned fields = 14;

	if (size >= 4 && memcmp(bytes, "FLR", 4) == 0)
		return IMPORT_JFR;
	if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
		return IMPORT_PPROF;
	if (is_text(bytes, size))
		return IMPORT_COLLAPSED;
	if ((bytes[0] & 5) == 0 && bytes[0] >> 3 >= 1 && bytes[0] >> 3 <= fields)
		return IMPORT_PPROF;
	return IMPORT_AUTO;
}

static void free_builder(struct subsume_builder **b)
{
	subsume_builder_free(*b);
}

/* The format that is asked for, or found; or a negative code. */
static int choose(const uint8_t *bytes, size_t size, const struct import_options *options,
		  struct err *err)
{
	enum import_format format;
	uint64_t most = options->bytes_max ? options->bytes_max : IMPORT_BYTES_MAX;

	if (size > most)
		return err_set(err, EFBIG, "%zu bytes are too many: at most %" PRIu64 " are read",
			       size, most);
	if (size == 0)
		return err_set(err, ENODATA, "it is empty");
	format = options->format ? options->format : import_detect(bytes, size);
	if (format == IMPORT_AUTO)
		return err_set(err, EBADMSG,
			       "at byte 0: neither collapsed stacks, nor pprof, nor a recording of "
			       "the JDK Flight Recorder");
	return (int)format;
}

int import_profile(const uint8_t *bytes, size_t size, const struct import_options *options,
		   struct subsume_tree *out, struct err *err)
{
	_cleanup_(free_builder) struct subsume_builder *builder = NULL;
	struct import_sink s = {.options = options, .err = err, .unit = "samples"};
	int format = choose(bytes, size, options, err), r;

	if (format < 0)
		return format;
	s.builder = builder = subsume_builder_new();
	if (!builder)
		return err_set(err, ENOMEM, "no memory for the profile's tree");
	r = readers[format].read(bytes, size, &s);
	if (r < 0)
		return r;
	if (s.total == 0)
		return err_set(err, ENODATA, "no stack in it has a cost");
	r = subsume_builder_finish(builder, s.samples, s.unit, out);
	return r < 0 ? err_set(err, -r, "no memory for the profile's tree") : 0;
}
