/*
 * /proc/PID/maps: which JVM is mapped, and whether our agent already is.
 *
 * Works on text in memory. File names in it were chosen by the target: any bytes, any length.
 */
#ifndef JXPERF_ATTACH_PROCESS_MAPS_H
#define JXPERF_ATTACH_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPS_PATH_BYTES 4096

/* Longest text looked at: a JVM with 16000 threads has about 50000 mappings of about 100 bytes. */
#define MAPS_TEXT_MAX (16u << 20)

struct maps {
	bool libjvm; /* libjvm.so is mapped */
	bool openj9; /* ... and belongs to Eclipse OpenJ9, which has another attach protocol */
	bool musl;   /* its C library is musl */
	bool arm64;  /* its loader is arm64's: an emulator runs it */
	char libjvm_path[MAPS_PATH_BYTES];     /* "" when not mapped */
	char hsperfdata_path[MAPS_PATH_BYTES]; /* the JVM's performance counters; "" when none */
	char agent_path[MAPS_PATH_BYTES]; /* our agent, without " (deleted)"; "" when not loaded */
	uint64_t agent_start;             /* where the file's beginning is mapped, or 0 */
	bool agent_deleted;               /* what has the name now is another file, or none */
};

/* text need not be terminated; a last line without newline counts. agent is the file name to look
 * for. Paths too long for their array are ignored. */
void maps_scan(struct maps *out, const char *text, size_t size, const char *agent);

#endif
