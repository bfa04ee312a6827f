/* What a machine with nothing but the clock sampler and one NUMA node offers to a window. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_FINDINGS_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_FINDINGS_H

#include "profile/window/findings.h"

__attribute__((unused)) static const struct window_findings sample_findings = {
    .sampler = JXP__SAMPLER__SAMPLER_CLOCK,
    .sampler_reason = "it was asked for",
    .period = 5000000,
    .numa = {.node_count = 1},
};

#endif
