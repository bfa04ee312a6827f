#include "daemon/engine/numa_query.h"

void numa_query_init(struct numa_query *q, struct broker_client *broker, pid_t pid,
		     const struct numa_topology *topology, struct numa_profile *profile,
		     uint64_t *touches_lost)
{
	*q = (struct numa_query){.broker = broker,
				 .pid = pid,
				 .topology = topology,
				 .profile = profile,
				 .touches_lost = touches_lost};
}

static void place_all(struct numa_query *q, const struct broker_reply *reply)
{
	for (size_t i = 0; i < q->asked_count; i++) {
		int node = reply->error ? -1 : reply->nodes[i];
		int touched = reply->error ? -1 : reply->touched[i];

		/* Without memory for its site, an access is in the sums over all. */
		(void)numa_profile_place(q->profile, &q->asked[i],
					 numa_topology_node(q->topology, node),
					 numa_topology_node(q->topology, touched));
	}
	if (!reply->error) {
		q->profile->touch_traced = reply->touch_traced != 0;
		*q->touches_lost = reply->touches_lost;
	}
	q->asked_count = 0;
}

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	struct numa_query *q = arg;

	(void)fds; /* None come with this reply. */
	q->request = 0;
	place_all(q, reply);
	if (!reply->error)
		numa_query_pump(q);
}

void numa_query_pump(struct numa_query *q)
{
	struct broker_request request = {.operation = BROKER_PAGES, .pid = q->pid};

	if (!q->broker || q->request > 0 || q->profile->waiting_count == 0)
		return;
	q->asked_count = numa_profile_take(q->profile, q->asked, BROKER_PAGES_MAX);
	for (size_t i = 0; i < q->asked_count; i++)
		request.pages[i] = q->asked[i].address;
	request.page_count = (uint32_t)q->asked_count;
	q->request = broker_client_ask(q->broker, &request, on_reply, q);
	if (q->request < 0) {
		q->request = 0;
		q->profile->unplaced += q->asked_count;
		q->asked_count = 0;
	}
}

void numa_query_release(struct numa_query *q)
{
	if (!q->broker)
		return;
	if (q->request > 0)
		broker_client_forget(q->broker, q->request);
	q->profile->unplaced += q->asked_count;
	*q = (struct numa_query){0};
}
