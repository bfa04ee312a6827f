/*
 * Collects the lines of one check result. For the parts of `check`.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_ITEMS_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_ITEMS_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

#define CHECK_ITEMS_MAX 64

struct check_items {
	Jxp__CheckResult *result; /* NULL when memory ran out */
	bool out_of_memory;
};

#define CHECK_OK      JXP__CHECK_ITEM__RESULT__OK
#define CHECK_WARNING JXP__CHECK_ITEM__RESULT__WARNING
#define CHECK_FAILED  JXP__CHECK_ITEM__RESULT__FAILED

void check_items_init(struct check_items *c);

/* The result, owned by the caller, or NULL when memory ran out anywhere; c is empty afterwards. */
Jxp__CheckResult *check_items_take(struct check_items *c);

/* Adds one line; control characters of the formatted detail become '?'. */
void check_items_add(struct check_items *c, const char *name, Jxp__CheckItem__Result result,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
