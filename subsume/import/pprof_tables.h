/*
 * Holds what the samples of a profile.proto refer to: strings, functions and locations, which may
 * come in any order, before the samples or behind them.
 *
 * One import, one thread.
 */
#ifndef JXPERF_SUBSUME_IMPORT_PPROF_TABLES_H
#define JXPERF_SUBSUME_IMPORT_PPROF_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "subsume/import/ids.h"
#include "subsume/import/sink.h"
#include "export/protobuf/wire.h"

#define PPROF_STRINGS_MAX   (UINT32_C(1) << 22)
#define PPROF_FUNCTIONS_MAX (UINT32_C(1) << 20)
#define PPROF_LOCATIONS_MAX (UINT32_C(1) << 21)
#define PPROF_LINES_MAX     (UINT32_C(1) << 22)

struct pprof_string {
	uint32_t offset; /* in text */
	uint32_t length;
};

struct pprof_function {
	uint64_t name, system_name, file; /* numbers of strings */
	uint64_t line;                    /* that it begins in */
	uint32_t method;                  /* 0: not asked for yet */
};

struct pprof_location {
	uint64_t id;
	uint64_t address, mapping;
	uint32_t first, count; /* in lines: innermost first */
	uint32_t method;       /* of the only frame; 0: not asked for yet, or there are more */
};

/* All zero is empty. */
struct pprof_tables {
	struct import_sink *sink;
	char *text;
	size_t text_used, text_room;
	struct pprof_string *strings;
	size_t string_count, string_room;
	struct pprof_function *functions;
	size_t function_count, function_room;
	struct pprof_location *locations;
	size_t location_count, location_room;
	uint64_t *lines; /* ids of functions; when they are linked, their numbers */
	size_t line_count, line_room;
	char name[SUBSUME_NAME_MAX]; /* of a function, and what tells it from others of that name */
	struct ids function_ids;     /* to number + 1 */
	struct ids location_ids;
};

void pprof_tables_release(struct pprof_tables *t);

/* Each takes what it is named after, which is at offset. 0, or a negative code with the error
 * set: -EEXIST for a second one with the same id, -EBADMSG for one that is damaged, which is then
 * missing. A string longer than a name may be is kept without its bytes. */
int pprof_add_string(struct pprof_tables *t, uint64_t offset, const uint8_t *bytes,
		     uint64_t length);
int pprof_add_function(struct pprof_tables *t, uint64_t offset, struct wire message);
int pprof_add_location(struct pprof_tables *t, uint64_t offset, struct wire message);

/* When all are there: which function each line is of. */
void pprof_link(struct pprof_tables *t);

/* The location with that id, or NULL. */
struct pprof_location *pprof_location(struct pprof_tables *t, uint64_t id);

/* The method of a location's line (less than its count); of one without lines, which its address
 * has to name, there is one. offset is of who asks. */
int pprof_line_method(struct pprof_tables *t, uint64_t offset, struct pprof_location *l,
		      uint32_t line, uint32_t *method);

/* The string of a number; "" for one that is not there. */
const char *pprof_string(const struct pprof_tables *t, uint64_t number, size_t *length);

#endif
