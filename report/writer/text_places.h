/*
 * Places of memory, and lines that access them, in few words for people. Stream errors are the
 * caller's.
 */
#ifndef JXPERF_REPORT_WRITER_TEXT_PLACES_H
#define JXPERF_REPORT_WRITER_TEXT_PLACES_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"

/* "HashMap$Node.next", "elements of long[]", "compiler's spills": without packages. Places without
 * a name have their region's. */
void report_text_place(FILE *out, const struct profile *p, uint32_t location, Jxp__Region region);

/* Writes what an access touched, with packages: "java.util.HashMap$Node.next", "element of long[]".
 */
void report_text_location(FILE *out, const struct profile *p, uint32_t location);

/* Where a class's name goes on behind its package. */
const char *report_text_without_package(const char *name);

/* A class (a string of the profile), without its package. */
void report_text_class(FILE *out, const struct profile *p, uint32_t class_name);

/* The class that declares a field, without its package. */
void report_text_owner(FILE *out, const struct profile *p, uint32_t location);

/* "HashMap.putVal", without its package; 0: unknown. */
void report_text_method(FILE *out, const struct profile *p, uint32_t method);

/* "java.util.HashMap.putVal"; 0: unknown. */
void report_text_method_whole(FILE *out, const struct profile *p, uint32_t method);

/* "HashMap.putVal(HashMap.java:631)" of a node's frame, without packages; 0: unknown. */
void report_text_line(FILE *out, const struct profile *p, uint32_t node);

/* "java.util.HashMap.putVal(HashMap.java:631)" of a node that is not 0. */
void report_text_frame(FILE *out, const struct profile *p, uint32_t id);

/* Are these frames of one line? */
bool report_is_same_line(const struct profile *p, uint32_t node, uint32_t other);

/* Percent with as many digits as it takes: "3.1%", "0.04%". */
void report_text_percent(FILE *out, double fraction);

#endif
