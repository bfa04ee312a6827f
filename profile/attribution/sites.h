/*
 * Where a code's methods may access memory: of their bytecodes, those that can be candidates of any
 * access. Found once, since each question goes through all of them.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_SITES_H
#define JXPERF_PROFILE_ATTRIBUTION_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/loops/code_image.h"

struct sites {
	uint16_t *bcis;  /* ascending, those of each method in a row */
	uint32_t *first; /* by method, and one more */
};

/* 0 or -ENOMEM, and then it is empty. */
int sites_make(struct sites *s, const struct code_image *image);
void sites_release(struct sites *s);

/* Heap bytes held, of an image with so many methods. */
size_t sites_memory_bytes(const struct sites *s, size_t method_count);

#endif
