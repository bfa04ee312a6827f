/*
 * Processes that start and end, seen in the kernel. Shared by the BPF program
 * (bpf/processes.bpf.c) and the broker (daemon/broker/discovery.h).
 *
 * A machine may start thousands of processes a second, and next to all of them are over at once. So
 * what starts is told to nobody: it is noted in a map, from which its end takes it again, and the
 * broker now and then looks who is still there. What ends is told only of those processes that the
 * broker follows.
 */
#ifndef JXPERF_BPF_PROCESSES_H
#define JXPERF_BPF_PROCESSES_H

#include <linux/types.h>

/* Processes at a time that have started not long ago: 30 s of 130 starts a second that stay. */
#define PROCESSES_YOUNG_MAX 4096

/* Processes at a time whose ends are told: as many as an inspector lists. */
#define PROCESSES_FOLLOWED_MAX 4096

/* The ring in which they are told has room for 1,000. */
#define PROCESSES_RING_BYTES (1u << 14)

/* One that has started, by process id in the initial pid namespace. A program that it runs in its
 * place later makes it young again. */
struct process_young {
	__u64 exec_ns; /* CLOCK_MONOTONIC */
	__u32 looks;   /* the broker's */
	__u32 reserved;
};

/* Each of these was not seen, and is an index: append only. */
enum process_loss {
	PROCESS_LOSS_STARTS, /* there was no room among the young */
	PROCESS_LOSS_ENDS,   /* there was no room in the ring */
	PROCESS_LOSSES,
};

#endif
