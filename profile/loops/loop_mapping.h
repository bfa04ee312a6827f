/*
 * Which loop of the bytecodes each loop of the machine code is.
 *
 * A place that the JVM's debug information tells of lies in loops of its method and of those that
 * it was inlined into, from the outermost on: its path. A loop of the machine code is the innermost
 * that all its places have in common. Where there are no places in it, the uncommon traps that it
 * is left by tell, then the loops in and around it, then what other loops there are to choose from.
 * What is still not known stays unknown.
 *
 * Four parts: the mapping itself; paths; inference, for loops that no debug information tells of,
 * by what lies around them, beside them and in them, and for what works for a loop; and copies.
 */
#ifndef JXPERF_PROFILE_LOOPS_LOOP_MAPPING_H
#define JXPERF_PROFILE_LOOPS_LOOP_MAPPING_H

#include "profile/loops/bytecodes/bytecode.h"
#include "profile/loops/native_code.h"

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
	bool down;     /* it is subtracted */
	bool stores;
};

struct loop_mapping {
	const struct native_code *native;
	const struct loop_hint *hints;
	struct bytecode *methods; /* by the image's index; empty where there is none */
	struct loop_path *places; /* by record */
	struct loop_path *loops;  /* by loop of the graph: it is the last step; empty: not known */
	/* By loop of the graph: the innermost one that turns back in it, when that is another one:
	 * they have one header. */
	struct loop_path *turns;
	/* By loop of the graph: the one that polls straight behind it, or empty. */
	struct loop_path *behind;
	unsigned *same; /* a loop in it that is the same one, or FLOW_NO_LOOP */
	/* By block: the loop of the graph that it works for. A turn that was peeled off, and what
	 * makes ready for one, lie around the loop they are of. */
	uint16_t *works_for;
	size_t looks; /* at records, so far */
};

/* hints: by loop of the graph. They stay. 0; -ENOMEM. */
int loop_mapping_make(struct loop_mapping *m, const struct native_code *n,
		      const struct loop_hint *hints);
void loop_mapping_release(struct loop_mapping *m);

/* The loop of the bytecodes that a loop of the graph is, or NULL. */
const struct bytecode_loop *loop_mapping_find(const struct loop_mapping *m, unsigned loop,
					      uint32_t *method);

/* ---------------------------------------------------------------- between the parts */

/* A loop that only polls around another one, of the same turns (C2's strip mining). */
#define LOOP_OUTER_INSNS_MAX 40u
/* Loops that compilers write out for one of their nodes: what fills, compares or searches arrays.
 */
#define LOOP_FILLING_INSNS_MAX 7u

/* One loop of several that it could be: their number, and the last of them. */
struct loop_choice {
	const struct loop_hint *hint; /* none that it speaks against; NULL: all */
	struct loop_path path;
	unsigned count;
};

/* What loops in a loop of the graph lie straight in; NULL: it is not known. Empty for
 * FLOW_NO_LOOP. */
const struct loop_path *loop_mapping_around(struct loop_mapping *m, unsigned loop);

/* Adds the loops straight inside the one at the path's end; of an empty path, all. */
void loop_choose_inside(struct loop_mapping *m, const struct loop_path *around,
			struct loop_choice *c);

/* May all records be looked at once more? */
bool loop_mapping_may_look(struct loop_mapping *m);

/* How many steps both have in common. */
unsigned loop_path_common(const struct loop_path *a, const struct loop_path *b);

/* What places have in common. */
struct loop_common {
	struct loop_path path;
	bool any;
};

void loop_common_meet(struct loop_common *c, const struct loop_path *path);

bool loop_path_same(const struct loop_path *a, const struct loop_path *b);

/* Tells the loops that nothing else tells of. */
void loop_inference_run(struct loop_mapping *m);

/* Fills works_for in, of loops that are told. Compilers peel a first turn off, make ready for the
 * turns to come, and test beforehand what no turn needs to test then. All that lies in the loop
 * around, where the machine code has loops, and is the inner loop's by the bytecodes; of short
 * loops it is much of the time. told: by block, what its records and the traps straight behind it
 * have in common. */
void loop_inference_work(struct loop_mapping *m, const struct loop_common *told);

/*
 * Loops that come one after the other, in one or in none.
 *
 * Compilers make copies of a loop: before, main, after. Only the first sets the counter, the others
 * go on with it; so what tells of one copy tells of all. Where there are as many rows of copies as
 * there are loops of the bytecodes, these are what they are in the order in which they run, if what
 * they do does not speak against it.
 */
/* Tells the loops straight inside one of the graph that is told already, or in none (FLOW_NO_LOOP),
 * which are not told themselves. */
void loop_copies_find(struct loop_mapping *m, unsigned around);

/* Does a loop beside this one set the counter that both go on with? Then it goes on with that, and
 * not with the loop's around them. */
bool loop_copies_anew(const struct loop_mapping *m, unsigned loop);

#endif
