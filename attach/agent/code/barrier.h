/*
 * Barriers of collectors in compiled code, and what they tell.
 *
 * Accesses that are in the application's code, to the application's memory, and not the
 * application's: the store barrier of generational ZGC.
 *
 * Before it stores a reference, compiled code tests the field's old value against the colours that
 * need no work (zBarrierSetAssembler_x86.cpp, store_barrier_fast: testl or, for atomic updates,
 * cmpw with an immediate, and a jump to the slow path). To a watchpoint that is a load of every
 * field before each store to it: loads of links would all be silent, and no store of one dead.
 *
 * It is told from a program's own test of a field by what follows: a store of eight bytes to the
 * very operand whose first four or two bytes were tested, with nothing but straight code between. A
 * program that tests part of a field stores no more than that part.
 */
#ifndef JXPERF_AGENT_CODE_BARRIER_H
#define JXPERF_AGENT_CODE_BARRIER_H

#include <stdbool.h>

#include "common/code/insn.h"

/* Has this JVM's compiled code such barriers? Before any handler runs; until then none is looked
 * for. */
void barrier_init(bool collector_has_them);

/* Is this instruction, in compiled code, the test of a store barrier? Async-signal-safe. */
bool barrier_tests_store(const struct insn *test);

/* Is this instruction, in compiled code, the store of a reference by a pointer to the field, as C2
 * makes one where G1's barriers stand around it (JDK 24)? New objects have none, so such a store is
 * to one that is made already. Async-signal-safe. */
bool barrier_stores_to_field(const struct insn *store);

#endif
