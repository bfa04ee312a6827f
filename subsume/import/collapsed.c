/*
 * Collapsed stacks: "frame;frame;frame count", root first, as stackcollapse-perf, async-profiler
 * and our own reports write them.
 *
 * Lines beside each other mostly begin with the same frames: those are not looked up again. The
 * others are looked for in a small table before the builder is asked, which has to normalise them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/mix.h"
#include "subsume/import/import.h"
#include "subsume/import/sink.h"

/* Frames that are remembered, a power of two; one that comes to the place of another replaces it.
 */
#define KNOWN_FRAMES 65536u

/* Characters of an annotation between "_[" and "]": async-profiler's have one, ours name an
 * instruction. */
#define ANNOTATION_MAX 48u

struct known_frame {
	const uint8_t *text; /* in the input */
	size_t length;
	uint32_t method;
};

struct collapsed {
	struct import_sink *sink;
	const uint8_t *bytes;
	bool are_samples; /* the counts */
	struct known_frame *known;
	/* The line before, as far as it can be used again. */
	const uint8_t *line;
	size_t length;
	size_t depth;
	uint32_t path[SUBSUME_DEPTH_MAX];
	size_t ends[SUBSUME_DEPTH_MAX]; /* where each frame's ';' is, or the end of the stack */
	char name[SUBSUME_NAME_MAX];
};

static uint64_t offset_of(const struct collapsed *c, const uint8_t *at)
{
	return (uint64_t)(at - c->bytes);
}

static uint64_t load(const uint8_t *p, size_t bytes)
{
	uint64_t word = 0;

	memcpy(&word, p, bytes);
	return word;
}

static uint64_t hash(const uint8_t *p, size_t length)
{
	uint64_t h = length;

	for (; length >= sizeof(h); p += sizeof(h), length -= sizeof(h))
		h = (h ^ load(p, sizeof(h))) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return mix(h ^ load(p, length));
}

/* How many bytes both begin with. */
static size_t common_bytes(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t i = 0;

	for (; i + sizeof(uint64_t) <= most; i += sizeof(uint64_t)) {
		uint64_t differ = load(a + i, sizeof(differ)) ^ load(b + i, sizeof(differ));

		if (differ)
			return i + (unsigned)__builtin_ctzll(differ) / 8;
	}
	while (i < most && a[i] == b[i])
		i++;
	return i;
}

/* Without "_[j]" and the like at its end. */
static size_t without_annotation(const uint8_t *frame, size_t length)
{
	const uint8_t *bracket;
	size_t behind;

	if (length < 4 || frame[length - 1] != ']')
		return length;
	bracket = memrchr(frame, '[', length);
	if (!bracket || bracket - frame < 2 || bracket[-1] != '_')
		return length;
	behind = (size_t)(frame + length - bracket) - 2;
	return behind >= 1 && behind <= ANNOTATION_MAX ? (size_t)(bracket - frame) - 1 : length;
}

/* May it be in the name of a class with its packages, written with slashes? */
static bool in_class_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80 || (c && strchr("/_$.+-", c));
}

/* "java/util/HashMap.get", and perf's "Ljava/util/HashMap:::get", as everywhere else:
 * "java.util.HashMap.get". Returns the length; names that are not Java's stay as they are. The
 * number in a hidden class's name, "Main$$Lambda/0x7f00", keeps its slash. */
static size_t spell(const uint8_t *frame, size_t length, char *name)
{
	const uint8_t *colons = memmem(frame, length, ":::", 3);
	const uint8_t *point = colons ? colons : memrchr(frame, '.', length);
	size_t class_length = point ? (size_t)(point - frame) : 0, n = 0;

	memcpy(name, frame, length);
	if (class_length == 0 || frame[0] == '/' || !memchr(frame, '/', class_length))
		return length;
	while (n < class_length && in_class_name(frame[n]))
		n++;
	if (n < class_length)
		return length;
	for (size_t i = 0; i < class_length; i++)
		if (name[i] == '/' && (name[i + 1] < '0' || name[i + 1] > '9'))
			name[i] = '.';
	if (!colons)
		return length;
	name[class_length] = '.';
	memmove(name + class_length + 1, colons + 3, length - class_length - 3);
	length -= 2;
	if (name[0] == 'L')
		memmove(name, name + 1, --length);
	return length;
}

static int look_up(struct collapsed *c, const uint8_t *frame, size_t length, uint32_t *method)
{
	struct known_frame *known = &c->known[hash(frame, length) & (KNOWN_FRAMES - 1)];
	size_t bare = without_annotation(frame, length);
	int r;

	if (known->text && known->length == length && memcmp(known->text, frame, length) == 0) {
		*method = known->method;
		return 0;
	}
	if (bare >= SUBSUME_NAME_MAX)
		return import_fail(c->sink, EFBIG, offset_of(c, frame),
				   "a name of %zu bytes: at most %u are taken", bare,
				   SUBSUME_NAME_MAX);
	r = import_method(c->sink, offset_of(c, frame), c->name, spell(frame, bare, c->name),
			  method);
	if (r == 0)
		*known = (struct known_frame){frame, length, *method};
	return r;
}

/* How many frames of the line before are this one's, too. */
static size_t shared_frames(const struct collapsed *c, const uint8_t *line, size_t length)
{
	size_t most = length < c->length ? length : c->length;
	size_t common = common_bytes(line, c->line, most), n = 0;

	/* The last of the line before may go on in this one. */
	while (n < c->depth && c->ends[n] < common && line[c->ends[n]] == ';')
		n++;
	return n;
}

/* The frames into path, ends and depth. 1 when they are too many. */
static int read_frames(struct collapsed *c, const uint8_t *line, size_t length)
{
	size_t depth = c->depth > 0 ? shared_frames(c, line, length) : 0;
	size_t at = depth > 0 ? c->ends[depth - 1] + 1 : 0;

	c->line = line;
	c->length = length;
	for (c->depth = depth; at < length; c->depth = depth) {
		const uint8_t *semicolon = memchr(line + at, ';', length - at);
		size_t end = semicolon ? (size_t)(semicolon - line) : length;
		int r;

		if (end == at) { /* no name: nothing that could be told from its neighbours */
			at++;
			continue;
		}
		if (depth == SUBSUME_DEPTH_MAX)
			return 1;
		r = look_up(c, line + at, end - at, &c->path[depth]);
		if (r < 0)
			return r;
		c->ends[depth++] = end;
		at = end + 1;
	}
	return 0;
}

/* The digits behind the last space. */
static int read_count(struct collapsed *c, const uint8_t *text, size_t length, uint64_t *count)
{
	uint64_t offset = offset_of(c, text);
	uint64_t value = 0;

	if (length > 0 && text[0] == '-')
		return import_fail(c->sink, EBADMSG, offset, "a negative count");
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9' ||
		    __builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
			return import_fail(c->sink, EBADMSG, offset,
					   "the line does not end in a space and a count");
	*count = value;
	return 0;
}

static int read_line(struct collapsed *c, const uint8_t *line, size_t length)
{
	const uint8_t *space;
	uint64_t count = 0;
	int r;

	while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (length == 0)
		return 0;
	space = memrchr(line, ' ', length);
	if (!space)
		return import_fail(c->sink, EBADMSG, offset_of(c, line),
				   "the line does not end in a space and a count");
	r = read_count(c, space + 1, (size_t)(line + length - space) - 1, &count);
	if (r < 0)
		return r;
	r = read_frames(c, line, (size_t)(space - line));
	if (r < 0)
		return r;
	if (r > 0)
		return import_truncated(c->sink, offset_of(c, line), count,
					c->are_samples ? count : 0);
	r = import_stack(c->sink, offset_of(c, line), c->path, c->depth, count);
	if (r == 0 && c->are_samples)
		c->sink->samples += count;
	return r;
}

int import_collapsed(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	const char *unit = s->options->sample_type ? s->options->sample_type : "samples";
	_cleanup_free_ struct known_frame *known = calloc(KNOWN_FRAMES, sizeof(*known));
	_cleanup_free_ struct collapsed *c = calloc(1, sizeof(*c));
	const uint8_t *end = bytes + size;
	int r = 0;

	if (!known || !c)
		return err_set(s->err, ENOMEM, "no memory for frames");
	import_unit(s, unit, strlen(unit));
	c->sink = s;
	c->are_samples = strcmp(unit, "samples") == 0;
	c->bytes = bytes;
	c->known = known;
	for (const uint8_t *line = bytes; line < end && r == 0;) {
		const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
		const uint8_t *next = newline ? newline : end;

		r = read_line(c, line, (size_t)(next - line));
		line = next + 1;
	}
	return r;
}
