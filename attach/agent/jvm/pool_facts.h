/*
 * Reads what HotSpot's own tables (vmstructs.h) say of constant pools and classes, for whoever
 * tells what bytecodes name (attach/agent/method/references.h).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_POOL_FACTS_H
#define JXPERF_AGENT_JVM_POOL_FACTS_H

#include "attach/agent/method/pool_layout.h"

/* Where something is not told, out->known is not set. */
void pool_facts_read(struct pool_layout *out);

#endif
