/*
 * Stands in for the agent in tests of the attach helper and the broker: connects to the socket that
 * it is given and holds the connection until the other side closes it. What else it does is said by
 * environment variables of the JVM:
 *   FAKE_AGENT_RETURN    what Agent_OnAttach returns; connects only when it is 0
 *   FAKE_AGENT_SLEEP_MS  how long Agent_OnAttach takes
 *   FAKE_AGENT_SILENT    set: it never connects
 *   FAKE_AGENT_EARLY     how many times Agent_OnAttach says that the JVM is still starting
 */
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OPTION "socket="

static long setting(const char *name)
{
	const char *value = getenv(name);

	return value ? strtol(value, NULL, 10) : 0;
}

/* Counts in the environment: the JVM unloads a library whose Agent_OnAttach fails. */
static int too_early(void)
{
	long times = setting("FAKE_AGENT_EARLY");
	char left[24];

	(void)snprintf(left, sizeof(left), "%ld", times - 1);
	if (times > 0)
		(void)setenv("FAKE_AGENT_EARLY", left, 1);
	return times > 0;
}

static void *session(void *arg)
{
	int fd = (int)(long)arg;
	char c;

	while (read(fd, &c, 1) > 0)
		;
	(void)close(fd);
	return NULL;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	long result = setting("FAKE_AGENT_RETURN");
	pthread_t thread;
	int fd;

	(void)vm;
	(void)reserved;
	(void)usleep((useconds_t)(setting("FAKE_AGENT_SLEEP_MS") * 1000));
	if (too_early())
		return 105;
	if (result || getenv("FAKE_AGENT_SILENT"))
		return (jint)result;
	if (strncmp(options, OPTION, strlen(OPTION)) != 0)
		return 102;
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", options + strlen(OPTION));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return 104;
	if (pthread_create(&thread, NULL, session, (void *)(long)fd) != 0)
		return 104;
	(void)pthread_detach(thread);
	return 0;
}
