#include "daemon/inspector/check_numa.h"

void check_numa(struct check_items *c, unsigned nodes, const char *touch_reason)
{
	if (nodes < 2) {
		check_items_add(c, "numa", CHECK_OK, "one node: no access is remote");
		check_items_add(c, "first touches", CHECK_OK, "not traced: there is one node");
		return;
	}
	check_items_add(c, "numa", CHECK_OK, "%u nodes", nodes);
	if (!touch_reason[0])
		check_items_add(c, "first touches", CHECK_OK,
				"BPF: the kernel tells which thread touched a page first, from the "
				"attach on");
	else
		check_items_add(c, "first touches", CHECK_WARNING,
				"not traced, so reports tell where pages are and not why (%s)",
				touch_reason);
}
