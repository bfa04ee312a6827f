/*
 * The parts of the JSON report, each in a file of its own. They give new references, or NULL
 * without memory (common/json.h).
 */
#ifndef JXPERF_REPORT_JSON_PARTS_H
#define JXPERF_REPORT_JSON_PARTS_H

#include "report/writer/json_writer.h"

/* The member "inefficiency", with at most limit rows of each list of a kind. */
json_t *report_json_kinds(struct json_writer *writer, size_t limit);

/* The member "problems". */
json_t *report_json_problems(struct json_writer *writer);

/* The method and line of a node; null for none. */
json_t *report_json_line(const struct profile *p, uint32_t node);

/* The object with a share of CPU time, under a name and with its interval under another one; null
 * where it is not known. */
json_t *report_json_with_share(json_t *object, const char *name, const char *interval,
			       const struct cpu_share *share);

/* The member "objects", with at most limit of them, and "objects_summary". */
json_t *report_json_objects(struct json_writer *writer, size_t limit, json_t **summary);

/* Writes what an access touched: {"class", "field", "declared_in", "type", "kind"}, of a location
 * of the window's profile. Its names are of those that the document may hold; once they are used
 * up, only the kind is told. */
json_t *report_json_location(struct json_writer *writer, uint32_t location);

/* The member "classes", with at most limit of them, and what objects_summary says of accesses whose
 * class is not known. */
json_t *report_json_classes(struct json_writer *writer, size_t limit);
json_t *report_json_class_unknown(struct json_writer *writer);

/* The member "numa" of a report, and of an allocation site. */
json_t *report_json_numa(const struct report_model *m);
json_t *report_json_site_numa(const struct report_model *m, const struct numa_site *s);

/* The member "cpu", with at most limit rows of each list; null in a window without ticks. */
json_t *report_json_cpu(struct json_writer *writer, size_t limit);

/* The document with "loops", with at most limit of them, and "loops_summary", where the window was
 * for loops. */
json_t *report_json_with_loops(json_t *document, struct json_writer *writer, size_t limit);

/* The object of an access with "loop", the loop that it is in: whose own frame node is, or (called)
 * whose context. Nothing is added where it is in none. */
json_t *report_json_with_loop(json_t *access, struct json_writer *writer, uint32_t node,
			      bool called);

/* The member "quality". */
json_t *report_json_quality(const struct report_model *m);

#endif
