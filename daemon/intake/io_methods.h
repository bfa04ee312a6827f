/*
 * Methods of the JDK and of database drivers that are input or output: what many small ones of
 * would better be few large ones of. A reviewed list, no more; who only fills a buffer is none.
 */
#ifndef JXPERF_DAEMON_INTAKE_IO_METHODS_H
#define JXPERF_DAEMON_INTAKE_IO_METHODS_H

#include <stdbool.h>

/* class_name: as Java has it, with dots. */
bool io_method(const char *class_name, const char *name);

#endif
