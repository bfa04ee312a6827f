/*
 * Places that whoever walks a structure has to load: what kind an object is, how long an array is,
 * the links of lists and trees and what lies in their nodes. That they are loaded again unchanged
 * says nothing of waste.
 *
 * A node's class is one with a field of its own type. Where a structure hangs on a field (a table
 * of nodes, a list's first one), that is a link, too. Fields whose names and types are not known
 * are none.
 */
#ifndef JXPERF_REPORT_PROBLEMS_WALKS_H
#define JXPERF_REPORT_PROBLEMS_WALKS_H

#include <stdbool.h>

#include "profile/profile.h"

/* By location, 0 included, in an array to be freed. 0 or -ENOMEM. */
int walks_new(const struct profile *p, bool **walked);

#endif
