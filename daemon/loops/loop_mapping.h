/*
 * Which loop of the bytecodes each loop of the machine code is.
 *
 * A place that the JVM's debug information tells of lies in loops of its method and of those that
 * it was inlined into, from the outermost on: its path. A loop of the machine code is the innermost
 * that all its places have in common. Where there are no places in it, the uncommon traps that it
 * is left by tell, then the loops in and around it, then what other loops there are to choose from.
 * What is still not known stays unknown.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_MAPPING_H
#define JXPERF_DAEMON_LOOPS_LOOP_MAPPING_H

#include "daemon/loops/bytecode.h"
#include "daemon/loops/native_code.h"

#define MAPPING_DEPTH_MAX 24u /* loops that a place lies in */

/* A loop of the bytecodes, in one chain of inlined calls. */
struct mapped_step {
	uint32_t method; /* of the image's */
	uint32_t loop;   /* of the method's bytecodes */
	uint64_t calls;  /* which chain: a hash */
};

struct loop_path {
	unsigned length;
	struct mapped_step steps[MAPPING_DEPTH_MAX];
};

/* What the code itself says of a loop in another one. */
enum loop_begin {
	LOOP_BEGINS,       /* not known */
	LOOP_BEGINS_ANEW,  /* its counter is set in each turn of the other: it is a loop in that */
	LOOP_BEGINS_AGAIN, /* its counter goes on in each turn of the other */
};

struct loop_hint {
	enum loop_begin begins;
	int counter;   /* location, or -1 */
	uint32_t step; /* of the counter, as a size; 0: not known */
	bool stores;
};

struct loop_mapping {
	const struct native_code *native;
	const struct loop_hint *hints;
	struct bytecode *methods; /* by the image's index; empty where there is none */
	struct loop_path *places; /* by record */
	struct loop_path *loops;  /* by loop of the graph: it is the last step; empty: not known */
	unsigned *same;           /* a loop in it that is the same one, or FLOW_NO_LOOP */
};

/* hints: by loop of the graph. They stay. 0; -ENOMEM. */
int loop_mapping_make(struct loop_mapping *m, const struct native_code *n,
		      const struct loop_hint *hints);
void loop_mapping_release(struct loop_mapping *m);

/* How many steps both have in common. */
unsigned loop_path_common(const struct loop_path *a, const struct loop_path *b);

/* The loop of the bytecodes that a loop of the graph is, or NULL. */
const struct bytecode_loop *loop_mapping_find(const struct loop_mapping *m, unsigned loop,
					      uint32_t *method);

#endif
