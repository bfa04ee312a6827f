/*
 * What a compiled method's debug information says of a place in it: which calls are inlined there
 * (PcDesc and ScopeDesc, src/hotspot/share/code/).
 *
 * Only nmethods that are alive may be asked about. What could be gone all the same is read safely,
 * and an answer counts only if it ends with the method that the code was compiled from.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_STACK_SCOPES_H
#define JXPERF_AGENT_STACK_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/page_reader.h"

/* Deeper inlining is not followed. */
#define SCOPES_MAX 64u

/* A call as debug information has it. */
struct scope_call {
	uint64_t method; /* address of the Method */
	int32_t bci;     /* call.h */
};

/* Offsets, of this JVM's structures. */
struct scope_layout {
	bool known;
	bool apart;        /* debug information is not in the nmethod itself (from JDK 25) */
	uint8_t byte_base; /* what is taken from each byte of a compressed number */
	/* Reasons, by bit, of uncommon traps whose record is a loop's head, wherever the branch to
	 * them came from. */
	uint32_t loop_traps;
	/* In an nmethod. Ints: where in it (apart: in its immutable data) is what. */
	uint32_t pcs;            /* int */
	uint32_t pcs_end;        /* int */
	uint32_t data;           /* address; apart: int */
	uint32_t metadata;       /* int; apart: int, offset in the mutable data */
	uint32_t immutable_data; /* address, if apart */
	uint32_t mutable_data;   /* address, if apart */
	uint32_t mutable_end;    /* int, if apart: bytes of it */
	bool checks_known;
	uint32_t checks;     /* int; apart: u2, where its table of null checks begins, */
	uint32_t checks_end; /* likewise: and ends */
};

/* The calls at pc, innermost first, of the nmethod at blob whose instructions begin at begin.
 * innermost: pc stands for the next place behind it that has any, and where none has, for the
 * method's own code at no bci that is known; else it has to have some itself.
 * method: the Method that the last call is of. Returns how many, 0 where it is not certain. */
unsigned scopes_at(const struct scope_layout *layout, uint64_t blob, uint64_t begin, uint64_t pc,
		   bool innermost, uint64_t method, struct scope_call calls[SCOPES_MAX]);

/* Visits all places of the nmethod that anything is known of, by ascending offset from its first
 * instruction, with the calls there, innermost first. Only those below size whose last call is of
 * method are visited. Reads everything safely: the nmethod may go meanwhile, and what was visited
 * is to be thrown away then. visit gives false to end it. Takes some 40 KiB of stack. */
typedef bool scopes_visit(void *arg, uint32_t offset, const struct scope_call *calls,
			  unsigned count);
void scopes_each(const struct scope_layout *layout, uint64_t blob, uint32_t size, uint64_t method,
		 scopes_visit *visit, void *arg);

/* For an nmethod that may be changing, reading nothing of it at or behind end and all else with the
 * reader, which is fresh: writes the offsets of the places that anything is known of, ascending,
 * none above size and as many as there is room for; returns how many. Where the layout does not
 * tell, or what the nmethod says of itself cannot be, there is nothing. */
uint32_t scopes_list(const struct scope_layout *layout, struct page_reader *reader, uint64_t blob,
		     uint64_t end, uint32_t size, uint32_t *offsets, uint32_t max);

/* An instruction that may fault where a reference is null, and where execution goes on then:
 * offsets from the nmethod's first instruction. */
struct null_check {
	uint32_t offset;
	uint32_t continuation;
};

/* Copies the nmethod's table of them (ImplicitExceptionTable), as it lies there; returns how many,
 * at most max. Reads safely, as scopes_each does. */
uint32_t scopes_null_checks(const struct scope_layout *layout, uint64_t blob,
			    struct null_check *out, uint32_t max);

/* Writes likewise the addresses of the JVM's structures that its code and its debug information
 * name: Methods, Klasses and what belongs to them. */
uint32_t scopes_metadata(const struct scope_layout *layout, uint64_t blob, uint64_t *out,
			 uint32_t max);

#endif
