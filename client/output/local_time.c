#include "client/output/local_time.h"

#include <stdio.h>
#include <time.h>

#include "common/clock.h"

const char *local_time(char text[LOCAL_TIME_BYTES], uint64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / NS_PER_S);
	struct tm tm;

	if (unix_ns == 0 || !localtime_r(&t, &tm) ||
	    strftime(text, LOCAL_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		(void)snprintf(text, LOCAL_TIME_BYTES, "-"); /* Fits. */
	return text;
}
