/*
 * The methods that a window has met, by numbers from 1 on, and what each is called.
 *
 * A method is known by its address and by all that was copied of it (method_copy.h): the addresses
 * of its ConstMethod, constant pool and class, its names, descriptor, file, lines, flags and size.
 * So whatever comes to lie where a method was is another one unless nothing that we say of it is
 * different. A method that was redefined is a new one, for it has a ConstMethod of its own; its old
 * version, while it still runs, keeps its number.
 *
 * Signal handlers of all threads meet methods, without waiting for each other; what they copy lies
 * in memory of a fixed size and stays until the window is over. A number is never given to another
 * method, and what it stands for does not change. Two threads that meet a method at one moment get
 * the same number, the room of one of the two copies is lost.
 */
#ifndef JXPERF_AGENT_METHOD_METHOD_TABLE_H
#define JXPERF_AGENT_METHOD_METHOD_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/method/method_copy.h"
#include "attach/agent/method/method_layout.h"

/* Twice as many slots. Large programs have some thousand methods on their stacks. */
#define METHODS_MAX  16384u
#define METHOD_SLOTS (2u * METHODS_MAX)

/* All copies together, in words of 8 bytes: some 200 bytes each. */
#define METHOD_ARENA_WORDS (384u << 10)

struct known_method {
	uint64_t method;
	uint32_t copy;          /* word in the arena */
	_Atomic uint32_t epoch; /* in which it was looked at last */
	_Atomic bool compiled;  /* it was met in compiled code */
};

struct method_table {
	_Atomic uint32_t slots[METHOD_SLOTS]; /* numbers; 0: empty */
	struct known_method methods[METHODS_MAX];
	_Atomic uint32_t count;  /* numbers that were given out */
	_Atomic uint32_t used;   /* words of the arena */
	_Atomic uint32_t full;   /* meetings with methods for which there was no room, */
	_Atomic uint32_t unread; /* or that could not be read */
	uint64_t arena[METHOD_ARENA_WORDS];
};

#define METHOD_TABLE_BYTES sizeof(struct method_table)

/* Reserves the table, once for the process's life, and empties it: a handler that was late may have
 * met a method after the last window. 0 or -errno. Session thread. */
int method_table_init(void);

/* NULL before method_table_init. */
struct method_table *method_table(void);

/* Empties it, and gives its memory back. No handler may be in it. */
void method_table_release(void);

/* The number of the method at an address; 0 where there is no room for it, or no method: counted.
 * epoch: as long as it is the same no class was unloaded and no method redefined, so that an
 * address that was looked at in it is not looked at again; 0: it is not known, and it is.
 * Async-signal-safe. */
uint32_t method_number(struct method_table *t, const struct method_layout *layout, uint64_t method,
		       uint32_t epoch);

/* Notes that a method was met in compiled code, on its own or inlined. Async-signal-safe. */
void method_set_compiled(struct method_table *t, uint32_t number);
bool method_is_compiled(const struct method_table *t, uint32_t number);

/* Tells what a number of method_number's stands for, until the table is emptied. */
const struct method_copy *method_of_number(const struct method_table *t, uint32_t number);

#endif
