/*
 * Which JVM this is and how it was started, from its own tables (vmstructs.h): it is not asked.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_VM_VERSION_H
#define JXPERF_AGENT_JVM_VM_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#define VM_TEXT_BYTES 256u

/* The JDK's release (17); 0 when it is not known. */
unsigned vm_release(void);

/* Its version ("17.0.9+9-Ubuntu-122.04") and its name ("OpenJDK 64-Bit Server VM"), cut where they
 * are longer. False, with an empty text, when they are not known. */
bool vm_version(char text[VM_TEXT_BYTES]);
bool vm_name(char text[VM_TEXT_BYTES]);

/* The number that an argument of the JVM sets, such as "-Djxperf.x=1" for "-Djxperf.x=", the last
 * of them; else otherwise. */
unsigned vm_argument_number(const char *argument, unsigned otherwise);

#endif
