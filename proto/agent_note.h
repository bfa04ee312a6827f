/*
 * An ELF note in the agent's library says which version it is of, to whoever looks at a process
 * that has it mapped: a JVM keeps the agent that it was given until it ends, also when the file is
 * another one by then, or gone. Agents before 0.3.0 have none.
 */
#ifndef JXPERF_PROTO_AGENT_NOTE_H
#define JXPERF_PROTO_AGENT_NOTE_H

#include <stdint.h>

#define AGENT_NOTE_NAME     "jxperf"
#define AGENT_NOTE_TYPE     1u
#define AGENT_NOTE_SECTION  ".note.jxperf"
#define AGENT_VERSION_BYTES 28 /* with its NUL */

/* The version of an agent that does not say it, in the note or in its hello. */
#define AGENT_VERSION_UNTOLD "0.2.0 or older"

struct agent_note {
	uint32_t protocol;
	char version[AGENT_VERSION_BYTES];
};

#endif
