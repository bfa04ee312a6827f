/*
 * Says what machine code alone tells of an access to an object: its size, and where in the object
 * it is. Ticks come at instructions of which nothing else is known.
 *
 * Pure functions, any thread; the bytecodes are hostile.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_ACCESS_SHAPE_H
#define JXPERF_PROFILE_ATTRIBUTION_ACCESS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/attribution/access_bytecodes.h"
#include "profile/loops/native_code.h"

struct access_shape {
	uint16_t size;        /* bytes; 0: it is no access to an object */
	int16_t displacement; /* from what its base register holds */
	bool stores;
	bool indexed; /* has an index register, too */
};

/* Words of the frame, of the JVM's thread and of the code are no objects', nor are polls. */
struct access_shape access_shape_of(const struct native_code *n, const struct native_insn *insn);

/* Can the bytecode of a method at bci, where an instruction begins, have become such an access? */
enum access_fit access_shape_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				  const struct access_shape *shape);

/* Accesses that nothing but the object tells apart: in one block, between the same calls, to the
 * same word of different objects. They are of different bytecodes, and compilers keep the order of
 * what is told apart by nothing else more often than not. */
#define TWINS_STEPS_MAX 64u /* instructions that are looked at, each way */

struct twins {
	uint8_t before; /* so many others come before it */
	uint8_t count;  /* with itself; 1: it has none */
};

/* The twins of the instruction at index at. */
struct twins twins_find(const struct native_code *n, size_t at);

#endif
