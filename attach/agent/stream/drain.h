/*
 * From rings to the socket: takes the records of all threads, sends what they name before the
 * record itself (instructions, methods, context nodes), each once.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_STREAM_DRAIN_H
#define JXPERF_AGENT_STREAM_DRAIN_H

#include "attach/agent/stack/context.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/stream/batch.h"
#include "proto/ledger.h"

struct drain;
struct thread;

/* All outlive the drain. NULL when memory is short. */
struct drain *drain_new(struct link *link, struct context_table *contexts,
			struct method_table *methods, const struct method_layout *layout);
void drain_free(struct drain *d); /* NULL is fine */

/* Empties the ring of one thread into the batch, sending it whenever it is full. 0 or -errno (the
 * session cannot go on). */
int drain_thread(struct drain *d, struct thread *t);

/* Tells the engine that a thread is being profiled, or that it ended. */
int drain_announce(struct drain *d, const struct thread *t, bool ended);

/* The same with a name, of THREAD_NAME_BYTES at most, that is known already. */
#define THREAD_NAME_BYTES 32
int drain_announce_as(struct drain *d, const struct thread *t, const char *name, bool ended);

/* A sampled allocation, whose class_id is of class_table. */
int drain_allocation(struct drain *d, const struct event_allocation *a);

/* Where an object is in the epoch, 0 when it has died. What is gathered so is complete, and the
 * epoch settled, with drain_settle. */
int drain_position(struct drain *d, uint32_t epoch, uint32_t id, uint64_t address);
int drain_settle(struct drain *d, uint32_t epoch);

/* The mean number of bytes between two sampled allocations, from now on. */
void drain_set_object_interval(struct drain *d, uint32_t bytes);

/* The smallest size of tracked objects, from now on. */
void drain_set_object_min_size(struct drain *d, uint64_t bytes);

/* Why the window tracks no objects though it was to; copied. */
void drain_refuse_objects(struct drain *d, const char *reason);

/* No allocation or access of an earlier time will be added. */
void drain_set_settled(struct drain *d, uint64_t time_ns);

/* Compiled code that was asked for, with the names of its methods before it, and their bytecodes.
 * Sent at once. *cut becomes true where something of it is left out for want of room. */
struct code_copy;
int drain_code_image(struct drain *d, const struct code_copy *copy, bool *cut);

/* Why there is none for that number of code, or of a method. */
int drain_code_refused(struct drain *d, uint64_t code, uint32_t method, const char *reason);

/* The address of the Method that the engine knows by a number; 0: by that it knows none. */
uint64_t drain_method_of(const struct drain *d, uint32_t number);

/* Sends what has gathered, if anything. */
int drain_send(struct drain *d);

/* Sends what has gathered, with the window's counters (COUNTER_MAX of them), what it has cost, and
 * its beginning, and the period that has been in force. */
int drain_flush(struct drain *d, const uint64_t *counters, const struct ledger *ledger,
		uint64_t setup_ns, uint64_t period);

/* Records in the rings that say nothing: parts of traces that do not go together. */
uint64_t drain_records_lost(const struct drain *d);

/* Meetings with methods that could not be named, because they could not be read or were too many,
 * and instructions that were too many. */
uint64_t drain_names_lost(const struct drain *d);

/* Places whose class was gone, or that were too many to be named. */
uint64_t drain_places_lost(const struct drain *d);

/* The JVM has died: nothing may be asked of it any more. */
void drain_vm_died(struct drain *d);

#endif
