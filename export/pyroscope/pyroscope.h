/*
 * Pyroscope's push interface over HTTP (its API push.v1, a Connect call): POST
 * /push.v1.PusherService/Push, a PushRequest in protobuf, whose series are profiles for pprof with
 * labels. Grafana Alloy takes the same (pyroscope.receive_http).
 *
 * Each value of each series of a window (report/content/sample_series.h) is a profile of its own,
 * with one value a sample. It has the labels service_name (the application), host, host_group, kind
 * and schedule. Of the samples' labels there are the region and the sort of code, which have a few
 * values each: the server makes a series for each combination, so fields and classes are left out.
 *
 * The server refuses profiles that are larger than 4 MiB before they are compressed, have more than
 * 16,000 samples, or began more than an hour ago, unless it is configured to take them
 * (max_profile_size_bytes, max_profile_stacktrace_samples, reject_older_than): these are the
 * limits, but for the bytes, of which the settings may say others. Of a profile that is too large
 * the heaviest samples are sent.
 */
#ifndef JXPERF_EXPORT_PYROSCOPE_PYROSCOPE_H
#define JXPERF_EXPORT_PYROSCOPE_PYROSCOPE_H

#include "export/format.h"

#define PYROSCOPE_BODY_BYTES ((size_t)4 << 20)
#define PYROSCOPE_SAMPLES    16000
#define PYROSCOPE_TOO_OLD_NS (UINT64_C(3600) * 1000 * 1000 * 1000)

extern const struct export_format export_pyroscope;

#endif
