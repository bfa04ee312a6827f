/*
 * The gate on the sampling events (bpf/gate.h says what passes). The kernel runs it for each
 * overflow of an event that it is attached to (PERF_EVENT_IOC_SET_BPF), before anything else
 * happens: 0 drops the sample with its record and its SIGTRAP, 1 lets it go on. Kernels before 6.11
 * ran it too late for the signal; daemon/broker/gate.c tries it out.
 *
 * Reads no kernel structure, so it needs no BTF of the kernel and runs on every one that has the
 * helpers and atomic instructions used here (5.12).
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "bpf/gate.h"

/* By process id in the initial pid namespace. Written by the broker. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GATE_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct gate);
} gates SEC(".maps");

/* Counts what became of each target's samples. An entry exists as long as its gate does. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, GATE_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct gate_counts);
} counts SEC(".maps");

/* Samples of processes that have no gate. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} strangers SEC(".maps");

static int count_stranger(void)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&strangers, &zero);

	if (n) /* Always; the verifier wants to see it. */
		(*n)++;
	return 0;
}

SEC("perf_event")
int sampling_gate(struct bpf_perf_event_data *context)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct gate *gate = bpf_map_lookup_elem(&gates, &tgid);
	struct gate_counts *target = bpf_map_lookup_elem(&counts, &tgid);
	enum gate_outcome outcome;

	(void)context;
	if (!gate || !target)
		return count_stranger();
	outcome = gate_admit(gate, bpf_ktime_get_ns());
	if (outcome < GATE_OUTCOMES) /* Always, likewise. */
		target->samples[outcome]++;
	return outcome == GATE_PASSED;
}

/* It has no significance here: every helper used is open to all licences. */
char LICENSE[] SEC("license") = "Apache-2.0";
