/*
 * The NUMA nodes of a machine and the CPUs of each, as the kernel numbers them
 * (Documentation/ABI/stable/sysfs-devices-node).
 *
 * Nodes have ids, which may have gaps; profiles use their position among the nodes, from 0.
 */
#ifndef JXPERF_MACHINE_NUMA_TOPOLOGY_H
#define JXPERF_MACHINE_NUMA_TOPOLOGY_H

#include <stdint.h>

/* Nodes beyond these are taken for the last one; the machines that have more are few. */
#define NUMA_NODES_MAX 16
#define NUMA_CPUS_MAX  4096
#define NUMA_NONE      UINT8_MAX

struct numa_topology {
	unsigned node_count; /* 1 where the kernel tells of none */
	unsigned node_id[NUMA_NODES_MAX];
	uint8_t node_of_cpu[NUMA_CPUS_MAX]; /* positions; NUMA_NONE for a CPU of no known node */
};

/* Reads a directory like /sys/devices/system/node. What cannot be read is left out. */
void numa_topology_read(struct numa_topology *t, const char *directory);

/* This machine's, read by the first call. One thread. */
const struct numa_topology *numa_topology(void);

/* The position of the node with this id, or NUMA_NONE. */
uint8_t numa_topology_node(const struct numa_topology *t, int id);

/* The position of the node of a CPU, or NUMA_NONE. */
uint8_t numa_topology_node_of_cpu(const struct numa_topology *t, uint32_t cpu);

#endif
