#include "daemon/broker_touch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/first_touch.h"
#include "bpf/first_touch.skel.h"

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

/* A key stays valid for get_next_key after its entry is deleted only by starting over, so the next
 * one is fetched first. */
static void delete_touches(struct broker_touch *t, __u32 pid)
{
	int fd = bpf_map__fd(t->bpf->maps.touches);
	struct touch_key key, next;
	bool more = bpf_map_get_next_key(fd, NULL, &key) == 0;

	for (unsigned i = 0; more && i < TOUCHES_MAX; i++) {
		more = bpf_map_get_next_key(fd, &key, &next) == 0;
		if (key.pid == pid)
			(void)bpf_map_delete_elem(fd, &key); /* It was there just now. */
		key = next;
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
