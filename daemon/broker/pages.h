/*
 * On which NUMA nodes pages of a process are. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_PAGES_H
#define JXPERF_DAEMON_BROKER_PAGES_H

#include "common/err.h"
#include "daemon/broker/proto.h"

/* Fills nodes with the node of each of the request's pages, or -1 for one that is not present. No
 * page is moved: move_pages(2) with no nodes only asks. 0 or -errno. */
int broker_pages_nodes(const struct broker_request *request, int16_t nodes[BROKER_PAGES_MAX],
		       struct err *err);

#endif
