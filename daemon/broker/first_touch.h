/*
 * First touches of targets' pages, traced in the kernel (bpf/first_touch.bpf.c).
 *
 * The program is loaded once and sits on the page fault tracepoint only while a process is traced:
 * it runs at every page fault of the machine. Loading takes CAP_BPF and CAP_PERFMON. Tracing works
 * on descriptors and takes none from Linux 6.0 on (bpf_sys in kernel/bpf/syscall.c); before, it
 * takes CAP_BPF where kernel.unprivileged_bpf_disabled is not 0.
 *
 * Broker only, and tests. One thread.
 */
#ifndef JXPERF_DAEMON_BROKER_FIRST_TOUCH_H
#define JXPERF_DAEMON_BROKER_FIRST_TOUCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct broker_touch;

/* Loads the program. 0 with *out to be freed, or -errno. */
int broker_touch_open(struct broker_touch **out, struct err *err);

/* Tries on a page of this process whether first touches are seen: with the privileges and the
 * process ids that tracing will have. 0, or -errno with the reason. */
int broker_touch_trial(struct broker_touch *t, struct err *err);

/* Stops tracing. free(NULL) is safe. */
void broker_touch_free(struct broker_touch *t);

/* Remembers first touches of pid's pages from now on. 0 or -errno. */
int broker_touch_trace(struct broker_touch *t, pid_t pid, struct err *err);

/* Ends that and forgets its touches; takes a walk over what is remembered. */
void broker_touch_forget(struct broker_touch *t, pid_t pid);

/* The node, as the kernel numbers it, whose thread touched the page with this address first, or the
 * 2 MiB around it when they may have been made at once; -1 when nobody was seen to. */
int broker_touch_node(const struct broker_touch *t, pid_t pid, uint64_t address);

/* First touches of pid so far: seen, and those that there was no room for. False when it is not
 * traced. */
bool broker_touch_counts(const struct broker_touch *t, pid_t pid, uint64_t *seen, uint64_t *lost);

#endif
