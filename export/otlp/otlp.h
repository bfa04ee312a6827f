/*
 * OpenTelemetry profiles over HTTP (opentelemetry-proto, profiles/v1development, which is alpha):
 * ExportProfilesServiceRequest, POST /v1development/profiles, protobuf.
 *
 * A window is a ResourceProfiles: the JVM, as resource attributes. Each value of each series
 * (report/content/sample_series.h) is a Profile of its own, whose samples have one value each;
 * samples of the same stack and attributes are one. A profile's id is a hash of the host, the
 * store, the window's number and the value's name, so a batch that is sent again is the same
 * profiles again.
 *
 * A batch that is too large for a request becomes several, between profiles; of a profile that is
 * too large alone the heaviest samples are sent, and its attribute jxperf.samples_left_out says how
 * many are not.
 */
#ifndef JXPERF_EXPORT_OTLP_OTLP_H
#define JXPERF_EXPORT_OTLP_OTLP_H

#include "export/format.h"

/* What is taken for a size of 0 in the settings: what servers are recommended to take of a request
 * (opentelemetry-proto 1.11, "OTLP/HTTP Request"). */
#define OTLP_BODY_BYTES ((size_t)64 << 20)

/* From this version 1.x on the fields of Sample have the numbers that they have today; in those
 * before, as in 1.0, they have others. */
#define OTLP_MINOR_RENUMBERED 10

extern const struct export_format export_otlp;

#endif
