#include "daemon/inspector/check_sigtrap.h"

#include <errno.h>
#include <string.h>

#define ITEM "watchpoint signals"

void check_sigtrap(struct check_items *c, sigtrap_trial_fn trial)
{
	int error = 0;
	enum sigtrap_verdict verdict = sigtrap_probe(trial, &error);

	if (verdict == SIGTRAP_WAITS)
		check_items_add(c, ITEM, CHECK_OK,
				"one that comes in a signal handler waits for its end");
	else if (verdict == SIGTRAP_KILLS)
		check_items_add(c, ITEM, CHECK_FAILED, "%s", SIGTRAP_KILLS_MESSAGE);
	else if (error == -ENODATA)
		check_items_add(c, ITEM, CHECK_WARNING,
				"a watchpoint did not fire: debug registers do not work here, as "
				"on some virtual machines; run jxperf on another");
	else
		check_items_add(c, ITEM, CHECK_WARNING,
				"not tried: %s; before Linux 5.19 one that comes in a signal "
				"handler kills its process",
				strerror(-error));
}
