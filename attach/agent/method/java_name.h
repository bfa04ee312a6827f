/*
 * Names of classes as people write them. Pure.
 */
#ifndef JXPERF_AGENT_METHOD_JAVA_NAME_H
#define JXPERF_AGENT_METHOD_JAVA_NAME_H

/* The name in a JNI signature: "[Ljava/util/Map;" becomes "java.util.Map[]", "[[I" "int[][]". To be
 * freed; NULL when memory is short. */
char *java_name_of(const char *signature);

/* The same from a class's name as the JVM keeps it: "java/util/Map" becomes "java.util.Map". The
 * '+' before a hidden class's number becomes a '.', as it does in its signature. */
char *java_name_of_symbol(const char *symbol);

#endif
