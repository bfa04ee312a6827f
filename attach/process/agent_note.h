/*
 * Tells which agent a library is: version and protocol from its note (proto/agent_note.h), and the
 * build id that the linker gave it, which no other build has.
 *
 * Works on the first bytes of an ELF file, as they are in a file or in a process that has it
 * mapped. They were chosen by a target, so nothing in them is trusted: what is not whole, or not
 * within them, is not there.
 */
#ifndef JXPERF_ATTACH_PROCESS_AGENT_NOTE_H
#define JXPERF_ATTACH_PROCESS_AGENT_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/agent_note.h"

/* Linkers put notes right behind the headers. */
#define AGENT_HEAD_BYTES 4096u

#define AGENT_BUILD_ID_MAX 32

struct agent_identity {
	struct agent_note note; /* protocol 0 and version "" where it has none */
	uint8_t build_id[AGENT_BUILD_ID_MAX];
	size_t build_id_bytes; /* 0: none */
};

/* out is empty where bytes are no ELF library's. A version is of characters that versions have. */
void agent_identity_parse(struct agent_identity *out, const uint8_t *bytes, size_t size);

/* The same of what process pid has mapped at address, if we may read it. May hang
 * (attach/process/jvm_step.h). False: it could not be read. */
bool agent_identity_read(struct agent_identity *out, pid_t pid, uint64_t address);

/* Are both known to be of the same build? */
bool agent_identity_equal(const struct agent_identity *a, const struct agent_identity *b);

#endif
