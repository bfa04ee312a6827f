#include "machine/numa_topology.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/proc.h"

#define LIST_BYTES 8192
#define IDS_MAX    1024 /* the kernel's own limit is 1 << CONFIG_NODES_SHIFT, at most that */

static int compare_ids(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Ascending; returns how many. */
static size_t list_nodes(const char *directory, unsigned ids[IDS_MAX])
{
	_cleanup_closedir_ DIR *dir = opendir(directory);
	struct dirent *entry;
	size_t count = 0;
	char rest;

	while (dir && (entry = readdir(dir)) && count < IDS_MAX)
		if (sscanf(entry->d_name, "node%u%c", &ids[count], &rest) == 1)
			count++;
	qsort(ids, count, sizeof(ids[0]), compare_ids);
	return count;
}

/* "0-3,8,10-11" */
static void take_cpus(struct numa_topology *t, const char *list, uint8_t node)
{
	const char *p = list;

	while (*p >= '0' && *p <= '9') {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < NUMA_CPUS_MAX; cpu++)
			t->node_of_cpu[cpu] = node;
		p = *end == ',' ? end + 1 : end;
	}
}

void numa_topology_read(struct numa_topology *t, const char *directory)
{
	unsigned ids[IDS_MAX];
	size_t count = list_nodes(directory, ids);

	memset(t, 0, sizeof(*t));
	memset(t->node_of_cpu, NUMA_NONE, sizeof(t->node_of_cpu));
	for (size_t i = 0; i < count; i++) {
		size_t position = i < NUMA_NODES_MAX ? i : NUMA_NODES_MAX - 1;
		char path[PATH_MAX], list[LIST_BYTES];
		int n = snprintf(path, sizeof(path), "%s/node%u/cpulist", directory, ids[i]);

		if (i < NUMA_NODES_MAX) {
			t->node_id[i] = ids[i];
			t->node_count++;
		}
		if (n > 0 && (size_t)n < sizeof(path) && proc_read(path, list, sizeof(list)) > 0)
			take_cpus(t, list, (uint8_t)position);
	}
	if (t->node_count == 0) {
		t->node_count = 1;
		memset(t->node_of_cpu, 0, sizeof(t->node_of_cpu));
	}
}

const struct numa_topology *numa_topology(void)
{
	static struct numa_topology machine;

	if (machine.node_count == 0)
		numa_topology_read(&machine, "/sys/devices/system/node");
	return &machine;
}

uint8_t numa_topology_node(const struct numa_topology *t, int id)
{
	for (unsigned i = 0; id >= 0 && i < t->node_count; i++)
		if (t->node_id[i] == (unsigned)id)
			return (uint8_t)i;
	if (t->node_count == NUMA_NODES_MAX && id > (int)t->node_id[NUMA_NODES_MAX - 1])
		return NUMA_NODES_MAX - 1;
	return NUMA_NONE;
}

uint8_t numa_topology_node_of_cpu(const struct numa_topology *t, uint32_t cpu)
{
	return cpu < NUMA_CPUS_MAX ? t->node_of_cpu[cpu] : NUMA_NONE;
}
