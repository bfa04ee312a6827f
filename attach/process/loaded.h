/*
 * What a JVM has loaded, and what an attach takes of its memory for that: counted from outside,
 * before anything is loaded into it.
 *
 * The agent has the JVM give every method an id (attach/agent/jvm/vm.c), without which a calling
 * context has no names, and lists all classes for that. What this takes was measured on JDK 17 and
 * 25 with 1,500 to 60,000 classes of 3 to 42 methods: docs/measurements.md.
 *
 * Classes are counted by the JVM itself, and so are methods, by the bytes of their descriptions; of
 * classes that come from an archive (CDS) and of those unloaded since only the classes are. All of
 * it is the JVM's own word. No state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_LOADED_H
#define JXPERF_ATTACH_PROCESS_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded {
	uint64_t classes;
	uint64_t methods;
	uint64_t classes_with_ids; /* of these, by an earlier attach */
	uint64_t methods_with_ids;
	bool guessed; /* by its size: it keeps no performance data */
};

/* Of performance data (attach/process/hsperfdata.h). What has no such counters has nothing loaded,
 * guessed. */
void loaded_read(struct loaded *out, const void *perfdata, size_t bytes);

/* Takes a guess by how much memory the JVM has of its own, if that is all there is to go by. */
void loaded_guess(struct loaded *l, uint64_t anonymous_bytes);

/* What ids take for those that have none yet. */
uint64_t loaded_id_bytes(const struct loaded *l);

/* What attaching makes the JVM's resident memory grow by, at its peak, in a window in which it does
 * nothing; within 10%. */
uint64_t loaded_attach_bytes(const struct loaded *l);

#endif
