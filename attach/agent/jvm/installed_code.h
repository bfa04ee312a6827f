/*
 * The JVM's code, read from its code heaps into the code map: all of it when a window begins, and
 * later what was met that the map does not know.
 *
 * Nothing that can be unmapped is read directly: code heaps are never given back, and what lies
 * outside them (names, Methods, and from JDK 25 on debug information) is read safely. A blob may go
 * while it is read: it counts only if its heap has the same one behind that.
 *
 * Session thread.
 */
#ifndef JXPERF_AGENT_JVM_INSTALLED_CODE_H
#define JXPERF_AGENT_JVM_INSTALLED_CODE_H

#include "attach/agent/code/codemap.h"
#include "attach/agent/stack/frame_layout.h"

/* Memory that it takes while it reads. */
#define INSTALLED_BYTES (160u << 10)

/* Reads all that there is. layout is the one that the code map was given. 0 or -ENOMEM. */
int installed_code_read(const struct frame_layout *layout);

/* Reads what was met since the last call. */
void installed_code_read_met(const struct frame_layout *layout);

#endif
