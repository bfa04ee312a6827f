#include "proto/counters.h"

#include <stddef.h>

#define C(counter) JXP__COUNTER__COUNTER_##counter

const struct counter counter_table[] = {
    {C(TICKS_OUTSIDE), .name = "ticks_outside",
     .sentence =
	 "ticks came in code that is not compiled Java, and are no samples of pairs or objects"},
    {C(RESERVOIR_KEPT), .name = "reservoir_kept",
     .sentence = "samples were given no debug register (reservoir sampling)"},
    {C(OVERLAPPED), .name = "overlapped",
     .sentence =
	 "samples were of a location that a register watched already: one of them stood for all"},
    {C(IGNORED_STORES), .name = "ignored_stores",
     .sentence = "traps did not end the wait: a store where a load is waited for, a failed "
		 "compare-and-swap"},
    {C(REPLACED), .name = "replaced",
     .sentence =
	 "armed watchpoints gave their register to a newer sample, or up (reservoir sampling)"},
    {C(RELEASED), .name = "released",
     .sentence = "of these gave it up after a long wait, at random: registers slow programs down"},
    {C(EXPIRED_GC), .name = "expired_gc",
     .sentence = "watchpoints were dropped by a garbage collection"},
    {C(EXPIRED_WINDOW), .name = "expired_window",
     .sentence = "watchpoints saw no second access before their thread or the window ended"},
    {C(ABANDONED), .name = "abandoned",
     .sentence =
	 "watchpoints were given up: the second access could not be told, or too many others came "
	 "first"},
    {C(SEARCHES_FAILED), .name = "searches_failed",
     .sentence = "samples found no access of the wanted type within the search's bounds"},
    {C(SEARCHES_SUPERSEDED), .name = "searches_superseded",
     .sentence = "searches were overtaken by the next sample of their thread"},
    {C(NO_ACCESS), .name = "no_access",
     .sentence = "samples were in code that makes no access of the wanted type"},
    {C(LOOPS_UNKNOWN), .name = "loops_unknown",
     .sentence = "samples were in methods whose loops could not be told: too large, or too many"},
    {C(PREDICTED), .name = "predicted",
     .sentence = "sampled accesses were foreseen by following the code with the thread's values"},
    {C(MISPREDICTED), .name = "mispredicted",
     .sentence = "sampled accesses were foreseen and did not come so"},
    {C(FORETOLD), .name = "foretold",
     .sentence = "pairs were complete at once: both accesses were foreseen"},
    {C(FORETOLD_LOST), .name = "foretold_lost",
     .sentence =
	 "pairs were foreseen and lost, since one of their accesses had no calling context"},
    {C(FORETOLD_CHECKED), .name = "foretold_checked",
     .sentence = "such pairs were left to a watchpoint, which shows whether they come as foreseen"},
    {C(FORETOLD_WRONG), .name = "foretold_wrong",
     .sentence = "pairs were foreseen and came otherwise, of those left to a watchpoint"},
    {C(UNWALKABLE), .name = "unwalkable",
     .sentence = "calling contexts could not be walked by the JVM"},
    {C(TRUNCATED), .name = "truncated",
     .sentence = "calling contexts were deeper than the limit and lost their root frames"},
    {C(CONTEXTS_FULL), .name = "contexts_full",
     .sentence =
	 "calling contexts were lost because the agent's table was full: use a shorter window",
     .stage = {5, "agent_contexts_full"}},
    {C(CONTEXTS_RECOGNISED), .name = "contexts_recognised",
     .sentence = "calling contexts were told by frames known from others"},
    {C(CONTEXTS_WALKED), .name = "contexts_walked",
     .sentence = "calling contexts were walked by the JVM"},
    {C(CONTEXTS_DIFFER), .name = "contexts_differ",
     .sentence = "calling contexts were recognised as others than the JVM says; its word counted, "
		 "and it was asked for all from then on"},
    {C(CPU_SAMPLES), .name = "cpu_samples",
     .sentence = "ticks were taken as samples of where the CPU time goes"},
    {C(CPU_UNWALKABLE), .name = "cpu_unwalkable",
     .sentence = "of those ticks had a stack that the JVM could not tell"},
    {C(CPU_TRUNCATED), .name = "cpu_truncated",
     .sentence = "of those ticks had a stack that was cut at its root"},
    {C(NAMES_LOST), .name = "names_lost",
     .sentence =
	 "methods or instructions have no name: a class was unloaded first, or there were too many",
     .stage = {10, "agent_names_lost"}},
    {C(CODE_DROPPED), .name = "code_dropped",
     .sentence = "compiled methods, or their debug information, did not fit the agent's code map",
     .stage = {9, "agent_code_dropped"}},
    {C(RING_FULL), .name = "ring_full",
     .sentence = "events were lost because a thread's ring was full: use a longer period",
     .lost = true, .stage = {1, "agent_ring_full"}},
    {C(UNDECODED), .name = "undecoded",
     .sentence = "traps were lost because their instruction or value could not be read",
     .stage = {6, "agent_undecoded"}},
    {C(NOT_STORED), .name = "not_stored",
     .sentence = "samples were compare-and-swaps that failed, and so stored nothing"},
    {C(UNSUPPORTED), .name = "unsupported",
     .sentence = "samples were accesses that cannot be watched (gather, scatter, compress)"},
    {C(STACK_LOW), .name = "stack_low",
     .sentence = "samples were skipped in threads that were low on stack",
     .stage = {7, "agent_stack_low"}},
    {C(ASYNC), .name = "async",
     .sentence = "signals came late because the target blocked SIGTRAP, and were dropped",
     .stage = {8, "agent_async"}},
    {C(FOREIGN_SIGTRAPS), .name = "foreign_sigtraps",
     .sentence = "SIGTRAPs were the application's own and were handed on to its handler"},
    {C(STALE_TRAPS), .name = "stale_traps",
     .sentence =
	 "times the processor reported a breakpoint that was switched off beside another one"},
    {C(EVENT_ERRORS), .name = "event_errors",
     .sentence = "perf event controls failed in the target", .stage = {11, "agent_event_errors"}},
    {C(RECORDS_LOST), .name = "records_lost",
     .sentence = "hardware samples were lost: the kernel had no room", .lost = true,
     .stage = {2, "agent_records_lost"}},
    {C(RECORDS_MALFORMED), .name = "records_malformed",
     .sentence = "times a ring of hardware samples was unreadable",
     .stage = {3, "agent_records_malformed"}},
    {C(RECORDS_MISSING), .name = "records_missing",
     .sentence = "signals of hardware events came without a sample",
     .stage = {4, "agent_records_missing"}},
    {C(RECORDS_OVERTAKEN), .name = "records_overtaken",
     .sentence = "hardware samples were overtaken by a newer one of their thread"},
    {C(RECORDS_UNUSABLE), .name = "records_unusable",
     .sentence = "hardware samples were no load or store, or lacked address or exact instruction"},
    {C(RECORDS_UNWANTED), .name = "records_unwanted",
     .sentence = "hardware samples were accesses of a type that was not asked for"},
    {C(RECORDS_SKIDDED), .name = "records_skidded",
     .sentence = "hardware samples were dropped because their thread had left the method"},
    {C(THROTTLED), .name = "throttled",
     .sentence = "times the kernel stopped a hardware event for a moment: use a smaller budget"},
    {C(ACCESSES), .name = "accesses", .sentence = "memory accesses were sampled for objects"},
    {C(OBJECTS_SAMPLED), .name = "objects_sampled", .sentence = "allocations were sampled"},
    {C(OBJECTS_SMALL), .name = "objects_small",
     .sentence = "allocations were sampled and below the smallest size asked for"},
    {C(OBJECTS_MOVED), .name = "objects_moved",
     .sentence = "addresses of tracked objects changed in collections"},
    {C(OBJECTS_DIED), .name = "objects_died", .sentence = "tracked objects died"},
    {C(OBJECTS_UNTRACKED), .name = "objects_untracked",
     .sentence = "objects were not tracked because the agent tracks no more at a time",
     .stage = {14, "agent_objects_untracked"}},
    {C(OBJECTS_THINNED), .name = "objects_thinned",
     .sentence =
	 "objects were left out at random as room for them ran short: others stand for them"},
    {C(OBJECTS_OVER_BYTES), .name = "objects_over_bytes",
     .sentence = "objects were not tracked because those that are might keep too much of the heap",
     .stage = {15, "agent_objects_over_bytes"}},
    {C(OBJECTS_QUEUE_FULL), .name = "objects_queue_full",
     .sentence = "allocations were lost because the agent's queue was full", .lost = true,
     .stage = {16, "agent_objects_queue_full"}},
    {C(PASSES_OVERTAKEN), .name = "passes_overtaken",
     .sentence = "times a collection came before the objects of the last one were all found"},
    {C(GATE_PASSED), .name = "gate_passed", .sentence = "samples passed the gate"},
    {C(GATE_WINDOW_OVER), .name = "gate_window_over",
     .sentence = "samples were dropped because the window was over",
     .stage = {18, "gate_window_over"}},
    {C(GATE_BUDGET_SPENT), .name = "gate_budget_spent",
     .sentence =
	 "samples were dropped because they were more than four times what the period allows",
     .stage = {19, "gate_budget_spent"}},
    {C(GATE_CONTENDED), .name = "gate_contended",
     .sentence = "samples were dropped because others came on many CPUs at the same time",
     .stage = {20, "gate_contended"}},
    {C(GATE_UNATTACHED), .name = "gate_unattached",
     .sentence = "sampling events did not take the BPF gate: the agent took its place"},
    {C(THREADS_IDLE), .name = "threads_idle",
     .sentence = "threads used too little CPU time to be profiled"},
    {C(THREADS_FAILED), .name = "threads_failed",
     .sentence = "threads were not profiled because their events could not be opened",
     .stage = {12, "agent_threads_failed"}},
    {C(THREADS_OVER_LIMIT), .name = "threads_over_limit",
     .sentence = "threads were not profiled because the agent's thread table was full",
     .stage = {13, "agent_threads_over_limit"}},
    {C(THREADS_NO_DESCRIPTORS), .name = "threads_no_descriptors",
     .sentence =
	 "threads were not profiled, or with fewer debug registers: the target has few descriptors "
	 "left below its limit (RLIMIT_NOFILE), or a security module refused them",
     .stage = {17, "agent_threads_no_descriptors"}},
    /* Said in words of their own: how many samples, pairs and threads there were, and at what cost.
     */
    {C(TICKS), .name = "ticks"},
    {C(TICK_NS), .name = "tick_ns"},
    {C(PLACES_FOUND), .name = "places_found",
     .sentence = "accesses to the heap had their object told by a register or the stack"},
    {C(SAMPLES), .name = "samples"},
    {C(HOPS), .name = "hops"},
    {C(ARMED), .name = "armed"},
    {C(TRAPS), .name = "traps"},
    {C(HANDLER_NS), .name = "handler_ns"},
    {C(SIGNALS), .name = "signals"},
    {C(SIGNALS_TICKS), .name = "signals_ticks"},
    {C(SIGNALS_LOOKS), .name = "signals_looks"},
    {C(SIGNALS_SEARCHES), .name = "signals_searches"},
    {C(SIGNALS_SAMPLED), .name = "signals_sampled"},
    {C(SIGNALS_SECOND), .name = "signals_second"},
    {C(SIGNALS_LATE), .name = "signals_late"},
    {C(CONTEXTS_NS), .name = "contexts_ns"},
    {C(CONTROLS_NS), .name = "controls_ns"},
    {C(CODE_NS), .name = "code_ns"},
    {C(PLACING_NS), .name = "placing_ns"},
    {C(KERNEL_NS), .name = "kernel_ns"},
    {C(ARMED_NS), .name = "armed_ns"},
    {C(REGISTERS_NS), .name = "registers_ns"},
    {C(SESSION_NS), .name = "session_ns"},
    {C(EVENTS_NS), .name = "events_ns"},
    {C(THREADS), .name = "threads"},
    {C(PASSES), .name = "passes"},
    {C(PASS_NS), .name = "pass_ns"},
    {C(PLACES_NO_OBJECT), .name = "places_no_object",
     .sentence = "accesses to the heap went to objects that nothing in the thread's hands told"},
    {C(PLACES_NO_CLASS), .name = "places_no_class",
     .sentence = "accesses to the heap went to objects whose class could not be vouched for"},
    {C(PLACES_FRESH), .name = "places_fresh",
     .sentence = "accesses to the heap were making a new object's header, and have no class yet"},
    {C(PLACES_FULL), .name = "places_full",
     .sentence = "accesses to the heap went to objects of more classes than the agent remembers"},
    {C(BURSTS), .name = "bursts"},
    {C(BURSTS_LEFT), .name = "bursts_left",
     .sentence = "counts of a loop's turns are shorter: the thread had left the loop"},
    {C(BURST_HITS), .name = "burst_hits"},
    {C(BURST_NS), .name = "burst_ns"},
    {C(CODES_SENT), .name = "codes_sent"},
    {C(CODES_GONE), .name = "codes_gone",
     .sentence = "compiled methods with hot loops could not be looked at: they were unloaded, or "
		 "are too large"},
    {C(PLANS_REFUSED), .name = "plans_refused",
     .sentence = "loops were not counted: their code is not what it was"},
    {C(TRACES), .name = "traces"},
    {C(TRACES_LEFT), .name = "traces_left",
     .sentence = "comparisons of what loops go by came to no end: the thread did not come back"},
    {C(TRACES_MOVED), .name = "traces_moved",
     .sentence = "comparisons of what loops go by were not used: objects may have moved meanwhile"},
    {C(READINGS), .name = "readings"},
    {C(READINGS_LEFT), .name = "readings_left",
     .sentence = "readings of a loop's counter came to no end: it was not entered, or not left, in "
		 "time"},
    {C(PLACES_LOST), .name = "places_lost",
     .sentence = "classes have no name: they were unloaded first, or could not be read"},
};

_Static_assert(sizeof(counter_table) / sizeof(counter_table[0]) == JXP__COUNTER__COUNTER_MAX,
	       "a counter without a row");

const char *counter_name(Jxp__Counter counter)
{
	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		if (counter_table[i].counter == counter)
			return counter_table[i].name;
	return "unknown";
}

uint64_t counters_pairs(const uint64_t *counters)
{
	return counters[JXP__COUNTER__COUNTER_TRAPS] + counters[JXP__COUNTER__COUNTER_FORETOLD];
}

const struct counter *counter_of_stage(unsigned place)
{
	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		if (counter_table[i].stage.label && counter_table[i].stage.place == place)
			return &counter_table[i];
	return NULL;
}
