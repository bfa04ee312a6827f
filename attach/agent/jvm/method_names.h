/*
 * What a method is called, and where its source is. Session thread.
 */
#ifndef JXPERF_AGENT_JVM_METHOD_NAMES_H
#define JXPERF_AGENT_JVM_METHOD_NAMES_H

#include <jvmti.h>
#include <stdbool.h>

#include "attach/agent/jvm/vm.h"

struct method_names {
	char *class_name; /* Java name with dots */
	char *name;       /* memory of JVMTI's, as are the following */
	char *file;       /* NULL when unknown */
	jvmtiLineNumberEntry *lines;
	jint line_count; /* 0: lines may be NULL */
};

/* Asks the JVM. To be released with method_names_release. False, and nothing to be released, when
 * the method's class is gone. */
bool method_names_resolve(struct vm *vm, jmethodID method, struct method_names *out);

/* A method's bytecodes, to be freed with free; NULL when it has none, or its class is gone.
 * vm_want_bytecodes was called. */
uint8_t *method_bytecodes(struct vm *vm, jmethodID method, size_t *size);

void method_names_release(struct vm *vm, struct method_names *m);

#endif
