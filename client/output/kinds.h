/*
 * Kinds that a daemon tells of, in words.
 */
#ifndef JXPERF_CLIENT_OUTPUT_KINDS_H
#define JXPERF_CLIENT_OUTPUT_KINDS_H

#include <stddef.h>

#include "client/output/json.h"
#include "proto/kinds.h"

/* "dead-store,cpu"; "-" without any. Returns text. */
const char *kinds_text(char text[KIND_OPTIONS_BYTES], const Jxp__Kind *kinds, size_t count);

/* As an array; null without any. */
json_t *kinds_json(const Jxp__Kind *kinds, size_t count);

#endif
