/*
 * A JVM whose agent is its own: what it sends to the daemon is the content of the file that
 * HOSTILE_SCRIPT names in its environment, then for ever, as fast as it goes, that of the file that
 * HOSTILE_FLOOD names, if any; and it never reads. Without a script it is the real agent,
 * HOSTILE_REAL, so that one daemon has both.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <jni.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OPTION "socket="

/* Until the other side closes. */
static void wait_without_reading(int fd)
{
	struct pollfd p = {.fd = fd};

	while (poll(&p, 1, -1) >= 0 && !(p.revents & (POLLHUP | POLLERR)))
		;
}

static bool send_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent < 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

/* False when there is nothing to send, or nobody to send it to. */
static bool send_file(int fd, const char *path)
{
	int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char bytes[65536];
	bool sent = false;
	ssize_t n;

	while ((n = read(file, bytes, sizeof(bytes))) > 0) {
		sent = send_all(fd, bytes, (size_t)n);
		if (!sent)
			break;
	}
	(void)close(file);
	return sent;
}

static void *session(void *arg)
{
	int fd = (int)(long)arg;

	(void)send_file(fd, getenv("HOSTILE_SCRIPT"));
	while (send_file(fd, getenv("HOSTILE_FLOOD")))
		;
	wait_without_reading(fd);
	(void)close(fd);
	return NULL;
}

static jint run_script(const char *options)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pthread_t thread;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strncmp(options, OPTION, strlen(OPTION)) != 0 ||
	    strlen(options + strlen(OPTION)) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, options + strlen(OPTION));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    pthread_create(&thread, NULL, session, (void *)(long)fd) != 0)
		return -1;
	return 0;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	jint (*real)(JavaVM *, char *, void *);
	void *library;

	if (getenv("HOSTILE_SCRIPT"))
		return run_script(options);
	library = dlopen(getenv("HOSTILE_REAL"), RTLD_NOW);
	if (!library)
		return -1;
	real = (jint(*)(JavaVM *, char *, void *))dlsym(library, "Agent_OnAttach");
	return real(vm, options, reserved);
}
