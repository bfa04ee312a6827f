/*
 * For --json: strings from anywhere, and printing with one error check.
 *
 * A NULL value stands for a failed allocation and is passed on until json_print tells, as in
 * common/json.h.
 */
#ifndef JXPERF_CLIENT_OUTPUT_JSON_H
#define JXPERF_CLIENT_OUTPUT_JSON_H

#include "common/err.h"
#include "common/json.h"

/* A JSON string; bytes that are not UTF-8 become '?'. */
json_t *json_readable(const char *text);

/* Prints value, which it takes, and a newline to stdout. 0 or -ENOMEM. */
int json_print(json_t *value, struct err *err);

#endif
