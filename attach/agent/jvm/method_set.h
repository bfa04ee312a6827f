/*
 * Methods that compiled code was seen of, as the root of an nmethod or inlined into one. It
 * answers, as far as it can be answered, whether a caller's frame is compiled or interpreted:
 * AsyncGetCallTrace does not tell. Of one window; session thread.
 */
#ifndef JXPERF_AGENT_JVM_METHOD_SET_H
#define JXPERF_AGENT_JVM_METHOD_SET_H

#include <stdbool.h>
#include <stdint.h>

#define METHOD_SET_ENTRIES (1u << 17)
#define METHOD_SET_BYTES   (METHOD_SET_ENTRIES * sizeof(uint32_t))

void method_set_add(uint64_t method);
bool method_set_has(uint64_t method);
void method_set_clear(void);

#endif
