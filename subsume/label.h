/*
 * Labels of methods, "java.util.HashMap.get(Ljava/lang/Object;)", taken apart for people. What is
 * no name of a Java method, as a native function's, has no class.
 *
 * Any thread; pure.
 */
#ifndef JXPERF_SUBSUME_LABEL_H
#define JXPERF_SUBSUME_LABEL_H

#include <stddef.h>
#include <stdio.h>

/* Where in a label its parts are. */
struct label_parts {
	const char *class_name;
	size_t class_length; /* 0: none */
	const char *method;
	size_t method_length;
	const char *descriptor; /* the rest, from '(' on; empty where it is not known */
};

struct label_parts subsume_label_parts(const char *label);

/* As it stands in a source file: "java.util.HashMap.get(Object)". */
void subsume_label_write(FILE *out, const char *label);

#endif
