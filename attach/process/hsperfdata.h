/*
 * HotSpot's performance data file, /tmp/hsperfdata_<user>/<pid>: the strings in it that tell what
 * the JVM is and how it was started, and the numbers that it keeps up to date there.
 *
 * Format, version 2.0: src/hotspot/share/runtime/perfMemory.hpp (PerfDataPrologue, PerfDataEntry).
 * Works on a copy in memory and trusts none of it: the file belongs to the target.
 */
#ifndef JXPERF_ATTACH_PROCESS_HSPERFDATA_H
#define JXPERF_ATTACH_PROCESS_HSPERFDATA_H

#include <stdbool.h>
#include <stddef.h>

/* PerfDataMemorySize is 32 KiB unless changed; entries beyond this are not looked at. */
#define HSPERFDATA_MAX_BYTES (256u << 10)

/* PerfMaxStringConstLength's default: a string of this length was probably cut. */
#define HSPERFDATA_STRING_CUT 1024

/* Finds the string entry called name and copies it, cut at size - 1, into value. False, with value
 * unchanged, when the data is not in the known format or has no such string. */
bool hsperfdata_string(const void *data, size_t data_bytes, const char *name, char *value,
		       size_t size);

/* Finds the entry called name that is one number of 64 bits: *offset is where the number lies in
 * the data, and in the file as long as the JVM lives. False, with offset unchanged, when there is
 * none. */
bool hsperfdata_number(const void *data, size_t data_bytes, const char *name, size_t *offset);

#endif
