/*
 * Notes processes that start and tells the ends of those that are followed (bpf/processes.h).
 *
 * Two raw tracepoints: they are attached by their names alone, with neither tracefs nor BTF. Their
 * arguments are not read, since all that is needed is which process runs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/processes.h"

/* Preallocated, so that nothing is allocated in execve(2). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_YOUNG_MAX);
	__type(key, __u32);
	__type(value, struct process_young);
} young SEC(".maps");

/* Written by the broker; an entry goes when its process does. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES_FOLLOWED_MAX);
	__type(key, __u32);
	__type(value, __u32);
} followed SEC(".maps");

/* Process ids of those that have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, PROCESSES_RING_BYTES);
} ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROCESS_LOSSES);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

static void count(__u32 loss)
{
	__u64 *n = bpf_map_lookup_elem(&losses, &loss);

	if (n) /* Always; the verifier wants to see it. */
		(*n)++;
}

/* In the thread that is the process from now on: it has the process's id. */
SEC("raw_tp/sched_process_exec")
int process_started(const void *context)
{
	struct process_young one = {.exec_ns = bpf_ktime_get_ns()};
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	(void)context;
	if (bpf_map_update_elem(&young, &pid, &one, BPF_ANY) < 0)
		count(PROCESS_LOSS_STARTS);
	return 0;
}

/* In each thread that ends. The first thread stands for the process: a Java launcher's waits for
 * the others. One that goes before them is taken for an end, and the next look at all processes
 * finds that there was none. */
SEC("raw_tp/sched_process_exit")
int process_ended(const void *context)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;

	(void)context;
	if ((__u32)id != pid)
		return 0;
	(void)bpf_map_delete_elem(&young, &pid); /* It need not be there. */
	if (bpf_map_delete_elem(&followed, &pid) == 0 &&
	    bpf_ringbuf_output(&ended, &pid, sizeof(pid), 0) < 0)
		count(PROCESS_LOSS_ENDS);
	return 0;
}

/* It has no significance here: every helper used is open to all licences. */
char LICENSE[] SEC("license") = "Apache-2.0";
