#include "attach/agent/jvm/roster.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define QUEUE_MAX 512u

/* Global because the threads that tell get nothing of ours. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t queue[QUEUE_MAX];
static size_t queued;
static bool overflow;
static _Atomic bool listens;
static bool vm_dead;
static int event_fd = -1;

int roster_open(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	(void)pthread_mutex_lock(&lock);
	queued = 0;
	overflow = false;
	event_fd = fd;
	atomic_store(&listens, true);
	(void)pthread_mutex_unlock(&lock);
	return 0;
}

void roster_listen(bool listening)
{
	atomic_store(&listens, listening);
}

void roster_close(void)
{
	(void)pthread_mutex_lock(&lock);
	if (event_fd >= 0)
		(void)close(event_fd); /* Carries no data. */
	event_fd = -1;
	(void)pthread_mutex_unlock(&lock);
}

int roster_fd(void)
{
	return event_fd;
}

/* Under the lock, so that the descriptor cannot be closed and reused in between. */
static void wake_locked(void)
{
	uint64_t one = 1;
	ssize_t n = write(event_fd, &one, sizeof(one));

	(void)n; /* EAGAIN: the counter is at its maximum and the reader will wake anyway. */
}

void roster_add(pid_t tid)
{
	if (!atomic_load_explicit(&listens, memory_order_relaxed))
		return;
	(void)pthread_mutex_lock(&lock);
	if (event_fd >= 0) {
		bool first = queued == 0 && !overflow;

		if (queued < QUEUE_MAX)
			queue[queued++] = tid;
		else
			overflow = true;
		/* Whoever woke the reader before did so for this one, too. */
		if (first)
			wake_locked();
	}
	(void)pthread_mutex_unlock(&lock);
}

void roster_remove(pid_t tid)
{
	/* A thread's own start was told before its end, or not at all. */
	if (!atomic_load_explicit(&listens, memory_order_relaxed))
		return;
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < queued; i++)
		if (queue[i] == tid)
			queue[i--] = queue[--queued];
	(void)pthread_mutex_unlock(&lock);
}

void roster_vm_died(void)
{
	(void)pthread_mutex_lock(&lock);
	vm_dead = true; /* For good, and also between roster_close and the end of the session. */
	if (event_fd >= 0)
		wake_locked();
	(void)pthread_mutex_unlock(&lock);
}

size_t roster_take(pid_t *tids, size_t count, bool *overflowed)
{
	uint64_t drained;
	size_t n;

	(void)pthread_mutex_lock(&lock);
	if (read(event_fd, &drained, sizeof(drained)) < 0) {
		/* EAGAIN: nothing happened since the last call. */
	}
	n = queued < count ? queued : count;
	memcpy(tids, queue, n * sizeof(pid_t));
	memmove(queue, queue + n, (queued - n) * sizeof(pid_t));
	queued -= n;
	*overflowed = overflow;
	overflow = false;
	(void)pthread_mutex_unlock(&lock);
	return n;
}

bool roster_vm_is_dead(void)
{
	bool dead;

	(void)pthread_mutex_lock(&lock);
	dead = vm_dead;
	(void)pthread_mutex_unlock(&lock);
	return dead;
}
