/*
 * Reads what HotSpot's own tables (vmstructs.h) say of the layout of objects and classes, for
 * handlers, which tell objects by it, and for whoever reads classes (klass_names.h).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_LAYOUT_FACTS_H
#define JXPERF_AGENT_JVM_LAYOUT_FACTS_H

#include "attach/agent/code/region.h"
#include "attach/agent/place/object_layout.h"

/* Where something is not told, class_word is CLASS_WORD_NONE, and no object will be told. */
void layout_facts_read(const struct region_map *regions, struct object_layout *out);

#endif
