/*
 * A configuration file: "key = value" lines, whose keys are the names of options of a command line
 * that may also be in a file (common/arguments.h, in_file). The value of a switch is "yes" or "no".
 * Empty lines and lines that start with '#' are skipped.
 */
#ifndef JXPERF_COMMON_CONFIG_FILE_H
#define JXPERF_COMMON_CONFIG_FILE_H

#include "common/arguments.h"
#include "common/err.h"

/* Sets what the file sets. 0; -EINVAL when it is wrong (one line says what, with file and line), or
 * -errno when it cannot be read: settings may be partly set then. Of the types, it takes SWITCH and
 * those that keep no pointer to the text: COPY and NUMBER. */
int config_file_read(const char *path, const struct argument_option *options, void *settings,
		     struct err *err);

#endif
