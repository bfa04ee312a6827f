/*
 * The page of a report (docs/page.md): the file that jxperf's build made of page/, and the data of
 * a report where it has a mark for it.
 */
#ifndef JXPERF_CLIENT_OUTPUT_PAGE_H
#define JXPERF_CLIENT_OUTPUT_PAGE_H

#include <stddef.h>

#include "common/err.h"

/* The page without data, to be freed. 0, -ENOENT with what to do where this installation has none,
 * or another -errno. */
int page_read(char **page, struct err *err);

/* The page with the data in it, to be freed, of *size bytes: gzip, as base64, so that nothing in
 * the data can be markup. 0, -EINVAL for a page that has no place for data, or -ENOMEM. */
int page_fill(const char *page, const void *data, size_t data_size, char **filled, size_t *size,
	      struct err *err);

#endif
