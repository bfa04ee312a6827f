/*
 * Which methods an invoke may lead to, as far as a compiler may have inlined them: what it names,
 * where nothing overrides it, or what stands in its place in loaded classes.
 *
 * Methods are found by name and descriptor, whose Symbols are there once each, and, in subclasses,
 * by the table of virtual methods. Classes that other threads load or unload meanwhile are read
 * safely, as far as they are there; what is found counts only if it is called what was asked for.
 */
#ifndef JXPERF_AGENT_METHOD_TARGETS_H
#define JXPERF_AGENT_METHOD_TARGETS_H

#include "attach/agent/method/references.h"

/* More there may be of a call through an interface, or of a virtual one; none of them is told. */
#define TARGETS_MAX 3u

/* Longer ones no compiler inlines (FreqInlineSize). */
#define TARGET_CODE_MAX 325u

/* Which of count addresses of the JVM's structures, as compiled code names them, are of classes
 * that are no interfaces; returns how many it wrote. */
size_t targets_classes(const struct pool_reader *r, const uint64_t *names, size_t count,
		       uint64_t *out);

/* Finds, of a call that names this, at most TARGETS_MAX addresses of Methods that have bytecodes
 * and are not too long to be inlined; returns how many. classes: those that the compiled code
 * names; of many that there are they select those that its compiler knew, and then *selected is
 * set: of other code it may be others. */
unsigned targets_of(const struct pool_reader *r, const struct member_look *member,
		    const struct reference *call, const uint64_t *classes, size_t count,
		    uint64_t out[TARGETS_MAX], bool *selected);

/* Has the JVM code of its own for what is called (Method::_intrinsic_id), which is found as the
 * call was resolved, and called so? *declares: the class that has it. Or is it a method handle's,
 * or a variable handle's, call? *declares: 0. */
bool targets_own_code(const struct pool_reader *r, const struct member_look *member,
		      const struct reference *call, uint64_t *declares);

#endif
