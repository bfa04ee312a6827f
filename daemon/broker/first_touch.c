#include "daemon/broker/first_touch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/first_touch.h"
#include "bpf/first_touch.skel.h"

#define DELETE_BATCH 1024

struct broker_touch {
	struct first_touch_bpf *bpf;
	unsigned traced;
};

static int load(struct broker_touch *t, struct err *err)
{
	int r;

	(void)libbpf_set_print(NULL); /* It explains at length what err says in one line. */
	t->bpf = first_touch_bpf__open();
	if (!t->bpf)
		return err_set_errno(err, errno, "cannot load the tracing of first touches");
	r = first_touch_bpf__load(t->bpf);
	return r < 0 ? err_set_errno(err, -r, "cannot load the tracing of first touches") : 0;
}

int broker_touch_open(struct broker_touch **out, struct err *err)
{
	struct broker_touch *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_set(err, ENOMEM, "out of memory");
	r = load(t, err);
	if (r < 0) {
		broker_touch_free(t);
		return r;
	}
	*out = t;
	return 0;
}

void broker_touch_free(struct broker_touch *t)
{
	if (!t)
		return;
	first_touch_bpf__destroy(t->bpf); /* Detaches; NULL is safe. */
	free(t);
}

int broker_touch_trace(struct broker_touch *t, pid_t pid, struct err *err)
{
	const struct touch_target none = {0};
	const __u32 key = (__u32)pid;
	int r = bpf_map_update_elem(bpf_map__fd(t->bpf->maps.targets), &key, &none, BPF_NOEXIST);

	if (r == -EEXIST)
		return 0;
	if (r == 0 && t->traced == 0)
		r = first_touch_bpf__attach(t->bpf);
	if (r < 0) {
		/* May not be there. */
		(void)bpf_map_delete_elem(bpf_map__fd(t->bpf->maps.targets), &key);
		return err_set_errno(err, -r, "cannot trace page faults");
	}
	t->traced++;
	return 0;
}

/* The kernel walks, 1,024 entries a call: there may be a quarter of a million. */
static void delete_touches(struct broker_touch *t, __u32 pid)
{
	int fd = bpf_map__fd(t->bpf->maps.touches), r = 0;
	struct touch_key keys[DELETE_BATCH];
	struct touch values[DELETE_BATCH];
	__u32 at, count, own;

	for (unsigned i = 0; r == 0 && i < TOUCHES_MAX; i++) {
		count = DELETE_BATCH;
		/* -ENOENT comes with the last ones. */
		r = bpf_map_lookup_batch(fd, i ? &at : NULL, &at, keys, values, &count, NULL);
		if (r < 0 && r != -ENOENT)
			return; /* They only take room, until the map is full or gone. */
		own = 0;
		for (__u32 k = 0; k < count; k++)
			if (keys[k].pid == pid)
				keys[own++] = keys[k];
		if (own > 0) /* They were there just now. */
			(void)bpf_map_delete_batch(fd, keys, &own, NULL);
	}
}

void broker_touch_forget(struct broker_touch *t, pid_t pid)
{
	const __u32 key = (__u32)pid;

	if (bpf_map_delete_elem(bpf_map__fd(t->bpf->maps.targets), &key) < 0)
		return;
	if (--t->traced == 0)
		first_touch_bpf__detach(t->bpf);
	delete_touches(t, key);
}

static int node_of(const struct broker_touch *t, pid_t pid, uint64_t address, unsigned shift)
{
	const struct touch_key key = {
	    .pid = (__u32)pid, .shift = shift, .number = address >> shift};
	struct touch touch;

	if (bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.touches), &key, &touch) < 0)
		return -1;
	return (int)touch.node;
}

int broker_touch_node(const struct broker_touch *t, pid_t pid, uint64_t address)
{
	int node = node_of(t, pid, address, TOUCH_PAGE);

	return node >= 0 ? node : node_of(t, pid, address, TOUCH_HUGE);
}

bool broker_touch_counts(const struct broker_touch *t, pid_t pid, uint64_t *seen, uint64_t *lost)
{
	const __u32 key = (__u32)pid;
	struct touch_target target;

	if (bpf_map_lookup_elem(bpf_map__fd(t->bpf->maps.targets), &key, &target) < 0)
		return false;
	*seen = target.seen;
	*lost = target.lost;
	return true;
}

int broker_touch_trial(struct broker_touch *t, struct err *err)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page =
	    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r, node;

	if (page == MAP_FAILED)
		return err_set_errno(err, errno, "cannot try the tracing of first touches");
	r = broker_touch_trace(t, getpid(), err);
	if (r == 0) {
		*page = 1;
		node = broker_touch_node(t, getpid(), (uintptr_t)page);
		broker_touch_forget(t, getpid());
		if (node < 0)
			r = err_set(err, EOPNOTSUPP,
				    "first touches are not seen: is jxperfd in a process id "
				    "namespace of its own? run it in the host's");
	}
	(void)munmap((void *)page, size); /* Our own mapping: cannot fail. */
	return r;
}
