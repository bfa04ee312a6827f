/*
 * Collapsed stacks: "frame;frame;frame count", root first, as stackcollapse-perf, async-profiler
 * and our own reports write them.
 *
 * Lines beside each other mostly begin with the same frames: those are not looked up again. The
 * others are looked for in a small table before the builder is asked, which has to normalise them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/mix.h"
#include "subsume/import/collapsed_line.h"
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
	struct collapsed_shape shape;
	uint64_t number;  /* of the line, from 1 */
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
		h = mix_upper(h ^ load(p, sizeof(h))) ^ h >> 29;
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

/* A line is left out for one of these. */
enum {
	TOO_DEEP = 1,
	TOO_LONG,
};

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
		return TOO_LONG;
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

/* The frames into path, ends and depth. TOO_DEEP and TOO_LONG for what cannot be taken. */
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
			return TOO_DEEP;
		r = look_up(c, line + at, end - at, &c->path[depth]);
		if (r)
			return r;
		c->ends[depth++] = end;
		at = end + 1;
	}
	return 0;
}

static const struct import_reason no_stack = {"line", "is no stack", "are no stacks"};
static const struct import_reason is_negative = {"line", "has a negative count",
						 "have a negative count"};
static const struct import_reason too_large = {"line", "has a count of 2^63 or more",
					       "have a count of 2^63 or more"};
static const struct import_reason too_long = {"line", "has a name of more than 65536 bytes",
					      "have a name of more than 65536 bytes"};

_Static_assert(SUBSUME_NAME_MAX == 65536, "it is said in words");

/* Which of two numbers is the count, as the user wants it. false: there is but one. */
static bool choose_column(const struct collapsed *c, struct collapsed_line *l)
{
	unsigned column = c->sink->options->column;

	if (column != IMPORT_COLUMN_FIRST && column != IMPORT_COLUMN_SECOND)
		return true;
	if (!l->two)
		return false;
	if (column == IMPORT_COLUMN_FIRST)
		l->count = l->first;
	l->length = l->base_length;
	return true;
}

static int add_line(struct collapsed *c, const struct collapsed_line *l)
{
	uint64_t offset = offset_of(c, l->stack), count = 0;
	int r;

	if (!collapsed_count_scaled(&l->count, c->shape.digits, &count)) {
		import_notes_leave_out(c->sink->notes, &too_large, c->number, 1, 0, "");
		return 0;
	}
	r = read_frames(c, l->stack, l->length);
	if (r == TOO_LONG)
		import_notes_leave_out(c->sink->notes, &too_long, c->number, 1, 0, "");
	if (r < 0 || r == TOO_LONG)
		return r < 0 ? r : 0;
	if (r == TOO_DEEP)
		return import_truncated(c->sink, offset, count, c->are_samples ? count : 0);
	r = import_stack(c->sink, offset, c->path, c->depth, count);
	if (r == 0 && c->are_samples)
		c->sink->samples += count;
	return r;
}

static int read_line(struct collapsed *c, const uint8_t *line, size_t length, bool ended)
{
	struct collapsed_line l;

	c->number++;
	collapsed_line_read(line, length, ended, &l);
	if (l.kind == COLLAPSED_BLANK)
		return 0;
	if (l.kind == COLLAPSED_NEGATIVE)
		import_notes_leave_out(c->sink->notes, &is_negative, c->number, 1, 0, "");
	else if (l.kind != COLLAPSED_STACK || (!ended && c->shape.last_is_cut) ||
		 !choose_column(c, &l))
		import_notes_leave_out(c->sink->notes, &no_stack, c->number, 1, 0, "");
	else
		return add_line(c, &l);
	return 0;
}

/* Whether the file as a whole is one of stacks and counts, in words where it is not. */
static int check_shape(const struct collapsed *c)
{
	const struct collapsed_shape *f = &c->shape;
	struct import_sink *s = c->sink;

	if (f->none > f->stacks + f->negative)
		return err_set(s->err, EBADMSG,
			       "most lines, %" PRIu64 " of %" PRIu64 ", are no stacks with a count "
			       "(the first: line %" PRIu64 "): give collapsed stacks, 'a;b;c 12', "
			       "pprof or a flight recording",
			       f->none, f->none + f->stacks + f->negative, f->first_none);
	if (f->negative > f->stacks)
		return err_set(s->err, EBADMSG,
			       "most counts, %" PRIu64 " of %" PRIu64
			       ", are negative: a difference "
			       "of two profiles, which has no shares; give one of the two",
			       f->negative, f->negative + f->stacks);
	if (f->stacks == 0)
		return err_set(s->err, ENODATA, "no line of it is a stack");
	if (f->differential && !s->options->column)
		return err_set(
		    s->err, EBADMSG,
		    "two counts a line: a differential file; use --column 1 or "
		    "--column 2 for one of them (or --column last if the first number is "
		    "part of a name)");
	if (f->two > 0 && f->two < f->stacks && !s->options->column)
		import_notes_remark(
		    s->notes,
		    "%" PRIu64 " of %" PRIu64 " stacks end%s in two numbers (the first: "
		    "line %" PRIu64 "): a frame ends in a number, and the last one is "
		    "the count",
		    f->two, f->stacks, f->two == 1 ? "s" : "", f->first_two);
	return 0;
}

static int read_lines(struct collapsed *c, const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *line;
	size_t length;
	bool ended;
	int r = 0;

	while (r == 0 &&
	       collapsed_next_line(&at, bytes + size, c->shape.end, &line, &length, &ended))
		r = read_line(c, line, length, ended);
	return r;
}

int import_collapsed(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	const char *unit = s->options->sample_type ? s->options->sample_type : "samples";
	_cleanup_free_ struct known_frame *known = calloc(KNOWN_FRAMES, sizeof(*known));
	_cleanup_free_ struct collapsed *c = calloc(1, sizeof(*c));
	int r;

	if (!known || !c)
		return err_set(s->err, ENOMEM, "no memory for frames");
	c->sink = s;
	c->bytes = bytes;
	c->known = known;
	collapsed_shape_find(bytes, size, &c->shape);
	r = check_shape(c);
	if (r < 0)
		return r;
	/* Samples come whole. */
	c->are_samples = strcmp(unit, "samples") == 0 && c->shape.are_integers;
	if (!c->are_samples && !s->options->sample_type)
		unit = "counts";
	import_unit(s, unit, strlen(unit));
	for (unsigned i = 0; i < c->shape.digits; i++)
		s->scale *= 10;
	return read_lines(c, bytes, size);
}
