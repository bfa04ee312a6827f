/*
 * Tells what people call the waste of an operation: from the kinds of its pairs, how many fields
 * they touch, and what its methods are called.
 */
#ifndef JXPERF_REPORT_PROBLEMS_PROBLEM_KIND_H
#define JXPERF_REPORT_PROBLEMS_PROBLEM_KIND_H

#include "report/problems/grouping.h"
#include "report/problems/problem.h"

/* main: the kind of pairs that most of its weight shows in. */
enum problem_kind problem_kind_of(const struct pair_scope *s, const struct pair_group *group,
				  Jxp__Kind main);

/* Tells what has helped people with such a problem. */
const char *problem_advice(const struct profile *p, const struct problem *problem);

#endif
