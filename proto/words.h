/*
 * The words for the smaller enumerations of jxperf.proto, as JSON values and for people. One table
 * each; a value out of range is "unknown". Kinds and counters have tables of their own
 * (proto/kinds.h, proto/counters.h).
 */
#ifndef JXPERF_PROTO_WORDS_H
#define JXPERF_PROTO_WORDS_H

#include "proto/jxperf.pb-c.h"

const char *name_of_region(Jxp__Region region);         /* "heap" */
const char *name_of_tier(Jxp__Tier tier);               /* "jit" */
const char *name_of_location(Jxp__Location__Kind kind); /* "field" */
const char *name_of_sampler(Jxp__Sampler sampler);

/* Those of all samplers and of all views, by value; ended by NULL. */
extern const char *const sampler_names[], *const view_names[];

#define VIEW_VALUES 10

#endif
