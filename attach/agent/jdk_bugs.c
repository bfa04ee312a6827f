#include "attach/agent/jdk_bugs.h"

#include <stdio.h>

bool jdk_keeps_states_of_attached_threads(const char *version)
{
	unsigned feature = 0, interim = 0, update = 0;

	if (!version || sscanf(version, "%u.%u.%u", &feature, &interim, &update) < 1)
		return false;
	return feature == 19 || feature == 20 || (feature == 21 && interim == 0 && update < 13);
}
