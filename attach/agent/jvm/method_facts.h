/*
 * Reads what HotSpot's own tables (vmstructs.h) say of methods, for handlers, which read what they
 * are called (attach/agent/method/).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_METHOD_FACTS_H
#define JXPERF_AGENT_JVM_METHOD_FACTS_H

#include "attach/agent/method/method_layout.h"

/* release: of the JDK (17), 0 when it is not known. Returns NULL, or the name of what is not told:
 * out->known is not set then, and no method can be read. out->code_known: so can bytecodes. */
const char *method_facts_read(unsigned release, struct method_layout *out);

/* Are methods that are known beforehand, those of java.lang.Object, what they are by this layout?
 * NULL, or what is not as it should be. */
const char *method_facts_check(const struct method_layout *layout);

#endif
