#include "daemon/broker/gate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/gate.skel.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/perf/events.h"

struct broker_gate {
	struct gate_bpf *bpf;
	size_t cpus;                 /* possible ones: the length of a per-CPU value */
	struct gate_counts *per_cpu; /* [cpus], for reading */
	__u64 *strangers;            /* [cpus], likewise */
};

static const char *advice(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
		return "not permitted; run jxperfd as root or with CAP_BPF and CAP_PERFMON";
	case ENOSYS:
		return "the kernel has no BPF; use one with CONFIG_BPF_SYSCALL";
	case EINVAL:
	case EOPNOTSUPP:
		return "the kernel is too old; upgrade to 6.10 or newer";
	default:
		return strerror(-error);
	}
}

static int load(struct broker_gate *g, struct err *err)
{
	int r, cpus;

	(void)libbpf_set_print(NULL); /* It explains at length what err says in one line. */
	g->bpf = gate_bpf__open();
	if (!g->bpf)
		return err_set(err, errno, "cannot load the BPF gate: %s", strerror(errno));
	r = gate_bpf__load(g->bpf);
	if (r < 0)
		return err_set(err, -r, "cannot load the BPF gate: %s", advice(r));
	cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return err_set_errno(err, -cpus, "cannot tell how many CPUs there are");
	g->cpus = (size_t)cpus;
	g->per_cpu = calloc(g->cpus, sizeof(*g->per_cpu));
	g->strangers = calloc(g->cpus, sizeof(*g->strangers));
	return g->per_cpu && g->strangers ? 0 : err_set(err, ENOMEM, "out of memory");
}

int broker_gate_open(struct broker_gate **out, struct err *err)
{
	struct broker_gate *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_set(err, ENOMEM, "out of memory");
	r = load(g, err);
	if (r < 0) {
		broker_gate_free(g);
		return r;
	}
	*out = g;
	return 0;
}

static int gates_fd(const struct broker_gate *g)
{
	return bpf_map__fd(g->bpf->maps.gates);
}

static int counts_fd(const struct broker_gate *g)
{
	return bpf_map__fd(g->bpf->maps.counts);
}

/* The program outlives us in events that others hold; without entries it drops everything. */
static void remove_all(struct broker_gate *g)
{
	__u32 pid;

	for (int i = 0; i < GATE_TARGETS_MAX; i++) {
		if (bpf_map_get_next_key(gates_fd(g), NULL, &pid) < 0)
			return;
		broker_gate_remove(g, (pid_t)pid, NULL);
	}
}

void broker_gate_free(struct broker_gate *g)
{
	if (!g)
		return;
	if (g->per_cpu && g->strangers)
		remove_all(g);
	gate_bpf__destroy(g->bpf); /* NULL is safe. */
	free(g->per_cpu);
	free(g->strangers);
	free(g);
}

int broker_gate_set(struct broker_gate *g, pid_t pid, const struct gate_limits *limits)
{
	struct gate gate = {0};
	__u32 key = (__u32)pid;
	int r;

	if (limits->interval_ns == 0 || limits->burst_ns < limits->interval_ns ||
	    limits->burst_ns > GATE_TIME_MAX_NS)
		return -EINVAL;
	if (bpf_map_lookup_elem(gates_fd(g), &key, &gate) < 0) {
		memset(g->per_cpu, 0, g->cpus * sizeof(*g->per_cpu));
		r = bpf_map_update_elem(counts_fd(g), &key, g->per_cpu, BPF_ANY);
		if (r < 0)
			return r;
	}
	/* The kernel replaces the whole value. A token that is taken between the lookup and here is
	 * given back by that: one for each CPU at most, and limits change twice a second at most.
	 */
	gate.limits = *limits;
	/* A debt of slower times is one of an empty bucket now, not of several. */
	if (gate.full_at_ns > clock_monotonic_ns() + limits->burst_ns)
		gate.full_at_ns = clock_monotonic_ns() + limits->burst_ns;
	r = bpf_map_update_elem(gates_fd(g), &key, &gate, BPF_ANY);
	if (r < 0)
		(void)bpf_map_delete_elem(counts_fd(g), &key); /* Was just made. */
	return r;
}

static __u64 stranger_count(const struct broker_gate *g)
{
	__u32 zero = 0;
	__u64 sum = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(g->bpf->maps.strangers), &zero, g->strangers) < 0)
		return 0; /* There is always that one element. */
	for (size_t i = 0; i < g->cpus; i++)
		sum += g->strangers[i];
	return sum;
}

int broker_gate_counts(const struct broker_gate *g, pid_t pid, struct gate_counts *counts)
{
	__u32 key = (__u32)pid;
	int r = bpf_map_lookup_elem(counts_fd(g), &key, g->per_cpu);

	if (r < 0)
		return r;
	*counts = (struct gate_counts){0};
	for (size_t i = 0; i < g->cpus; i++)
		for (int o = 0; o < GATE_OUTCOMES; o++)
			counts->samples[o] += g->per_cpu[i].samples[o];
	counts->samples[GATE_UNKNOWN] = stranger_count(g);
	return 0;
}

void broker_gate_remove(struct broker_gate *g, pid_t pid, struct gate_counts *counts)
{
	__u32 key = (__u32)pid;

	/* The gate first: samples that come after that are counted as those of a process without
	 * one, so the counts that are read next are final. Both deletions fail only where there is
	 * nothing to delete. */
	(void)bpf_map_delete_elem(gates_fd(g), &key);
	if (counts && broker_gate_counts(g, pid, counts) < 0)
		*counts = (struct gate_counts){0};
	(void)bpf_map_delete_elem(counts_fd(g), &key);
}

int broker_gate_attach(const struct broker_gate *g, int event_fd)
{
	return perf_set_gate(event_fd, broker_gate_program(g));
}

int broker_gate_program(const struct broker_gate *g)
{
	return bpf_program__fd(g->bpf->progs.sampling_gate);
}
