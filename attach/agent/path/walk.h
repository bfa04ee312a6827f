/*
 * From a tick to the access that it stands for: the dynamically next one of a type that belongs to
 * the innermost loop that the tick lies in (docs/statistics.md, "One population").
 *
 * The walk follows the way that execution will take, as far as it is known (machine.h). Where it is
 * not, the caller puts an execution breakpoint where the walk says and goes on from there with real
 * registers. What counts as the loop's own:
 *
 *   loop       instructions whose innermost loop it is; loops in it are passed through
 *   no loop    instructions in no loop, up to where one is entered
 *   calls      what the callee does up to its first loop, unless it has loops that make accesses of
 * the type: what is outside of these may be turns of them that the compiler has peeled off, so such
 * a call is passed over returns    out of flat code: what is in the innermost loop around the call,
 * or flat code
 *
 * Where execution leaves the loop without another access, the loop's first access stands for it,
 * whenever it runs next. A loop's accesses to the frame, where the compiler keeps what it has no
 * register for, count only where it makes no others. Async-signal-safe; no state.
 */
#ifndef JXPERF_AGENT_PATH_WALK_H
#define JXPERF_AGENT_PATH_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/codemap.h"
#include "common/code/insn.h"
#include "attach/agent/code/search.h"
#include "attach/agent/path/machine.h"

/* Calls that are followed, one in the other. */
#define WALK_CALLS_MAX 3u

/* What a search looks for; it goes from stop to stop. */
struct walk_scope {
	uint8_t type;  /* enum access_type */
	uint8_t skip;  /* accesses of the type to be passed over first */
	uint8_t depth; /* calls entered */
	bool spills;   /* accesses to the frame count, too */
	bool framed;   /* wait is one of these */
	/* By depth: where the loop that counts is entered, 0 for flat code. */
	uint64_t header[WALK_CALLS_MAX + 1];
	uint64_t back[WALK_CALLS_MAX + 1]; /* by depth: return address of the call */
	uint64_t wait;  /* the loop's first access, 0 when it has none of its own */
	uint64_t spill; /* an access to the frame that the loop came by meanwhile, or 0 */
};

#define WALK_TOUCHED_MAX 32u

/* A walk, and where it ended: behind the access, when it found one. Belongs to walk_on and
 * foretell_access (foretell_access.h). */
struct walk {
	struct walk_scope *scope;
	struct machine machine;
	struct code_blob blob; /* around machine.ip */
	const struct loop_nest *nest;
	uint64_t started;
	bool moved;
	bool backward; /* so the same code may have run twice */
	bool blurred;  /* an access of unknown address, or too many */
	unsigned touched_count;
	struct { /* bytes that were accessed on the way */
		uint64_t address;
		uint32_t size;
	} touched[WALK_TOUCHED_MAX];
};

/* The access, before it runs. */
struct walk_access {
	struct insn insn;
	bool here;  /* it is next, and registers are exact for it */
	bool plain; /* nothing on the way can have run the instruction behind it, or it */
	/* The address is known, and nothing on the way touches the same bytes: a watchpoint that is
	 * set now is first hit by this access. */
	bool foretold;
	bool passed; /* the walk is behind it */
	bool framed; /* in the method, and with the stack pointer, that the walk began with */
	uint64_t address;
};

enum walk_outcome {
	WALK_ACCESS,  /* found */
	WALK_STOP,    /* go on from *stop_ip, once execution is there */
	WALK_NONE,    /* there is none: the loop makes none of the type */
	WALK_UNKNOWN, /* the method's loops cannot be told */
	WALK_FAILED,
};

/* May a tick at ip, in compiled code, stand for loads, or stores? Bits 1 << enum access_type; 0
 * when neither, and *known is false when that cannot be told. */
unsigned walk_types(uint64_t ip, bool *known);

/* Begins a search at ip. */
void walk_begin(struct walk_scope *scope, enum access_type type, unsigned skip, uint64_t ip);

/* Goes on, with registers that are exact at ip. */
enum walk_outcome walk_on(struct walk *walk, struct walk_scope *scope,
			  const struct machine_view *view, uint64_t ip, const gregset_t regs,
			  struct walk_access *access, uint64_t *stop_ip);

/* The search has come round without finding any: an access to the frame that it came by stands for
 * the tick, or the loop's first access. False when there is none, and the second time. */
bool walk_come_round(struct walk_scope *scope, uint64_t *stop_ip);

#endif
