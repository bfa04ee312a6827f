/*
 * The operation that a pair of accesses is part of: whose doing it is that memory is accessed
 * twice.
 *
 * Where both accesses are made by one method, it is that. Else it is the method that has called
 * both where that is near, and where it is not, the method with the access that could go.
 */
#ifndef JXPERF_REPORT_PROBLEMS_OPERATION_H
#define JXPERF_REPORT_PROBLEMS_OPERATION_H

#include <stdbool.h>

#include "report/pairs/pair_ranking.h"

struct operation {
	uint32_t method; /* of the profile's tree; 0: nobody knows */
	uint32_t node;   /* its frame, in the context of the access that could go */
};

struct operation operation_of(const struct pair_scope *s, const struct pair *pair);

/* Are both accesses made by one call of a method, as far as their contexts tell? Such a method
 * could keep the value in between. */
bool operation_is_one_call(const struct pair_scope *s, const struct pair *pair);

/* Is a frame of an iterator's or wrapper's method, by the name of its class? */
bool operation_is_scaffolding(const struct profile *p, uint32_t node);

/* Is a frame of the JDK's basic packages: collections, strings, streams of bytes? What is done with
 * them is their callers' doing. */
bool operation_is_basic(const struct profile *p, uint32_t node);
bool operation_method_is_basic(const struct profile *p, uint32_t method);

/* The frame that a node's was called from; of a method of the JDK's basic packages (java.util and
 * so on) the nearest one of other code, if there is one. 0: nobody has called it. */
uint32_t operation_caller(const struct profile *p, uint32_t node);

#endif
