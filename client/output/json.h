/*
 * What --json adds to jansson: strings from anywhere, and printing with one error check.
 *
 * A NULL value stands for a failed allocation and is passed on until json_print tells.
 */
#ifndef JXPERF_CLIENT_OUTPUT_JSON_H
#define JXPERF_CLIENT_OUTPUT_JSON_H

#include <jansson.h>

#include "common/err.h"

/* A JSON string; bytes that are not UTF-8 become '?'. */
json_t *json_text(const char *text);

/* Sets key of *object to value, which it takes. On failure *object is freed and becomes NULL. */
void json_put(json_t **object, const char *key, json_t *value);

/* Appends value, which it takes, likewise. */
void json_push(json_t **array, json_t *value);

/* Prints value, which it takes, and a newline to stdout. 0 or -ENOMEM. */
int json_print(json_t *value, struct err *err);

#endif
