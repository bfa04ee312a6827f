/*
 * The words for the enumerations of jxperf.proto: as JSON values and metric labels (snake_case),
 * and as people read them. One table each; a value out of range is "unknown".
 */
#ifndef JXPERF_PROTO_WORDS_H
#define JXPERF_PROTO_WORDS_H

#include "proto/jxperf.pb-c.h"

const char *name_of_kind(Jxp__Kind kind);       /* "dead_store" */
const char *title_of_kind(Jxp__Kind kind);      /* "dead stores" */
const char *name_of_region(Jxp__Region region); /* "heap" */
const char *name_of_tier(Jxp__Tier tier);       /* "jit" */
const char *name_of_sampler(Jxp__Sampler sampler);

/* "reservoir_kept" for COUNTER_RESERVOIR_KEPT: taken from the generated descriptor, so that a
 * counter added to jxperf.proto is shown without a change here. */
#define COUNTER_NAME_BYTES 48
void name_of_counter(Jxp__Counter counter, char name[COUNTER_NAME_BYTES]);

#endif
