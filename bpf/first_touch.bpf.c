/*
 * Remembers the first fault on each page of the targets (bpf/first_touch.h).
 *
 * page_fault_user comes before the page is made, in the thread that touches it. A fault on a page
 * that is there already (copy on write, a protection) is not its first touch. What the kernel
 * unmaps to see who uses it (NUMA balancing) faults again: the first entry stays.
 *
 * A raw tracepoint: it is attached by its name alone, with neither tracefs, which need not be
 * mounted, nor BTF, which a kernel need not have.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/first_touch.h"

#define E2BIG         7 /* include/uapi/asm-generic/errno-base.h */
#define EEXIST        17
#define FAULT_PRESENT 1 /* arch/x86/include/asm/trap_pf.h, X86_PF_PROT */

/* By process id in the initial pid namespace. Written by the broker. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TOUCH_TARGETS_MAX);
	__type(key, __u32);
	__type(value, struct touch_target);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TOUCHES_MAX);
	__type(key, struct touch_key);
	__type(value, struct touch);
} touches SEC(".maps");

/* The kernel calls the tracepoint with these, TP_PROTO of page_fault_user
 * (arch/x86/include/asm/trace/exceptions.h). */
enum { PAGE_FAULT_ADDRESS, PAGE_FAULT_REGISTERS, PAGE_FAULT_ERROR_CODE };

static void remember(struct touch_target *target, __u32 pid, __u64 address, __u32 shift,
		     const struct touch *touch)
{
	struct touch_key key = {.pid = pid, .shift = shift, .number = address >> shift};
	long r = -E2BIG;

	/* -EEXIST leaves the first one, which is what is wanted. The bound may be passed by a few
	 * when CPUs meet here. */
	if (target->remembered < TOUCHES_TARGET_MAX)
		r = bpf_map_update_elem(&touches, &key, touch, BPF_NOEXIST);
	if (r == 0)
		__sync_fetch_and_add(&target->remembered, 1);
	else if (r != -EEXIST)
		__sync_fetch_and_add(&target->lost, 1);
}

SEC("raw_tp/page_fault_user")
int first_touch(const struct bpf_raw_tracepoint_args *fault)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;
	struct touch_target *target;
	struct touch touch = {.node = bpf_get_numa_node_id(), .tid = (__u32)id};

	if (fault->args[PAGE_FAULT_ERROR_CODE] & FAULT_PRESENT)
		return 0;
	target = bpf_map_lookup_elem(&targets, &pid);
	if (!target)
		return 0;
	__sync_fetch_and_add(&target->seen, 1);
	remember(target, pid, fault->args[PAGE_FAULT_ADDRESS], TOUCH_PAGE, &touch);
	remember(target, pid, fault->args[PAGE_FAULT_ADDRESS], TOUCH_HUGE, &touch);
	return 0;
}

/* It has no significance here: every helper used is open to all licences. */
char LICENSE[] SEC("license") = "Apache-2.0";
