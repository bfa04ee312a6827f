/*
 * The capability sets of this process, as masks with bit N for capability N. One thread.
 */
#ifndef JXPERF_COMMON_CAPABILITIES_H
#define JXPERF_COMMON_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

#define CAPABILITY(number) (UINT64_C(1) << (number))

/* Is the capability in the effective set? False when that cannot be told. */
bool capabilities_have(int number);

/* The permitted set; 0 when it cannot be told. */
uint64_t capabilities_permitted(void);

/* Those of the mask by name: "CAP_SETUID and CAP_SETGID". All that there are fit. */
#define CAPABILITIES_TEXT_BYTES 1024
const char *capabilities_text(uint64_t mask, char text[CAPABILITIES_TEXT_BYTES]);

/* Gives up, for good, what is permitted and not in mask; what is left is effective. With inherit,
 * programs that are run get it, too, also where the user is not root (ambient set); without, only
 * root's do. 0 or -errno. */
int capabilities_limit(uint64_t mask, bool inherit, struct err *err);

/* Takes what is not in mask out of the bounding set. Takes CAP_SETPCAP, unless there is nothing to
 * take out. 0 or -errno. */
int capabilities_limit_bounding(uint64_t mask, struct err *err);

#endif
