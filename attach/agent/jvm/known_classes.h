/*
 * Where classes lie that every JVM has, from its tables (vmstructs.h): those that these name, and
 * those that the boot loader's list of classes has, which is never unloaded and grows at its head
 * alone. No class is asked for by JNI.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_KNOWN_CLASSES_H
#define JXPERF_AGENT_JVM_KNOWN_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_PRIMITIVES 8u

/* Addresses of Klass; 0: not known. */
struct known_classes {
	uint64_t object, string, class, class_loader;
	uint64_t weak_reference, virtual_thread;
	uint64_t objects, strings;             /* arrays of them, where one was made already */
	uint64_t primitives[KNOWN_PRIMITIVES]; /* arrays, in the order of BasicType: [Z, [C, [F, [D,
						* [B, [S, [I, [J */
};

/* The class that the tables name like "Object". 0: none. */
uint64_t known_class(const char *name);

/* What takes a look at each of the boot loader's classes is looked for once per JVM. */
void known_classes_find(struct known_classes *out);

/* Has this JVM had a virtual thread? Their class makes the pool of their carriers when it is
 * initialized. */
bool known_classes_virtual_threads(void);

#endif
