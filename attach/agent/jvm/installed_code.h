/*
 * The JVM's code, read from its code heaps into the code map and the set of compiled methods: all
 * of it when a window begins, and later what was met that the map does not know.
 *
 * Nothing that can be unmapped is read directly: code heaps are never given back, and what lies
 * outside them (names, Methods, and from JDK 25 on debug information) is read safely. A blob may go
 * while it is read: it counts only if its heap has the same one behind that.
 *
 * Session thread.
 */
#ifndef JXPERF_AGENT_JVM_INSTALLED_CODE_H
#define JXPERF_AGENT_JVM_INSTALLED_CODE_H

#include <jni.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/stack/frame_layout.h"

/* Of memory, while it reads. */
#define INSTALLED_METHODS (1u << 17)
#define INSTALLED_BYTES   (INSTALLED_METHODS * 16u + (160u << 10))

struct installed_code;

/* To be freed; NULL when there is no memory for it. layout is the one that the code map was given.
 */
struct installed_code *installed_code_new(const struct frame_layout *layout);

/* NULL is fine. */
void installed_code_free(struct installed_code *code);

/* An id that the JVM has: reading it from the Method takes up to eight system calls. */
void installed_code_name(struct installed_code *code, jmethodID id);

/* Reads all that there is. */
void installed_code_read(struct installed_code *code);

/* Reads what was met since the last call. */
void installed_code_read_met(const struct frame_layout *layout);

#endif
