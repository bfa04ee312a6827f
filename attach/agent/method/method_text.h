/*
 * Could this be what the JVM calls a class, a method, or its parameters? What is read from memory
 * that was given back does not pass for it.
 *
 * Pure, async-signal-safe.
 */
#ifndef JXPERF_AGENT_METHOD_METHOD_TEXT_H
#define JXPERF_AGENT_METHOD_METHOD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* "java/lang/String", "A$B+0x0000000840001000": parts between slashes, none of them empty (JVMS
 * 4.2.1). */
bool text_is_class_name(const char *text, size_t length);

/* "indexOf", "<init>" (JVMS 4.2.2). */
bool text_is_method_name(const char *text, size_t length);

/* "(ILjava/lang/Object;)V" (JVMS 4.3.3). */
bool text_is_descriptor(const char *text, size_t length);

#endif
