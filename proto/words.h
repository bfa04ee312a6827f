/*
 * The words for the smaller enumerations of jxperf.proto, as JSON values and for people. One table
 * each; a value out of range is "unknown". Kinds have a table of their own (proto/kinds.h).
 */
#ifndef JXPERF_PROTO_WORDS_H
#define JXPERF_PROTO_WORDS_H

#include "proto/jxperf.pb-c.h"

const char *name_of_region(Jxp__Region region); /* "heap" */
const char *name_of_tier(Jxp__Tier tier);       /* "jit" */
const char *name_of_sampler(Jxp__Sampler sampler);

/* "reservoir_kept" for COUNTER_RESERVOIR_KEPT: taken from the generated descriptor, so that a
 * counter added to jxperf.proto is shown without a change here. */
#define COUNTER_NAME_BYTES 48
void name_of_counter(Jxp__Counter counter, char name[COUNTER_NAME_BYTES]);

#endif
