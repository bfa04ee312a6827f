/*
 * What came of one profiling window of one JVM: what was asked, what it ran on, what the target
 * said it is, the profiles, and everything that tells how good they are. It points at nothing but
 * tables of its own, so it outlives the run (daemon/engine/run.h) that makes it.
 *
 * The run owns it, and whoever shows it keeps it (window_result_keep). Loop thread only, with one
 * exception: once it is finished, or a snapshot, nothing changes it any more and any thread may
 * read it. Times: *_unix_ns is CLOCK_REALTIME for people, *_ns CLOCK_MONOTONIC.
 */
#ifndef JXPERF_PROFILE_WINDOW_RESULT_H
#define JXPERF_PROFILE_WINDOW_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "profile/cpu_profile.h"
#include "profile/cpu_share.h"
#include "profile/certainty.h"
#include "profile/loop_profile.h"
#include "profile/numa_profile.h"
#include "profile/object_profile.h"
#include "profile/profile.h"
#include "profile/side_effects.h"
#include "profile/thread_table.h"
#include "profile/window/asker.h"
#include "profile/window/findings.h"
#include "profile/window/loss.h"
#include "profile/window/merged.h"
#include "profile/window/request.h"
#include "proto/agent_note.h"
#include "proto/container_names.h"

#define WINDOW_ID_BYTES     16
#define WINDOW_LABEL_BYTES  128
#define WINDOW_REASON_BYTES 256

/* The engine ends a window that takes more, with what it takes to read its agent's stream. A JVM's
 * own agent has 16 MiB for all that it says. */
#define WINDOW_BYTES_MAX ((size_t)64 << 20)

/* Their numbers are in the store. */
enum window_state {
	WINDOW_ATTACHING,
	WINDOW_RUNNING,
	WINDOW_DONE,
	WINDOW_ENDED_EARLY, /* reason says why; the profile holds what arrived */
	WINDOW_FAILED,      /* reason says why there was nothing to profile */
	WINDOW_SALVAGED,    /* its daemon died; what it had kept until then */
	WINDOW_STATES,
};

/* Memory of its own that is added here has to be a row of window_tables (profile/window/tables.h),
 * or copied in window_result_snapshot there. */
struct window_result {
	unsigned keepers;
	bool finished;            /* it is final: set by its owner, after the end */
	unsigned number;          /* 0 of one that was refused before it had one */
	char id[WINDOW_ID_BYTES]; /* "w7"; "" without a number */
	pid_t pid;                /* as the daemon sees it */
	/* Whose the target is: as the broker says, until then whose it has to be for the asker. */
	uid_t owner;
	struct window_asker asker;
	char app[WINDOW_LABEL_BYTES];
	char version[WINDOW_NAME_BYTES]; /* of the application, as a rule has it; "": not known */
	/* Where it was when the window began, as its container's runtime says; "": not known. */
	char container[CONTAINER_ID_BYTES];
	char namespace[CONTAINER_NAME_BYTES]; /* of its Kubernetes pod */
	char pod[CONTAINER_NAME_BYTES];
	char jdk[WINDOW_LABEL_BYTES];
	char vm[WINDOW_LABEL_BYTES];
	char gc[WINDOW_LABEL_BYTES];
	char agent_version[AGENT_VERSION_BYTES]; /* "" of one that was kept before they said it */
	struct window_request request;
	struct window_findings findings;
	enum window_state state;
	char reason[WINDOW_REASON_BYTES]; /* "" unless ended early or failed */
	bool target_ended;                /* that is the reason */
	bool asked_to_end;                /* somebody has asked for its end before its time */
	uint64_t asked_ns;                /* when it was made; 0 of one that was kept */
	bool took_too_much;               /* memory, and was ended for that */
	uint64_t start_unix_ns;
	uint64_t end_unix_ns; /* 0 while running */
	uint64_t start_ns;    /* 0 before the target began */
	uint64_t end_ns;
	struct profile profile;
	struct object_profile objects;
	struct numa_profile numa;
	struct cpu_profile cpu;
	struct thread_table threads; /* of one that was kept, their ticks alone; not of a merge */
	struct loop_profile loops;
	bool always_pretouch;                      /* the JVM touched its heap when it started */
	char objects_refused[WINDOW_REASON_BYTES]; /* why the agent tracks none, or "" */
	uint64_t objects_from_ns;                  /* they begin then; 0: with the window */
	uint64_t objects_off_ns; /* they were switched off then, objects_refused says why; or 0 */
	struct side_effects side_effects;
	uint64_t object_interval; /* bytes of allocation between two samples, last in force */
	uint64_t object_min_size; /* bytes; likewise, where request.object_min_size_adapts */
	/* The agent's counts, plus what the kernel's gate counted itself. */
	uint64_t counters[JXP__COUNTER__COUNTER_MAX];
	uint64_t losses[LOSS_MAX];
	uint64_t attributed[CERTAINTY_VALUES]; /* sampled accesses, by how sure their makers are */
	uint64_t ticks_attributed[CERTAINTY_VALUES]; /* likewise, ticks in compiled code */
	uint64_t cpu_ns;
	uint64_t overhead_ns;
	uint64_t setup_ns;            /* the agent's CPU time before these two began */
	uint64_t effective_period;    /* the sampling period last in force, in its unit; 0 while not
					 known */
	struct window_merged *merged; /* of many windows, and finished; NULL: it is one */
};

/* Does the window need allocations and memory accesses? */
bool window_result_tracks_objects(const struct window_result *w);

/* How small tracked objects were at last. */
uint64_t window_result_object_min_size(const struct window_result *w);

/* Does it need watchpoints? */
bool window_result_samples_pairs(const struct window_result *w);

/* Does it need every tick? */
bool window_result_profiles_cpu(const struct window_result *w);

/* Does it look at the loops that ticks are in? */
bool window_result_profiles_loops(const struct window_result *w);

/* Does it need that alone? */
bool window_result_profiles_cpu_alone(const struct window_result *w);

/* Samples of what it is for: of accesses, or ticks where it needs these alone. */
uint64_t window_result_samples(const struct window_result *w);

/* Was NUMA asked for, and is there anything to measure? */
bool window_result_measures_numa(const struct window_result *w);

/* A window in state WINDOW_ATTACHING with the number's id ("w7"), of nobody and asked for by nobody
 * as yet; NULL without memory. */
struct window_result *window_result_new(unsigned number, pid_t pid,
					const struct window_request *request,
					const struct window_findings *findings);

/* "w7". */
void window_id(char id[WINDOW_ID_BYTES], unsigned number);

/* That there is no window of the id, for who asks: -ENOENT with the line for it. */
int window_absent(const char *id, struct err *err);

/* That there is nothing to show of one that could not run: -ECANCELED with the line for it. */
int window_without_report(unsigned number, pid_t pid, const char *reason, struct err *err);

/* An empty window to be filled in from what was kept of one; it is finished. NULL without memory.
 */
struct window_result *window_result_restored(unsigned number);

/* One more owner, also for those who may only read it; returns w. */
struct window_result *window_result_keep(const struct window_result *w);

/* One owner less; the last one's call frees it. free(NULL) is safe. */
void window_result_free(struct window_result *w);

/* Likewise, for _cleanup_. */
static inline void window_result_release(struct window_result **w)
{
	window_result_free(*w);
}

/* The target was told to start. */
void window_result_start(struct window_result *w);

/* Ends the window, once; later calls change nothing. reason NULL: as planned. A window that has a
 * reason to end before it started has failed. */
void window_result_end(struct window_result *w, const char *reason);

/* Decides when objects begin, just before the target is told to start: a part of the window without
 * them shows what they change. From here on side_effects tells before from in. */
void window_result_plan_objects(struct window_result *w);

/* Objects are tracked no longer, because of what rose (a line of profile/side_effects.h). */
void window_result_switch_off_objects(struct window_result *w, const char *line);

/* How long objects were, or are being, tracked; 0 when they were not. */
uint64_t window_result_objects_ns(const struct window_result *w);

/* Ends the window as one that could not run. */
void window_result_fail(struct window_result *w, const char *reason);

/* Nothing came of it, and nothing is remembered of it: its number is taken away. */
void window_result_withdraw(struct window_result *w);

/* "attaching", "running", "done", "ended early", "failed", "salvaged". */
const char *window_state_name(enum window_state state);
const char *window_result_state_name(const struct window_result *w);

/* 95% interval of a kind's fraction of wasteful bytes; of a merge, the wider one of what was
 * sampled and of how windows differ. */
struct interval window_result_fraction_ci95(const struct window_result *w, Jxp__Kind kind);

/* The same for a part of them, and by how much (at least 1) its variance is larger than sampling's.
 */
struct interval window_result_part_ci95(const struct window_result *w, Jxp__Kind kind,
					uint64_t wasteful_bytes);
double window_result_design_effect(const struct window_result *w, Jxp__Kind kind);

/* CPU time of the target without what profiling took of it. */
uint64_t window_result_own_ns(const struct window_result *w);

/* What shares of CPU time are of, in the unit of ticks of kind cpu: all CPU time that the program
 * used itself (window_result_own_ns). A tick stands for what its thread used since the one before,
 * with our handlers in between, so the whole is as much longer than the program's own time as ticks
 * are than theirs. Never less than what ticks stand for and the JVM's own threads used together:
 * that is an estimate, and can be above it. 0 without ticks: there are no such shares then. */
double window_result_whole_ns(const struct window_result *w);

/* How much of that may lie behind threads' last ticks, where no tick came that would stand for it:
 * half a tick of mean length for each thread, and half a one more; no more than what is left of the
 * whole beside what ticks stand for. Of one window. */
double window_result_after_ns(const struct window_result *w);

/* In a merge, the CPU time of all windows as a multiple of that of those for the kind: a kind's CPU
 * time was multiplied by it, and what is counted of the kind was not. 1 for one window. */
double window_result_expansion(const struct window_result *w, Jxp__Kind kind);

/* The part of what ticks of kind cpu stand for that is the program's own time; and the whole in
 * seconds of that. */
double window_result_own_part(const struct window_result *w);
double window_result_whole_s(const struct window_result *w);

/* In that unit, CPU time of a group of the JVM's own threads in the whole window, by what was seen
 * of it while it was watched (struct cpu_beside). */
double window_result_beside_ns(const struct window_result *w, double seen_ns);

/* What was ours of ticks in the kernel, without a context: it is no part of the whole. */
double window_result_kernel_taken_ns(const struct window_result *w);

/* The program's own ticks in code whose context nobody knows, but for those that were cut. */
double window_result_outside_ns(const struct window_result *w);

/* The whole for shares of ticks, with intervals of a kind's (profile/cpu_share.h); and for
 * those of CPU time at wasteful accesses: the ticks that lead to these stand for our time in the
 * kernel, too. Not known with other samplers than the clock, and in windows that were kept before
 * ticks told. */
struct cpu_whole window_result_tick_whole(const struct window_result *w, Jxp__Kind kind);
struct cpu_whole window_result_cpu_whole(const struct window_result *w, Jxp__Kind kind);

/* From the start to the end, or to now; and of a merge's windows that were for the kind. */
uint64_t window_result_elapsed_ns(const struct window_result *w);
uint64_t window_result_kind_elapsed_ns(const struct window_result *w, Jxp__Kind kind);

/* The overhead's part of the target's CPU time; 0 when none was reported. */
double window_result_overhead_fraction(const struct window_result *w);

/* Who holds the samples to the window and its budget: "bpf", or "agent". */
const char *window_result_gate(const struct window_result *w);

/* When, in seconds from the start, a collection last found tracked objects dead; 0: none has. */
double window_result_judged_s(const struct window_result *w);

/* Did the target use so little CPU time that a fraction of it says nothing? What a window costs at
 * least (a few ms for each ten seconds) is a large part of next to nothing. */
bool window_result_target_was_idle(const struct window_result *w);

/* Events that were lost between a thread and the profile: completed pairs and transitions. */
uint64_t window_result_dropped(const struct window_result *w);

#endif
