#include "attach/agent/jvm/session_wake.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Global because the thread that makes a pause gets nothing of ours. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int event_fd = -1;

static void replace(int fd)
{
	(void)pthread_mutex_lock(&lock);
	if (event_fd >= 0)
		(void)close(event_fd); /* Carries no data. */
	event_fd = fd;
	(void)pthread_mutex_unlock(&lock);
}

int session_wake_open(void)
{
	int fd = event_fd < 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : event_fd;

	if (fd < 0)
		return -errno;
	if (fd == event_fd)
		return 0;
	replace(fd);
	return 0;
}

void session_wake_close(void)
{
	replace(-1);
}

int session_wake_fd(void)
{
	return event_fd;
}

void session_wake_taken(void)
{
	uint64_t count;

	if (event_fd >= 0 && read(event_fd, &count, sizeof(count)) < 0) {
		/* EAGAIN: nothing was sent. */
	}
}

void session_wake_send(void)
{
	const uint64_t one = 1;

	if (pthread_mutex_trylock(&lock) != 0)
		return;
	if (event_fd >= 0 && write(event_fd, &one, sizeof(one)) < 0) {
		/* EAGAIN: the counter is at its maximum, so the reader wakes anyway. */
	}
	(void)pthread_mutex_unlock(&lock);
}
