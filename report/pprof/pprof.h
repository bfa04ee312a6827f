/*
 * A report as a profile for pprof (proto/profile.proto, compressed with gzip), with a sample type
 * for each metric: of each kind of pairs the wasteful bytes and, where the sampler is the clock,
 * the CPU time at wasteful accesses; of allocation sites what accesses to their objects cost, and
 * the bytes allocated; of the clock's ticks (kind cpu) their number, and the CPU time that they
 * stand for. A sample has 0 in those that are not its own.
 *
 * A pair is two contexts: the wasteful access is the leaf, so that its line is blamed, and its
 * context is below the other's, with a frame between them that says what the one has to do with the
 * other. Of a dead store that is the first access, else the second one.
 */
#ifndef JXPERF_REPORT_PPROF_PPROF_H
#define JXPERF_REPORT_PPROF_PPROF_H

#include <stddef.h>
#include <stdio.h>

#include "report/content/model.h"

/* As report_write_fn of report/formats.h: at most so many rows of each list; how many more
 * there are is said in the profile's comments. 0 or -ENOMEM. */
int report_pprof_write(FILE *out, const struct report_model *m, size_t rows);

#endif
