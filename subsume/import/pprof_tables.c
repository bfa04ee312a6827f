/* Strings, functions and locations of a profile.proto. The numbers of fields are those of
 * https://github.com/google/pprof/blob/main/proto/profile.proto */
#include "subsume/import/pprof_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
	FUNCTION_LINE = 5,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
};

#define NO_FUNCTION UINT64_MAX

void pprof_tables_release(struct pprof_tables *t)
{
	free(t->text);
	free(t->strings);
	free(t->functions);
	free(t->locations);
	free(t->lines);
	ids_release(&t->function_ids);
	ids_release(&t->location_ids);
	*t = (struct pprof_tables){0};
}

/* Room for one more of what, or the error. */
static int room(struct pprof_tables *t, int r, uint64_t offset, const char *what, uint64_t most)
{
	if (r == -ENOSPC)
		return import_fail(t->sink, EFBIG, offset, "more %s than %" PRIu64, what, most);
	return r < 0 ? err_set(t->sink->err, -r, "no memory for %s", what) : 0;
}

static int fail_message(struct pprof_tables *t, uint64_t offset, const struct wire *w)
{
	return import_fail(t->sink, EBADMSG, offset + (uint64_t)(w->at - w->begin), "%s", w->wrong);
}

int pprof_add_string(struct pprof_tables *t, uint64_t offset, const uint8_t *bytes, uint64_t length)
{
	size_t kept = length <= SUBSUME_NAME_MAX ? (size_t)length : 0;
	int r = room(t,
		     array_reserve_within(&t->strings, &t->string_room, t->string_count + 1,
					  PPROF_STRINGS_MAX, sizeof(*t->strings)),
		     offset, "strings", PPROF_STRINGS_MAX);

	if (r == 0)
		r = room(t,
			 array_reserve_within(&t->text, &t->text_room, t->text_used + kept,
					      SUBSUME_NAMES_MAX, 1),
			 offset, "bytes of strings", SUBSUME_NAMES_MAX);
	if (r < 0)
		return r;
	if (kept > 0)
		memcpy(t->text + t->text_used, bytes, kept);
	t->strings[t->string_count++] = (struct pprof_string){
	    .offset = (uint32_t)t->text_used,
	    .length = length <= SUBSUME_NAME_MAX ? (uint32_t)length : SUBSUME_NAME_MAX + 1};
	t->text_used += kept;
	return 0;
}

/* Gives the number, which is the latest of its table, to the id. */
static int name(struct pprof_tables *t, struct ids *ids, uint64_t offset, const char *what,
		uint64_t id, size_t number)
{
	int r = ids_put(ids, id, number + 1);

	if (r == -EEXIST)
		return import_fail(t->sink, EEXIST, offset,
				   "a second %s with the id %" PRIu64
				   ": if these are profiles one behind the other, give one of them",
				   what, id);
	return room(t, r, offset, what, IDS_MAX);
}

int pprof_add_function(struct pprof_tables *t, uint64_t offset, struct wire message)
{
	struct pprof_function function = {0};
	struct wire_field field;
	uint64_t id = 0;
	int r;

	while (wire_next(&message, &field))
		if (field.number == FUNCTION_ID && field.type == WIRE_VARINT)
			id = field.value;
		else if (field.number == FUNCTION_NAME && field.type == WIRE_VARINT)
			function.name = field.value;
		else if (field.number == FUNCTION_SYSTEM_NAME && field.type == WIRE_VARINT)
			function.system_name = field.value;
		else if (field.number == FUNCTION_FILE && field.type == WIRE_VARINT)
			function.file = field.value;
		else if (field.number == FUNCTION_LINE && field.type == WIRE_VARINT)
			function.line = field.value;
	if (message.wrong)
		return fail_message(t, offset, &message);
	r = room(t,
		 array_reserve_within(&t->functions, &t->function_room, t->function_count + 1,
				      PPROF_FUNCTIONS_MAX, sizeof(*t->functions)),
		 offset, "functions", PPROF_FUNCTIONS_MAX);
	if (r == 0)
		r = name(t, &t->function_ids, offset, "function", id, t->function_count);
	if (r == 0)
		t->functions[t->function_count++] = function;
	return r;
}

static int add_line(struct pprof_tables *t, uint64_t offset, struct wire message)
{
	struct wire_field field;
	uint64_t function = 0;
	int r;

	while (wire_next(&message, &field))
		if (field.number == LINE_FUNCTION && field.type == WIRE_VARINT)
			function = field.value;
	if (message.wrong)
		return fail_message(t, offset, &message);
	r = room(t,
		 array_reserve_within(&t->lines, &t->line_room, t->line_count + 1, PPROF_LINES_MAX,
				      sizeof(*t->lines)),
		 offset, "lines of locations", PPROF_LINES_MAX);
	if (r == 0)
		t->lines[t->line_count++] = function;
	return r;
}

int pprof_add_location(struct pprof_tables *t, uint64_t offset, struct wire message)
{
	struct pprof_location location = {.first = (uint32_t)t->line_count};
	struct wire_field field;
	int r = 0;

	while (r == 0 && wire_next(&message, &field))
		if (field.number == LOCATION_ID && field.type == WIRE_VARINT)
			location.id = field.value;
		else if (field.number == LOCATION_MAPPING && field.type == WIRE_VARINT)
			location.mapping = field.value;
		else if (field.number == LOCATION_ADDRESS && field.type == WIRE_VARINT)
			location.address = field.value;
		else if (field.number == LOCATION_LINE && field.type == WIRE_BYTES)
			r = add_line(t, offset + (uint64_t)(field.bytes - message.begin),
				     wire_of(field.bytes, field.value));
	if (r < 0)
		return r;
	if (message.wrong)
		return fail_message(t, offset, &message);
	location.count = (uint32_t)t->line_count - location.first;
	r = room(t,
		 array_reserve_within(&t->locations, &t->location_room, t->location_count + 1,
				      PPROF_LOCATIONS_MAX, sizeof(*t->locations)),
		 offset, "locations", PPROF_LOCATIONS_MAX);
	if (r == 0)
		r = name(t, &t->location_ids, offset, "location", location.id, t->location_count);
	if (r == 0)
		t->locations[t->location_count++] = location;
	return r;
}

void pprof_link(struct pprof_tables *t)
{
	for (size_t i = 0; i < t->line_count; i++) {
		uint64_t number = ids_get(&t->function_ids, t->lines[i]);

		t->lines[i] = number > 0 ? number - 1 : NO_FUNCTION;
	}
}

struct pprof_location *pprof_location(struct pprof_tables *t, uint64_t id)
{
	uint64_t number;

	/* Most writers count from 1. */
	if (id - 1 < t->location_count && t->locations[id - 1].id == id)
		return &t->locations[id - 1];
	number = ids_get(&t->location_ids, id);
	return number > 0 ? &t->locations[number - 1] : NULL;
}

const char *pprof_string(const struct pprof_tables *t, uint64_t number, size_t *length)
{
	if (number >= t->string_count || t->strings[number].length > SUBSUME_NAME_MAX) {
		*length = 0;
		return "";
	}
	*length = t->strings[number].length;
	return t->text ? t->text + t->strings[number].offset : "";
}

/* Appends a string to the name. */
static void append(struct pprof_tables *t, size_t *used, uint64_t number)
{
	size_t length;
	const char *text = pprof_string(t, number, &length);

	/* A NUL is as in modified UTF-8. */
	for (size_t i = 0; i < length && *used + 2 <= sizeof(t->name); i++) {
		if (text[i] == '\0')
			t->name[(*used)++] = '\xc0';
		t->name[(*used)++] = (char)(text[i] ? text[i] : '\x80');
	}
}

/* Functions of one name are several, as static ones of two files or overloaded ones, where anything
 * else of them differs. A name is shown up to its NUL. */
static size_t identify(struct pprof_tables *t, const struct pprof_function *f)
{
	char line[32];
	size_t used = 0, shown;

	append(t, &used, f->name);
	if (used == 0)
		append(t, &used, f->system_name);
	shown = used;
	if (f->system_name != f->name || f->file || f->line) {
		int length = snprintf(line, sizeof(line), "%c%" PRIu64, '\0', f->line);

		for (int i = 0; i < length && used < sizeof(t->name); i++)
			t->name[used++] = line[i];
		append(t, &used, f->system_name);
		if (used < sizeof(t->name))
			t->name[used++] = '\0';
		append(t, &used, f->file);
	}
	return shown == 0 ? 0 : used;
}

/* A function's, by its name. */
static int function_method(struct pprof_tables *t, uint64_t offset, struct pprof_function *function)
{
	if (function->method)
		return 0;
	if (function->name >= t->string_count)
		return import_fail(t->sink, EBADMSG, offset,
				   "a function's name is string %" PRIu64 ", and there are %zu",
				   function->name, t->string_count);
	if (t->strings[function->name].length > SUBSUME_NAME_MAX)
		return import_fail(t->sink, EBADMSG, offset,
				   "a function's name is longer than %u bytes", SUBSUME_NAME_MAX);
	return import_method(t->sink, offset, t->name, identify(t, function), &function->method);
}

int pprof_line_method(struct pprof_tables *t, uint64_t offset, struct pprof_location *l,
		      uint32_t line, uint32_t *method)
{
	char address[64];
	uint64_t number;
	int r;

	if (l->count == 0) {
		int length = snprintf(address, sizeof(address), "0x%" PRIx64 "%c%" PRIu64,
				      l->address, '\0', l->mapping);

		r = import_method(t->sink, offset, address, (size_t)length, &l->method);
		*method = l->method;
		return r;
	}
	number = t->lines[l->first + line];
	if (number == NO_FUNCTION)
		return import_fail(
		    t->sink, EBADMSG, offset,
		    "location %" PRIu64 " is of a function that the profile does not have", l->id);
	r = function_method(t, offset, &t->functions[number]);
	if (r < 0)
		return r;
	*method = t->functions[number].method;
	if (l->count == 1)
		l->method = *method;
	return 0;
}
