/*
 * CLOCK_REALTIME as it would be had somebody set it: preloaded into a program, adds as many seconds
 * as the file that STEPPED_CLOCK names says, from one call to the next. Other clocks are left
 * alone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step_s(void)
{
	const char *path = getenv("STEPPED_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[32] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	(void)close(fd);
	return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int (*real)(clockid_t, struct timespec *) =
	    (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(clock, out);

	if (r == 0 && clock == CLOCK_REALTIME)
		out->tv_sec += step_s();
	return r;
}

time_t time(time_t *out)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return 0;
}
