/*
 * Reads what a chunk of a flight recording says of its own types: the metadata event. All else is
 * read by that, so that recordings of all JDKs are, and events that nobody knows are passed over.
 *
 * Types are in the order of the metadata; a field that takes no bytes is left out.
 */
#ifndef JXPERF_SUBSUME_IMPORT_JFR_TYPES_H
#define JXPERF_SUBSUME_IMPORT_JFR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "subsume/import/ids.h"
#include "subsume/import/jfr_input.h"

#define JFR_TYPES_MAX  (UINT32_C(1) << 16)
#define JFR_FIELDS_MAX (UINT32_C(1) << 20)

enum jfr_kind {
	JFR_STRUCT,
	JFR_VARINT, /* char, short, int, long */
	JFR_BYTE,   /* boolean, byte */
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_TEXT,
};

/* A field's numbers are of one of these, where its annotations say so. */
enum jfr_unit {
	JFR_NO_UNIT,
	JFR_TICKS,
	JFR_NANOSECONDS,
	JFR_MICROSECONDS,
	JFR_MILLISECONDS,
	JFR_SECONDS,
};

struct jfr_field {
	const char *name;
	uint64_t type_id;
	uint32_t type; /* number */
	enum jfr_unit unit;
	bool pooled; /* an id in the constant pool of its type */
	bool array;
};

struct jfr_type {
	const char *name;
	uint64_t id;
	enum jfr_kind kind;
	uint32_t first_field, field_count; /* a STRUCT's */
	uint32_t least;                    /* bytes that a value takes at least; 0: always none */
	bool measured;                     /* least is known */
	bool entered;                      /* while it is being found out */
};

/* All zero is empty. */
struct jfr_types {
	struct jfr_type *types;
	size_t type_count, type_room;
	struct jfr_field *fields;
	size_t field_count, field_room;
	struct ids by_id; /* to number + 1 */
	char *text;       /* of all strings */
	const char **strings;
	size_t string_count;
};

/* Reads the metadata event at the cursor, which ends where the event may at most. Replaces what was
 * there. 0; or a negative code: c->wrong
 * says what is wrong, and where it does not there is no memory. */
int jfr_types_read(struct jfr_types *t, struct jfr_cursor *c);
void jfr_types_release(struct jfr_types *t);

/* NULL when there is none. */
const struct jfr_type *jfr_type_by_id(const struct jfr_types *t, uint64_t id);
const struct jfr_type *jfr_type_by_name(const struct jfr_types *t, const char *name);

/* The field of a type, or NULL. */
const struct jfr_field *jfr_field_by_name(const struct jfr_types *t, const struct jfr_type *type,
					  const char *name);

/* Passes over a value of the type, or of a field. */
void jfr_skip_value(const struct jfr_types *t, const struct jfr_type *type, struct jfr_cursor *c);
void jfr_skip_field(const struct jfr_types *t, const struct jfr_field *field, struct jfr_cursor *c);

/* Passes over the fields of a type's value that are before this one. */
void jfr_skip_to(const struct jfr_types *t, const struct jfr_type *type,
		 const struct jfr_field *field, struct jfr_cursor *c);

#endif
