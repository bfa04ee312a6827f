#include "daemon/serve/reload.h"

#include <stdio.h>

/* "'a', 'b' and 'c' hold", and then since when. */
static size_t say_keys(const struct reload_keys *k, char *text, size_t size, const char *since)
{
	size_t used = 0;

	for (size_t i = 0; i < k->count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'",
					 i == 0             ? ""
					 : i + 1 < k->count ? ", "
							    : " and ",
					 k->keys[i]);
	if (k->count > 0)
		used += (size_t)snprintf(text + used, size - used, " hold%s %s",
					 k->count == 1 ? "s" : "", since);
	return used;
}

/* All keys that there are fit. */
void reload_answer_say(const struct reload_answer *a, char text[ERR_MESSAGE_MAX])
{
	size_t used = say_keys(&a->now, text, ERR_MESSAGE_MAX, "from now on");

	if (used > 0 && a->later.count > 0)
		used += (size_t)snprintf(text + used, ERR_MESSAGE_MAX - used, "; ");
	used += say_keys(&a->later, text + used, ERR_MESSAGE_MAX - used,
			 "when jxperfd is restarted, and jxperf-broker where it is a service");
	if (used == 0)
		(void)snprintf(text, ERR_MESSAGE_MAX, "nothing has changed");
}
