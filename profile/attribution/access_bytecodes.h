/*
 * Which bytecodes can have made an access, of which it is known what it went to.
 *
 * A field is told by the class that declares it and its name, an element by its type, the words of
 * a header by what reads and makes them. Pure functions, any thread; the bytecodes are hostile.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_ACCESS_BYTECODES_H
#define JXPERF_PROFILE_ATTRIBUTION_ACCESS_BYTECODES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/loops/code_image.h"
#include "proto/jxperf.pb-c.h"

/* These texts of a Location say what was accessed; they are borrowed. */
struct attribution_access {
	Jxp__Location__Kind kind;
	const char *class_name; /* of the object */
	const char *field;
	const char *declared_in;
	const char *type;
	bool loads, stores;
};

/* How well a bytecode fits an access. */
enum access_fit {
	ACCESS_FIT_NONE,
	/* Fits where nothing else does: calls that the compiler has code of its own for, memory
	 * that is cleared for a new array. */
	ACCESS_FIT_PERHAPS,
	/* A call of Unsafe, in whose place the compiler puts the access, whatever its bytecodes. */
	ACCESS_FIT_UNSAFE,
	/* The load may be the collector's, of what a store of a reference overwrites. */
	ACCESS_FIT_BARRIER,
	ACCESS_FIT,
};

/* Are there bytecodes that such an access can be told by? */
bool access_bytecodes_tell(const struct attribution_access *access);

/* How the bytecode of a method at bci fits, where an instruction begins. */
enum access_fit access_bytecode_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				     const struct attribution_access *access);

/* The same of an access that a stub makes, which the compiled code calls: copies and fills of
 * arrays, in the place of calls and of loops, and what collectors do to references. */
enum access_fit access_stub_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				 const struct attribution_access *access);

#endif
