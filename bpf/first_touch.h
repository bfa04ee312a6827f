/*
 * First touches of pages: which NUMA node the thread ran on that caused a page to be made. Shared
 * by the BPF program (bpf/first_touch.bpf.c) and the broker (daemon/broker/first_touch.h).
 *
 * Linux places an anonymous page on the node of the CPU that first touches it (unless a policy says
 * otherwise), so this is where a page's remoteness begins.
 */
#ifndef JXPERF_BPF_FIRST_TOUCH_H
#define JXPERF_BPF_FIRST_TOUCH_H

#include <linux/types.h>

/* Processes traced at a time: as many as the broker attaches to. */
#define TOUCH_TARGETS_MAX 256

/* Touches remembered over all of them, 1 GiB of small pages in some 20 MiB of kernel memory that is
 * taken as it is needed; and of one of them. */
#define TOUCHES_MAX        (1u << 18)
#define TOUCHES_TARGET_MAX (TOUCHES_MAX / 2)

/* One process that is traced. */
struct touch_target {
	__u64 seen;       /* faults that were first touches, as far as the kernel says */
	__u64 remembered; /* entries */
	__u64 lost;       /* no room for them */
};

/* A page, or 2 MiB that may have been made in one fault (transparent huge pages). */
struct touch_key {
	__u32 pid;
	__u32 shift;  /* TOUCH_PAGE or TOUCH_HUGE */
	__u64 number; /* address >> shift */
};
#define TOUCH_PAGE 12
#define TOUCH_HUGE 21

struct touch {
	__u32 node; /* the kernel's number */
	__u32 tid;
};

#endif
