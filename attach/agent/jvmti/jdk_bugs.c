#include "attach/agent/jvmti/jdk_bugs.h"

#include <stddef.h>
#include <stdio.h>

const char *jdk_bug_of_allocation_events(const char *version)
{
	unsigned feature = 0, interim = 0, update = 0;

	if (sscanf(version, "%u.%u.%u", &feature, &interim, &update) < 1)
		return NULL;
	if (feature == 19 || feature == 20 || (feature == 21 && interim == 0 && update < 13))
		return "JDK 19 to 21.0.12 may crash when a native thread attaches while "
		       "allocations are sampled (JDK-8319935); use 21.0.13 or 25";
	if (feature == 24)
		return "JDK 24 may hang when allocations are sampled (JDK-8346727); use 25";
	return NULL;
}
