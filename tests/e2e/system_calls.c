/*
 * System calls that a signal can end early, for SystemCalls.java (system_calls.py). Each waits on
 * something of its own: for a time in which nothing comes, or for a peer that is another row of the
 * table. One that fails with EINTR was interrupted; one that returns before its time, or with a
 * part of what it was to move, was early. Signals with SA_RESTART do that, too (signal(7)).
 */
#include <jni.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* So many that a call takes processor time before it waits. */
#define POLLED     256
#define SEMAPHORES 64

#define SHORT_NS  200000L
#define POLL_MS   1
#define SOCKET_US 2000 /* rounded up to the scheduler's ticks */

/* Many times what a pipe or a socket holds, and what its peer takes at once. */
#define WRITTEN_BYTES (1 << 20)
#define READ_BYTES    (1 << 16)

enum outcome {
	AS_IT_SHOULD,
	INTERRUPTED,
	EARLY,
	FAILED, /* errno says why */
};

struct site {
	const struct call *call;
	atomic_int tid; /* of the thread that makes the calls; 0: not yet */
	int fd;
	uint32_t word; /* a futex that nobody wakes */
	struct pollfd polled[POLLED];
	struct sembuf operations[SEMAPHORES];
	char *bytes;
};

struct call {
	const char *name;
	int (*prepare)(struct site *s); /* 0 or -1 */
	enum outcome (*once)(struct site *s);
};

/* What peers share, made when the library is loaded. */
static int pipe_ends[2], stream_ends[2], listener = -1;
static struct sockaddr_in listens_at;
static int semaphores = -1;

#define SITES_MOST 64
static struct site *sites[SITES_MOST];
static atomic_int site_count;

/* ---------------------------------------------------------------- outcomes */

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static enum outcome failure(void)
{
	return errno == EINTR ? INTERRUPTED : FAILED;
}

/* Of a call that was to wait for so long and then to say so: with 0, or with -1 and the error. */
static enum outcome waited(int64_t start_ns, int64_t least_ns, long result, int error)
{
	if (result < 0 && errno != error)
		return failure();
	if (result > 0 || (result == 0 && error))
		return EARLY;
	return now_ns() - start_ns < least_ns ? EARLY : AS_IT_SHOULD;
}

static enum outcome moved(ssize_t result, size_t least)
{
	if (result < 0)
		return failure();
	return (size_t)result < least ? EARLY : AS_IT_SHOULD;
}

/* ---------------------------------------------------------------- waits for a time */

/* Ends of pipes into which nobody writes. */
static int prepare_polled(struct site *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	for (int i = 0; i < POLLED; i++)
		s->polled[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
	return 0;
}

static enum outcome call_poll(struct site *s)
{
	int64_t start = now_ns();

	return waited(start, POLL_MS * 1000000L, poll(s->polled, POLLED, POLL_MS), 0);
}

static int prepare_epoll(struct site *s)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2];

	s->fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->fd < 0 || pipe2(ends, O_CLOEXEC))
		return -1;
	return epoll_ctl(s->fd, EPOLL_CTL_ADD, ends[0], &event);
}

static enum outcome call_epoll_wait(struct site *s)
{
	struct epoll_event events[4];
	int64_t start = now_ns();

	return waited(start, POLL_MS * 1000000L, epoll_wait(s->fd, events, 4, POLL_MS), 0);
}

static enum outcome call_nanosleep(struct site *s)
{
	struct timespec time = {.tv_nsec = SHORT_NS};
	int64_t start = now_ns();

	(void)s;
	return waited(start, SHORT_NS, nanosleep(&time, NULL), 0);
}

static int prepare_recv(struct site *s)
{
	struct timeval time = {.tv_usec = SOCKET_US};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	s->fd = ends[0];
	return setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

static enum outcome call_recv(struct site *s)
{
	char byte;
	int64_t start = now_ns();

	return waited(start, SOCKET_US * 1000L, recv(s->fd, &byte, 1, 0), EAGAIN);
}

static enum outcome call_futex(struct site *s)
{
	struct timespec time = {.tv_nsec = SHORT_NS};
	int64_t start = now_ns();
	long result = syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);

	return waited(start, SHORT_NS, result, ETIMEDOUT);
}

/* None of the semaphores can be had. */
static int prepare_semaphores(struct site *s)
{
	for (int i = 0; i < SEMAPHORES; i++)
		s->operations[i] = (struct sembuf){.sem_num = (unsigned short)i, .sem_op = -1};
	for (int i = 0; i < SEMAPHORES - 1; i++)
		s->operations[i].sem_op = 0; /* until it is 0, as it is */
	return semaphores < 0 ? -1 : 0;
}

static enum outcome call_semtimedop(struct site *s)
{
	struct timespec time = {.tv_nsec = SHORT_NS};
	int64_t start = now_ns();
	int result = semtimedop(semaphores, s->operations, SEMAPHORES, &time);

	return waited(start, SHORT_NS, result, EAGAIN);
}

/* ---------------------------------------------------------------- waits for a peer */

/* Without TIME_WAIT, which would use the ports up. */
static void close_at_once(int fd)
{
	struct linger at_once = {.l_onoff = 1};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	(void)close(fd);
}

/* The peer says so when it has accepted; so no more are under way than the listener takes. */
static enum outcome call_connect(struct site *s)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	enum outcome outcome;
	char byte;

	(void)s;
	if (fd < 0)
		return FAILED;
	if (connect(fd, (struct sockaddr *)&listens_at, sizeof(listens_at)))
		outcome = failure();
	else
		outcome = moved(recv(fd, &byte, 1, 0), 1);
	close_at_once(fd);
	return outcome;
}

static enum outcome call_accept(struct site *s)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	char byte = 0;

	(void)s;
	if (fd < 0)
		return failure();
	(void)send(fd, &byte, 1, MSG_NOSIGNAL); /* Fails where the peer has gone already. */
	while (recv(fd, &byte, 1, 0) < 0 && errno == EINTR) {
	}
	close_at_once(fd);
	return AS_IT_SHOULD;
}

static int prepare_bytes(struct site *s)
{
	s->bytes = calloc(1, WRITTEN_BYTES);
	return s->bytes ? 0 : -1;
}

static enum outcome call_pipe_write(struct site *s)
{
	return moved(write(pipe_ends[1], s->bytes, WRITTEN_BYTES), WRITTEN_BYTES);
}

/* Whatever there is will do. */
static enum outcome call_pipe_read(struct site *s)
{
	return moved(read(pipe_ends[0], s->bytes, READ_BYTES), 1);
}

static enum outcome call_send(struct site *s)
{
	return moved(send(stream_ends[1], s->bytes, WRITTEN_BYTES, 0), WRITTEN_BYTES);
}

static enum outcome call_recv_all(struct site *s)
{
	return moved(recv(stream_ends[0], s->bytes, WRITTEN_BYTES, MSG_WAITALL), WRITTEN_BYTES);
}

/* ---------------------------------------------------------------- for Java */

static const struct call calls[] = {
    {"poll", prepare_polled, call_poll},
    {"epoll_wait", prepare_epoll, call_epoll_wait},
    {"nanosleep", NULL, call_nanosleep},
    {"recv", prepare_recv, call_recv},
    {"futex", NULL, call_futex},
    {"semtimedop", prepare_semaphores, call_semtimedop},
    {"connect", NULL, call_connect},
    {"accept", NULL, call_accept},
    {"pipe_write", prepare_bytes, call_pipe_write},
    {"pipe_read", prepare_bytes, call_pipe_read},
    {"send", prepare_bytes, call_send},
    {"recv_all", prepare_bytes, call_recv_all},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static int make_listener(void)
{
	socklen_t size = sizeof(listens_at);

	listens_at.sin_family = AF_INET;
	listens_at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&listens_at, sizeof(listens_at)) ||
	    listen(listener, 64))
		return -1;
	return getsockname(listener, (struct sockaddr *)&listens_at, &size);
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	(void)vm, (void)reserved;
	semaphores = semget(IPC_PRIVATE, SEMAPHORES, 0600);
	if (pipe2(pipe_ends, O_CLOEXEC) || make_listener() ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream_ends))
		return JNI_ERR;
	return JNI_VERSION_1_8;
}

/* Semaphores outlive their process. */
__attribute__((destructor)) static void remove_semaphores(void)
{
	if (semaphores >= 0)
		(void)semctl(semaphores, 0, IPC_RMID);
}

JNIEXPORT jint JNICALL Java_SystemCalls_count(JNIEnv *jni, jclass class)
{
	(void)jni, (void)class;
	return CALLS;
}

JNIEXPORT jstring JNICALL Java_SystemCalls_name(JNIEnv *jni, jclass class, jint which)
{
	(void)class;
	return (*jni)->NewStringUTF(jni, calls[which].name);
}

/* For one thread, until the process ends; 0 where it cannot be had. One thread opens all. */
JNIEXPORT jlong JNICALL Java_SystemCalls_open(JNIEnv *jni, jclass class, jint which)
{
	struct site *s = calloc(1, sizeof(*s));

	(void)jni, (void)class;
	if (!s || atomic_load(&site_count) == SITES_MOST)
		return 0;
	s->call = &calls[which];
	if (s->call->prepare && s->call->prepare(s))
		return 0;
	sites[atomic_load(&site_count)] = s;
	atomic_fetch_add(&site_count, 1);
	return (jlong)(uintptr_t)s;
}

/* Calls so many times: how many were interrupted << 32 | early, or -errno. */
JNIEXPORT jlong JNICALL Java_SystemCalls_some(JNIEnv *jni, jclass class, jlong site, jint times)
{
	struct site *s = (struct site *)(uintptr_t)site;
	jlong outcomes[FAILED] = {0};

	(void)jni, (void)class;
	atomic_store(&s->tid, gettid());
	for (jint i = 0; i < times; i++) {
		enum outcome outcome = s->call->once(s);

		if (outcome == FAILED)
			return -errno;
		outcomes[outcome]++;
	}
	return outcomes[INTERRUPTED] << 32 | outcomes[EARLY];
}

/* ---------------------------------------------------------------- what is to be seen */

static void on_disturbance(int number)
{
	(void)number;
}

static void *disturb(void *arg)
{
	struct timespec time = {.tv_nsec = SHORT_NS / 2};

	while (1) {
		for (int i = 0; i < atomic_load(&site_count); i++) {
			int tid = atomic_load(&sites[i]->tid);

			if (tid)
				(void)tgkill(getpid(), tid, SIGRTMIN + 5);
		}
		(void)nanosleep(&time, NULL);
	}
	return arg;
}

/* From now on all threads of the table get signals that are handled as politely as can be. */
JNIEXPORT jboolean JNICALL Java_SystemCalls_disturb(JNIEnv *jni, jclass class)
{
	struct sigaction action = {.sa_handler = on_disturbance, .sa_flags = SA_RESTART};
	pthread_t thread;

	(void)jni, (void)class;
	return sigaction(SIGRTMIN + 5, &action, NULL) == 0 &&
	       pthread_create(&thread, NULL, disturb, NULL) == 0;
}
