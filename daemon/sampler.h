/*
 * Which samplers this build can run. One table: a sampler slots in by an entry that says how to
 * tell whether it works here and what is shown with its numbers.
 */
#ifndef JXPERF_DAEMON_SAMPLER_H
#define JXPERF_DAEMON_SAMPLER_H

#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* The sampler for a request in *chosen, never SAMPLER_AUTO, which takes the best that works. 0, or
 * -EINVAL for a value that is no sampler, or -EOPNOTSUPP for one that does not work here. */
int sampler_choose(Jxp__Sampler wanted, Jxp__Sampler *chosen, struct err *err);

/* What a reader of the sampler's fractions has to know, or NULL. */
const char *sampler_note(Jxp__Sampler sampler);

#endif
