#include "daemon/report/formats.h"

#include <time.h>

#include "common/clock.h"

void report_time(char text[REPORT_TIME_BYTES], uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	unsigned ms = (unsigned)(unix_ns % NS_PER_S / NS_PER_MS);
	struct tm utc = {0};
	size_t used;

	(void)gmtime_r(&seconds, &utc); /* Fails only for years beyond an int. */
	used = strftime(text, REPORT_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
	(void)snprintf(text + used, REPORT_TIME_BYTES - used, ".%03uZ", ms);
}
