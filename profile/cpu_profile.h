/*
 * Where the CPU time of a window goes (KIND_CPU): the clock's ticks by calling context, and by what
 * the thread did, in compiled, interpreted or native code, or in the kernel that it called.
 *
 * Every tick is in the sum of its state. Those of threads that run no Java code, and those whose
 * stack the JVM could not tell, are in nothing else. Where root frames are missing the context
 * would be another one's, so such ticks are in a sum of their own and in no context; so are those
 * whose context was lost.
 *
 * What a tick stands for (CpuSample.cpu_ns) follows the sampling period, which changes in a window:
 * time is what shares are of, the number of ticks is how much is known of them. A merge weighs time
 * (profile/combine/merge.h), so it is doubles.
 *
 * The collector's and the compilers' threads have no Java frames and no ticks. Their CPU time is
 * what the watcher saw of it (daemon/watcher/threads.h).
 *
 * Bounded by LIMIT_CPU_CONTEXTS; ticks of contexts beyond it are in the sums, and counted in
 * refused.
 */
#ifndef JXPERF_PROFILE_CPU_PROFILE_H
#define JXPERF_PROFILE_CPU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "proto/jxperf.pb-c.h"

/* Values of CpuSample.State. */
#define CPU_STATES (JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL + 1)

/* Those with a Java context. */
enum cpu_code {
	CPU_COMPILED,
	CPU_INTERPRETED,
	CPU_NATIVE,
	CPU_KERNEL,
	CPU_CODES,
};

struct cpu_sum {
	uint64_t samples;
	double ns;
};

struct cpu_context {
	uint32_t node;                  /* never 0 */
	struct cpu_sum code[CPU_CODES]; /* by enum cpu_code */
};

/* CPU time of the JVM's own threads. */
struct cpu_beside {
	uint64_t span_ns; /* they were watched for so long; 0: they were not */
	double gc_ns;     /* CPU time in it, of the collector's */
	double jit_ns;    /* and of the compilers' threads */
};

/* All zero is an empty profile. */
struct cpu_profile {
	TABLE_OF(struct cpu_context, contexts, context_count, context_table);
	struct cpu_sum states[CPU_STATES]; /* by State: all ticks */
	struct cpu_sum truncated;          /* of these, ones without their root frames, */
	struct cpu_sum lost;               /* and ones with a context that is not known */
	uint64_t refused;                  /* ticks of contexts that there was no room for */
	struct cpu_beside beside;
	/* The watcher's sums when the window began. */
	bool watched;
	uint64_t watched_from_ns, gc_from_ns, jit_from_ns;
};

/* The layouts of contexts, and of sums, which are one row. */
extern const struct table_layout cpu_context_layout, cpu_sums_layout;

/* Time without ticks says that it is no sum of them. */
bool cpu_sum_is_valid(const struct cpu_sum *sum);

/* Has such a tick a Java context? Of which code, in *code. */
bool cpu_code_of(Jxp__CpuSample__State state, enum cpu_code *code);

/* Did it come in the kernel? */
bool cpu_state_in_kernel(Jxp__CpuSample__State state);

void cpu_profile_release(struct cpu_profile *c);

/* One tick, of cpu_ns of CPU time. node: 0 where the state has a context and it is not known. 0 or
 * -ENOMEM. */
int cpu_profile_add(struct cpu_profile *c, Jxp__CpuSample__State state, uint32_t node,
		    bool truncated, uint64_t cpu_ns);

/* Adds what was counted elsewhere of a context of this profile's tree, not to the sums; its time
 * times weight. 0 or -ENOMEM. */
int cpu_profile_add_context(struct cpu_profile *c, const struct cpu_context *from, double weight);

/* So many ticks that were added with one node are another's, in the same code. They stay where they
 * are, with 0, if from has no such ticks. 0; -ENOSPC where there is no room for to, -ENOMEM. */
int cpu_profile_move(struct cpu_profile *c, uint32_t from, uint32_t to, enum cpu_code code,
		     const struct cpu_sum *sum);

/* Forgets contexts whose ticks were all moved away. 0 or -ENOMEM. */
int cpu_profile_settle(struct cpu_profile *c);

void cpu_sum_add(struct cpu_sum *to, const struct cpu_sum *from, double weight);

/* Takes what the watcher says, of records in order. running: the window is; what was before is not
 * of it. A sum that falls is passed over. */
void cpu_profile_watch(struct cpu_profile *c, const Jxp__WatchRecord *record, bool running);

/* Over all states, and of code with a Java context. */
struct cpu_sum cpu_profile_all(const struct cpu_profile *c);
struct cpu_sum cpu_profile_code(const struct cpu_profile *c);

/* In the kernel, with a Java context or without. */
struct cpu_sum cpu_profile_kernel(const struct cpu_profile *c);

/* Ticks in code that are in no context and were not cut at their root; ns. */
double cpu_profile_outside_ns(const struct cpu_profile *c);

/* A context's, in any code. */
struct cpu_sum cpu_context_sum(const struct cpu_context *context);

/* As many ticks as so much CPU time would have made; 0 where there were none. */
double cpu_profile_ticks_of(const struct cpu_profile *c, double ns);

#endif
