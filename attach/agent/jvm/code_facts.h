/*
 * Reads what HotSpot's own tables (vmstructs.h) say of its code heaps and of frames on its stacks,
 * for handlers, which walk stacks by it (attach/agent/stack/frame_layout.h).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_CODE_FACTS_H
#define JXPERF_AGENT_JVM_CODE_FACTS_H

#include "attach/agent/stack/frame_layout.h"

/* release: of the JDK (17), 0 when it is not known. NULL, or what is not told, or is not as it
 * should be where that is known beforehand: no stack can be walked then. */
const char *code_facts_read(unsigned release, struct frame_layout *out);

#endif
