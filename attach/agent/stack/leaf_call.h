/*
 * From C code that Java code called without leaving Java to that code: copies, sorting, functions
 * of mathematics, barriers of collectors. The JVM notes nothing of such a call.
 *
 * The address that is returned to there lies right behind a call of code that is not the JVM's own,
 * which no other return address of Java code does. It is found on top of the stack or behind rbp,
 * where the function is at its begin; else along the frame pointers, which libjvm and some others
 * keep; else by being the one address of that form near the top of the stack, before any other that
 * Java code may return to. What was left on the stack by an earlier call looks alike, but then the
 * true address is among them, and nothing is told.
 *
 * Async-signal-safe: reads the stack that is given, code heaps, and the code at pc.
 */
#ifndef JXPERF_AGENT_STACK_LEAF_CALL_H
#define JXPERF_AGENT_STACK_LEAF_CALL_H

#include "attach/agent/stack/stub_frame.h"

/* at: in no code heap; then where Java code, or a stub, called it. Of the stack [sp, high) can be
 * read. False when there is no telling. */
bool leaf_call_leave(const struct code_layout *code, uint64_t high, struct stub_frame *at);

/* The same, by the one address behind a call of the stub's blob, from a stub whose frame nobody
 * knows. */
bool leaf_call_leave_stub(const struct code_layout *code, uint64_t stub, uint64_t high,
			  struct stub_frame *at);

/* Does a call that may be of Java code stand right before pc, in a code heap? */
bool leaf_call_is_behind_java(const struct code_layout *code, uint64_t pc);

#endif
