/*
 * The objects that a window keeps track of, and the passes that find out where they are.
 *
 * A pass reads the address of every object anew. It belongs to one epoch: when the epoch changes
 * meanwhile, it begins again. It is made in portions, so that rings are drained in between. What a
 * complete pass found is reported as the difference to what was reported last; dead objects are
 * released and their places used again.
 *
 * The table never asks the JVM itself: where an object is and how to forget it are the caller's two
 * functions, so tests need no JVM. Session thread only.
 */
#ifndef JXPERF_AGENT_OBJECTS_OBJECTS_H
#define JXPERF_AGENT_OBJECTS_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/limits.h"

/* One window has no more: 32 bytes each here, 2 MiB, and a word and a bit in the JVM. */
#define OBJECTS_LIMIT LIMIT_OBJECTS

struct object_entry;

struct object_memory {
	uint64_t (*address)(void *arg, void *ref); /* 0: dead */
	void (*release)(void *arg, const struct object_entry *object);
	void *arg;
};

struct object_entry {
	void *ref;
	uint64_t reported; /* address */
	uint64_t found;    /* by the pass; 0: dead */
	uint32_t id;
	uint32_t kept_words; /* of 8 bytes that the reference may keep from being reclaimed */
};

struct objects {
	struct object_memory memory;
	struct object_entry *list;
	unsigned count, max;
	uint32_t last_id;
	bool settled; /* by a complete pass: all addresses are those of settled_epoch */
	uint32_t settled_epoch;
	bool passing; /* a pass of pass_epoch has come to cursor */
	uint32_t pass_epoch;
	unsigned cursor;
	uint64_t passes, overtaken, died, moved;
};

/* Room for max objects, OBJECTS_LIMIT at most. 0 or -ENOMEM. */
int objects_init(struct objects *o, unsigned max, const struct object_memory *memory);

/* Forgets what is tracked, without releasing it: for a JVM that has died. */
void objects_clear(struct objects *o);

/* Releases what is tracked, and keeps the table and its counts. */
void objects_drop(struct objects *o);

/* Releases what is tracked, and the table. Safe on a zeroed one. */
void objects_release(struct objects *o);

/* Tracks an object that was at address in an epoch whose pass did not miss it (objects_was_missed);
 * 0: where it is is not known. Gives its number, from 1; 0 when there is no room, and ref is still
 * the caller's. */
uint32_t objects_add(struct objects *o, void *ref, uint64_t address, uint32_t kept_words);

/* Does no further pass come in this epoch? */
bool objects_is_settled(const struct objects *o, uint32_t epoch);

/* Has an epoch after this one been settled? Then its pass did not come to an object that is added
 * now, and an address of this epoch may be another object's since. */
bool objects_was_missed(const struct objects *o, uint32_t epoch);

enum objects_pass {
	PASS_NONE, /* nothing to do: settled, or the application is stopped */
	PASS_MORE, /* not complete: call again */
	PASS_DONE, /* the epoch is settled: report */
};

/* Goes on with the pass of the present epoch, or begins one, for about limit objects. */
enum objects_pass objects_pass(struct objects *o, const _Atomic uint32_t *epoch, unsigned limit);

/* After PASS_DONE: gives each object that moved, or died (address 0), since the last report. The
 * dead are released. */
void objects_report(struct objects *o, void (*each)(void *arg, uint32_t id, uint64_t address),
		    void *arg);

#endif
