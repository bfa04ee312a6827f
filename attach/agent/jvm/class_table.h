/*
 * Numbers the classes of sampled objects by their JNI signature, from 1 on in the order in which
 * they are first seen. Classes of one name in several class loaders are one.
 *
 * Any thread interns, under a mutex that no signal handler takes; entries never change or move
 * before class_table_clear.
 */
#ifndef JXPERF_AGENT_JVM_CLASS_TABLE_H
#define JXPERF_AGENT_JVM_CLASS_TABLE_H

#include <stdint.h>

/* Classes of one window. Those beyond share the number 0, and no name. */
#define CLASSES_MAX 8192u

/* Their signatures together take no more, with what malloc adds. */
#define CLASS_TEXT_BYTES (256u << 10)

#define CLASS_TABLE_BYTES (CLASS_TEXT_BYTES + CLASSES_MAX * (sizeof(char *) + 2 * sizeof(uint16_t)))

/* 0 when the table is full or memory is short. */
uint32_t class_table_intern(const char *signature);

/* The signature of a number that was given out, or NULL. */
const char *class_table_signature(uint32_t id);

/* Forgets all. No interning may be under way. */
void class_table_clear(void);

#endif
