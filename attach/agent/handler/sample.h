/*
 * A sampled access, whichever sampler found it: what it touches, and what is to be known of it.
 *
 * Handler only.
 */
#ifndef JXPERF_AGENT_HANDLER_SAMPLE_H
#define JXPERF_AGENT_HANDLER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/extent.h"
#include "common/code/insn.h"
#include "attach/agent/code/search.h"
#include "attach/agent/record/record.h"
#include "attach/agent/stack/stack.h"
#include "common/random.h"

struct thread;

/* A sampled access, whichever sampler found it. */
struct sample {
	struct insn insn;
	struct extent extent;
	bool executed; /* the access has run already (hardware samplers); otherwise it is next */
};

/* The type of access that samples of a kind are taken of. */
enum access_type sample_access(uint8_t kind);

/* Whose memory a sampled access touches (Region of jxperf.proto). */
int sample_region(const struct thread *t, const struct sample *sample, const gregset_t regs);

/* The calling context of the thread as if it stood at ip; only how it was told is counted. */
enum stack_result sample_stack(struct thread *t, const ucontext_t *uc, uint64_t ip,
			       struct sample_maker *maker);

/* The same of an access. False when there is none; counted. */
bool sample_capture(struct thread *t, const ucontext_t *uc, uint64_t ip,
		    struct sample_maker *maker);

void sample_code(struct code_bytes *to, const struct insn *in);

/* The aligned power-of-two block, of accessed bytes only, that holds the accessed byte at offset:
 * what a debug register can watch of an access of any width. Returns its length, at most 8. */
unsigned sample_part(const struct extent *extent, uint32_t offset, uint64_t *start);

/* The bytes of an access of width bytes that a pair stands for whose second access touched shared
 * of the length bytes that were watched: shared * width / length, so that the parts of wide
 * accesses are not worth less than whole narrow ones (docs/statistics.md, "Estimation"). What does
 * not divide is rounded up or down at random, right on average. */
unsigned sample_weight(unsigned shared, unsigned length, unsigned width, struct random *random);

#endif
