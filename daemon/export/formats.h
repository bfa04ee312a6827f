/*
 * Which formats there are.
 */
#ifndef JXPERF_DAEMON_EXPORT_FORMATS_H
#define JXPERF_DAEMON_EXPORT_FORMATS_H

#include "export/format.h"

/* NULL: there is none of the name. */
const struct export_format *export_format_find(const char *name);

#endif
