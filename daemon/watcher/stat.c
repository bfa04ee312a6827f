#include "daemon/watcher/stat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

#define STAT_BYTES 1024

int watcher_stat_read(int fd, struct watcher_stat *out)
{
	char text[STAT_BYTES];
	uint64_t minor, major, user, system, threads, start;
	const char *fields;
	ssize_t n;

	do
		n = pread(fd, text, sizeof(text) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	fields = strrchr(text, ')'); /* The name may hold anything. */
	if (!fields)
		return -EPROTO;
	/* Fields 3 (state) to 22 (starttime), proc_pid_stat(5). */
	if (sscanf(fields + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
		   " %" SCNu64 " %*d %*d %*d %*d %" SCNu64 " %*d %" SCNu64,
		   &minor, &major, &user, &system, &threads, &start) != 6)
		return -EPROTO;
	*out = (struct watcher_stat){
	    .cpu_ns = (user + system) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)),
	    .page_faults = minor + major,
	    .threads = threads,
	    .start_ticks = start,
	};
	return 0;
}
