/*
 * The limits both ends of every socket agree on. A peer that exceeds one is cut off with an error
 * that names it.
 */
#ifndef JXPERF_PROTO_LIMITS_H
#define JXPERF_PROTO_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Tests build an agent of another version. */
#ifndef JXPERF_VERSION
#define JXPERF_VERSION "0.3.0"
#endif

/* A daemon speaks with agents of these protocols, and answers each in the agent's own: JVMs keep
 * the agent that they were given until they end. Messages are only ever added to: a field or record
 * that is new means nothing to an older peer, which passes over it, and its absence means what was
 * so before. Then the number stays. It goes up by one where an older peer would misread, the engine
 * still speaks the one before, and the oldest goes up with it. */
#ifndef PROTOCOL_VERSION
#define PROTOCOL_VERSION 4
#endif
#define PROTOCOL_OLDEST 4

/* Does a daemon speak with an agent of that protocol? */
static inline bool protocol_is_spoken(uint32_t protocol)
{
	return protocol >= PROTOCOL_OLDEST && protocol <= PROTOCOL_VERSION;
}

/* Largest payload of one frame, by direction. A batch is cut by the agent well below its limit; a
 * report is the one large message. */
#define FRAME_MAX_AGENT   (1u << 20)
#define FRAME_MAX_CONTROL (1u << 16)
#define FRAME_MAX_REPLY   (64u << 20)

/* The engine accepts so much from one session; beyond it, entries are dropped and counted. */
#define LIMIT_METHODS          (1u << 18)
#define LIMIT_NODES            (1u << 20)
#define LIMIT_INSTRUCTIONS     (1u << 18)
#define LIMIT_LOCATIONS        (1u << 16)
#define LIMIT_THREADS          (1u << 14)
#define LIMIT_PAIRS            (1u << 17)
#define LIMIT_CLASSES          (1u << 16) /* of tracked objects */
#define LIMIT_OBJECTS          (1u << 16) /* tracked at a time */
#define LIMIT_SITES            (1u << 16)
#define LIMIT_SITE_ACCESSES    (1u << 18)
#define LIMIT_CLASS_FIELDS     (1u << 15) /* a class with a field, or what else lies in it */
#define LIMIT_CLASS_ACCESSES   (1u << 17) /* their calling contexts */
#define LIMIT_CPU_CONTEXTS     (1u << 17) /* of ticks */
#define LIMIT_LOOP_TICKS       (1u << 16) /* places in compiled code that ticks came at */
#define LIMIT_LOOPS            (1u << 12)
#define LIMIT_LOOP_CONTEXTS    (1u << 15) /* of them */
#define LIMIT_LOOP_PLACES      (1u << 13) /* where they have results */
#define LIMIT_LOOP_INPUTS      (1u << 13) /* what they go by */
#define LIMIT_CODES            64u        /* compiled methods that are asked for in a window */
#define LIMIT_CODES_OPEN       64u        /* asked for, and not answered yet */
#define LIMIT_CODE_BYTES       (64u << 10)
#define LIMIT_CODE_RECORDS     4096u
#define LIMIT_CODE_FRAMES      (1u << 15)
#define LIMIT_CODE_METHODS     1024u /* with bytecodes of 256 KiB together */
#define LIMIT_CODE_BYTECODES   (256u << 10)
#define LIMIT_CODE_REFERENCES  (1u << 15) /* of their bytecodes */
#define LIMIT_CODE_TARGETS     3u         /* of each */
#define LIMIT_CODE_MEMBERS     (1u << 13) /* with names of so many bytes together */
#define LIMIT_CODE_TEXT        (512u << 10)
#define LIMIT_PLANS            64u
#define LIMIT_PLAN_PLACES      24u
#define LIMIT_PLAN_LOADS       32u /* all copies of two in a loop that was unrolled 16 times */
#define LIMIT_PLAN_SCALARS     4u
#define LIMIT_PLAN_TURN_INPUTS 3u
#define LIMIT_PLAN_ENDS        3u /* with where it begins, a register each */
#define LIMIT_TRACE_VALUES     32u
#define LIMIT_STRATA           (1u << 15) /* a class with a size */
#define LIMIT_STRATUM_SITES    (1u << 17) /* and allocation sites in it */
#define LIMIT_STRING_BYTES     4096u
#define LIMIT_LINES            65536u

/* A window's counts can be so high, and its CPU time: of a day, and of a thousand processors. */
#define LIMIT_COUNTER (UINT64_C(1) << 47)
#define LIMIT_CPU_NS  (UINT64_C(1) << 57)
/* So much of it may lie behind threads' last ticks: some of the time is what ticks stand for. */
#define LIMIT_CPU_AFTER 0.98

/* A single object or access can be so large; more is a lie. */
#define LIMIT_OBJECT_BYTES  (UINT64_C(1) << 40)
#define LIMIT_OBJECT_WEIGHT 1e12
#define LIMIT_ACCESS_WEIGHT (UINT64_C(1) << 47) /* a day of CPU time is less */
#define LIMIT_ACCESS_BYTES  64u                 /* the widest access */

/* The most that one pair can stand for, and with it the largest checked_bytes of event_transition:
 * the widest access times the weight of a sample that kept its register for thousands of others.
 * The square fits 64 bits with room for the sum of a window. */
#define LIMIT_PAIR_BYTES (1u << 20)

/* The same for the CPU time: more than a day's is a lie. */
#define LIMIT_PAIR_CPU_NS (UINT64_C(1) << 47)

/* And what a tick stands for (event_tick.cpu_ns). */
#define LIMIT_TICK_CPU_NS (UINT64_C(1) << 47)

#define WINDOW_MAX_S     86400u
#define MAX_FRAMES_LIMIT 1024u

#endif
