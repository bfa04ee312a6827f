#include "daemon/broker/discovery.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/processes.h"
#include "bpf/processes.skel.h"
#include "common/clock.h"
#include "common/proc.h"
#include "daemon/broker/polls.h"

/* When a process is looked at, counted from its start. The first is late enough for next to
 * everything that a shell starts to be over, the last for a launcher that reads from a slow disk.
 */
static const uint64_t looks_ns[] = {NS_PER_S / 2, 3 * NS_PER_S / 2, 4 * NS_PER_S, 10 * NS_PER_S,
				    30 * NS_PER_S};
#define LOOKS (sizeof(looks_ns) / sizeof(looks_ns[0]))

struct broker_discovery {
	struct processes_bpf *bpf;
	struct ring_buffer *ring;
	struct broker_discovery_sink sink;
	size_t cpus; /* possible ones: the length of a per-CPU value */
	__u64 *per_cpu;
	bool on;
	uint64_t turn_ns; /* the next one, CLOCK_MONOTONIC */
	bool within;      /* did the last turn end before the end of the young? */
	__u32 at;         /* there, the kernel's */
	uint64_t losses;  /* that were told of */
	pid_t tried;      /* by a trial; 0: none is under way */
	bool tried_ended; /* was its end seen? */
};

/* ---------------------------------------------------------------- what ends */

static int on_ended(void *arg, void *data, size_t size)
{
	struct broker_discovery *d = arg;
	const __u32 *pid = data;

	if (size != sizeof(*pid))
		return 0;
	if (d->tried)
		d->tried_ended |= (pid_t)*pid == d->tried;
	else if (d->on)
		d->sink.ended(d->sink.arg, (pid_t)*pid);
	return 0;
}

static void take_ends(struct broker_discovery *d)
{
	(void)ring_buffer__consume(d->ring); /* Fails only when on_ended does. */
}

void broker_discovery_follow(struct broker_discovery *d, pid_t pid)
{
	const __u32 key = (__u32)pid, none = 0;
	int followed = bpf_map__fd(d->bpf->maps.followed);

	if (!d->on || bpf_map_update_elem(followed, &key, &none, BPF_NOEXIST) < 0)
		return; /* Known, or one of too many, which rounds find. */
	/* It may have ended before. Whichever of us takes it out of the map tells. */
	if (kill(pid, 0) < 0 && errno == ESRCH && bpf_map_delete_elem(followed, &key) == 0)
		d->sink.ended(d->sink.arg, pid);
}

/* ---------------------------------------------------------------- what starts */

static bool may_be_jvm(pid_t pid)
{
	unsigned threads;

	return proc_thread_count(pid, &threads) == 0 && threads >= DISCOVERY_THREADS_MIN;
}

/* Its next look, or none. A program that it begins to run in this very moment may go unnoticed:
 * rounds find it. */
static void look(struct broker_discovery *d, __u32 pid, struct process_young *one)
{
	int young = bpf_map__fd(d->bpf->maps.young);
	unsigned number = one->looks++;

	/* Both fail when it has just ended. */
	if (one->looks >= LOOKS)
		(void)bpf_map_delete_elem(young, &pid);
	else
		(void)bpf_map_update_elem(young, &pid, one, BPF_EXIST);
	if (may_be_jvm((pid_t)pid))
		d->sink.started(d->sink.arg, (pid_t)pid, number);
}

/* The next part of the map, of at most left entries; *looks grows by how many
 * were due and looked at. True when there is another part. */
static bool look_at_part(struct broker_discovery *d, uint64_t now, __u32 left, unsigned *looks)
{
	static __u32 pids[DISCOVERY_LOOKS_MAX];
	static struct process_young all[DISCOVERY_LOOKS_MAX];
	__u32 count = left, next;
	int r = bpf_map_lookup_batch(bpf_map__fd(d->bpf->maps.young), d->within ? &d->at : NULL,
				     &next, pids, all, &count, NULL);

	if (r < 0 && r != -ENOENT) /* Which comes with the last ones. */
		return false;
	for (__u32 i = 0; i < count; i++)
		if (all[i].looks < LOOKS && now >= all[i].exec_ns + looks_ns[all[i].looks]) {
			look(d, pids[i], &all[i]);
			++*looks;
		}
	d->at = next;
	d->within = r == 0;
	return d->within;
}

/* From where the last turn ended, so that no part of the map waits for ever, to the end. The kernel
 * walks. Of an entry that comes and goes meanwhile it may miss others, or give them twice: there is
 * another turn soon. */
static void look_at_young(struct broker_discovery *d)
{
	uint64_t now = clock_monotonic_ns();
	unsigned looks = 0;

	while (looks < DISCOVERY_LOOKS_MAX &&
	       look_at_part(d, now, DISCOVERY_LOOKS_MAX - looks, &looks))
		;
}

static uint64_t losses_so_far(const struct broker_discovery *d)
{
	uint64_t sum = 0;

	for (__u32 loss = 0; loss < PROCESS_LOSSES; loss++) {
		if (bpf_map_lookup_elem(bpf_map__fd(d->bpf->maps.losses), &loss, d->per_cpu) < 0)
			continue; /* There is always that one. */
		for (size_t i = 0; i < d->cpus; i++)
			sum += d->per_cpu[i];
	}
	return sum;
}

static void tell_losses(struct broker_discovery *d)
{
	uint64_t losses = losses_so_far(d);

	if (losses > d->losses)
		d->sink.missed(d->sink.arg, losses - d->losses);
	d->losses = losses;
}

void broker_discovery_poll(const struct broker_discovery *d, struct broker_polls *p)
{
	if (d && d->on)
		(void)broker_polls_add(p, ring_buffer__epoll_fd(d->ring), POLLIN, d->turn_ns);
}

void broker_discovery_tend(struct broker_discovery *d)
{
	if (!d || !d->on)
		return;
	take_ends(d);
	if (clock_monotonic_ns() < d->turn_ns)
		return;
	look_at_young(d);
	tell_losses(d);
	d->turn_ns = clock_monotonic_ns() + DISCOVERY_TURN_MS * NS_PER_MS;
}

/* ---------------------------------------------------------------- life */

static const char *advice(int error)
{
	switch (-error) {
	case EPERM:
	case EACCES:
		return "BPF is not permitted; run jxperfd as root or with CAP_BPF and CAP_PERFMON";
	case ENOSYS:
		return "the kernel has no BPF";
	default:
		return strerror(-error);
	}
}

static int load(struct broker_discovery *d, struct err *err)
{
	int r, cpus;

	(void)libbpf_set_print(NULL); /* It explains at length what err says in one line. */
	d->bpf = processes_bpf__open();
	r = d->bpf ? processes_bpf__load(d->bpf) : -errno;
	if (r < 0)
		return err_set(err, -r, "%s", advice(r));
	cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return err_set_errno(err, -cpus, "cannot tell how many CPUs there are");
	d->cpus = (size_t)cpus;
	d->per_cpu = calloc(d->cpus, sizeof(*d->per_cpu));
	d->ring = ring_buffer__new(bpf_map__fd(d->bpf->maps.ended), on_ended, d, NULL);
	return d->per_cpu && d->ring ? 0 : err_set(err, ENOMEM, "out of memory");
}

int broker_discovery_open(struct broker_discovery **out, const struct broker_discovery_sink *sink,
			  struct err *err)
{
	struct broker_discovery *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_set(err, ENOMEM, "out of memory");
	d->sink = *sink;
	r = load(d, err);
	if (r < 0) {
		broker_discovery_free(d);
		return r;
	}
	*out = d;
	return 0;
}

void broker_discovery_free(struct broker_discovery *d)
{
	if (!d)
		return;
	ring_buffer__free(d->ring);     /* NULL is safe. */
	processes_bpf__destroy(d->bpf); /* Detaches; likewise. */
	free(d->per_cpu);
	free(d);
}

static void empty(const struct bpf_map *map)
{
	__u32 pid;

	while (bpf_map_get_next_key(bpf_map__fd(map), NULL, &pid) == 0)
		if (bpf_map_delete_elem(bpf_map__fd(map), &pid) < 0)
			return;
}

/* With the programs off, or nothing that could be forgotten. */
static void forget(struct broker_discovery *d)
{
	d->on = d->within = false;
	take_ends(d); /* And tells nobody. */
	empty(d->bpf->maps.young);
	empty(d->bpf->maps.followed);
	d->losses = losses_so_far(d);
}

int broker_discovery_set(struct broker_discovery *d, bool on, struct err *err)
{
	int r = 0;

	if (on == d->on)
		return 0;
	if (on)
		r = processes_bpf__attach(d->bpf);
	if (!on || r < 0) {
		processes_bpf__detach(d->bpf);
		forget(d);
		return r < 0 ? err_set(err, -r, "%s", advice(r)) : 0;
	}
	d->on = true;
	d->turn_ns = clock_monotonic_ns() + DISCOVERY_TURN_MS * NS_PER_MS;
	return 0;
}

/* A child that is followed until it ends. */
static int try_child(struct broker_discovery *d, struct err *err)
{
	int go[2], status;
	char byte;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot try it");
	d->tried = fork();
	if (d->tried == 0) {
		(void)close(go[1]);
		_exit(read(go[0], &byte, 1) < 0); /* Until the other end is closed. */
	}
	(void)close(go[0]);
	if (d->tried > 0) {
		d->on = true;
		broker_discovery_follow(d, d->tried);
		d->on = false;
	}
	(void)close(go[1]);
	if (d->tried < 0)
		return err_set_errno(err, errno, "cannot try it");
	while (waitpid(d->tried, &status, 0) < 0 && errno == EINTR)
		;
	take_ends(d);
	if (!d->tried_ended)
		return err_set(err, EOPNOTSUPP,
			       "BPF does not see jxperfd's own processes: is it in a process id "
			       "namespace of its own? run it in the host's");
	return 0;
}

int broker_discovery_trial(struct broker_discovery *d, struct err *err)
{
	int r = broker_discovery_set(d, true, err);

	if (r < 0)
		return r;
	r = try_child(d, err);
	d->tried = 0;
	d->on = true;
	(void)broker_discovery_set(d, false, NULL); /* Cannot fail. */
	return r;
}
