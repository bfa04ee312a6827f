/*
 * Names of classes as people write them. Pure.
 */
#ifndef JXPERF_AGENT_JVM_JAVA_NAME_H
#define JXPERF_AGENT_JVM_JAVA_NAME_H

/* Of a JNI signature: "[Ljava/util/Map;" becomes "java.util.Map[]", "[[I" "int[][]". To be freed;
 * NULL when memory is short. */
char *java_name_of(const char *signature);

#endif
