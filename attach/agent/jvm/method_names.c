#include "attach/agent/jvm/method_names.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/method/java_name.h"

bool method_names_resolve(struct vm *vm, jmethodID method, struct method_names *out)
{
	jvmtiEnv *jvmti = vm->jvmti;
	struct method_names m = {0};
	char *signature = NULL;
	jclass class = NULL;
	bool ok;

	ok = (*jvmti)->GetMethodName(jvmti, method, &m.name, NULL, NULL) == JVMTI_ERROR_NONE &&
	     (*jvmti)->GetMethodDeclaringClass(jvmti, method, &class) == JVMTI_ERROR_NONE &&
	     (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE &&
	     (m.class_name = java_name_of(signature)) != NULL;
	if (ok) {
		/* Absent for classes compiled without debug information, and for native methods. */
		if ((*jvmti)->GetSourceFileName(jvmti, class, &m.file) != JVMTI_ERROR_NONE)
			m.file = NULL;
		if ((*jvmti)->GetLineNumberTable(jvmti, method, &m.line_count, &m.lines) !=
		    JVMTI_ERROR_NONE) {
			m.lines = NULL;
			m.line_count = 0;
		}
	}
	if (class)
		(*vm->jni)->DeleteLocalRef(vm->jni, class);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (!ok) {
		method_names_release(vm, &m);
		return false;
	}
	*out = m;
	return true;
}

uint8_t *method_bytecodes(struct vm *vm, jmethodID method, size_t *size)
{
	unsigned char *code = NULL;
	uint8_t *copy = NULL;
	jint count = 0;

	if ((*vm->jvmti)->GetBytecodes(vm->jvmti, method, &count, &code) != JVMTI_ERROR_NONE)
		return NULL;
	if (count > 0 && (copy = malloc((size_t)count))) {
		memcpy(copy, code, (size_t)count);
		*size = (size_t)count;
	}
	(void)(*vm->jvmti)->Deallocate(vm->jvmti, code);
	return copy;
}

void method_names_release(struct vm *vm, struct method_names *m)
{
	free(m->class_name);
	/* Deallocate accepts NULL. */
	(void)(*vm->jvmti)->Deallocate(vm->jvmti, (unsigned char *)m->name);
	(void)(*vm->jvmti)->Deallocate(vm->jvmti, (unsigned char *)m->file);
	(void)(*vm->jvmti)->Deallocate(vm->jvmti, (unsigned char *)m->lines);
	*m = (struct method_names){0};
}
