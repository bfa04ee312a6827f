#include "daemon/door/door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/broker/proto.h"
#include "daemon/broker/start.h"

#define LISTEN_FD 3 /* sd_listen_fds(3): the first one, and here the only one */

/* Between two lines of the log about connections, once there were a few: whoever may connect could
 * drive everything else out of it. */
#define AUDIT_PAUSE_NS (10 * NS_PER_S)
#define AUDIT_AT_ONCE  4

/* SERVING from the spawn of a broker until its engine has gone, LEAVING until the broker has. */
enum door_state {
	DOOR_OPEN,
	DOOR_SERVING,
	DOOR_LEAVING,
};

struct door {
	enum door_state state;
	int listener;
	int signals;
	uid_t engine_user;
	const char *engine_user_name;
	const struct startup *startup;
	pid_t broker;
	int broker_pidfd;
	int engine; /* the connection that the broker has, too: tells when the engine is gone */
	bool stopping;
	uint64_t audit_due_ns; /* when there may be so many lines again */
	unsigned audit_left;   /* lines until then */
	unsigned unsaid;       /* connections that none told of */
	bool told;             /* was that of the engine that is served? */
};

/* ---------------------------------------------------------------- who is there */

static int check_peer(const struct door *d, const struct ucred *peer, struct err *err)
{
	if (peer->uid != d->engine_user)
		return err_set(err, EPERM, "only user '%s' may connect to the broker",
			       d->engine_user_name);
	if (d->state != DOOR_OPEN)
		return err_set(err, EBUSY,
			       "the broker serves another jxperfd already: stop that one");
	return 0;
}

/* May a line be written? AUDIT_AT_ONCE may, then one after each pause, and all again after a pause
 * without any. */
static bool may_audit(struct door *d)
{
	uint64_t now = clock_monotonic_ns();

	if (now >= d->audit_due_ns)
		d->audit_left = d->unsaid > 0 ? 1 : AUDIT_AT_ONCE;
	if (d->audit_left == 0) {
		d->unsaid++;
		return false;
	}
	d->audit_left--;
	d->audit_due_ns = now + AUDIT_PAUSE_NS;
	return true;
}

static void audit(struct door *d, const struct ucred *peer, const char *reason)
{
	bool tell = may_audit(d);
	char others[64] = "";

	if (!reason)
		d->told = tell;
	if (!tell)
		return;
	if (d->unsaid > 0)
		(void)snprintf(others, sizeof(others), " (and %u more connections before it)",
			       d->unsaid);
	d->unsaid = 0;
	if (reason)
		log_warn("audit: action=connect uid=%u peer-pid=%d outcome=refused reason=\"%s\"%s",
			 peer->uid, peer->pid, reason, others);
	else
		log_info("audit: action=connect uid=%u peer-pid=%d outcome=ok%s", peer->uid,
			 peer->pid, others);
}

/* There is room in a connection that is new; a peer that has left needs no answer. */
static void say_why(int connection, int error, const struct err *err)
{
	struct broker_reply hello = {.operation = BROKER_HELLO, .error = error};

	strcpy(hello.message, err->message);
	(void)fd_send(connection, &hello, sizeof(hello), NULL, 0);
}

/* ---------------------------------------------------------------- the broker */

static int start_broker(struct door *d, int connection, struct err *err)
{
	pid_t pid;
	int r = broker_spawn(&pid, "/proc/self/exe", d->startup, connection);

	if (r < 0)
		return err_set_errno(err, -r, "cannot start a broker");
	r = (int)syscall(SYS_pidfd_open, pid, 0); /* Close-on-exec by itself. */
	if (r < 0) {
		r = err_set_errno(err, errno, "cannot watch a broker");
		(void)kill(pid, SIGKILL); /* Ours, and not reaped. */
		(void)waitpid(pid, NULL, 0);
		return r;
	}
	d->broker = pid;
	d->broker_pidfd = r;
	d->state = DOOR_SERVING;
	return 0;
}

static void engine_left(struct door *d)
{
	cleanup_close(&d->engine);
	d->engine = -1;
	d->state = DOOR_LEAVING;
}

/* The last copy of the connection goes with it, so that an engine that is still there sees it. */
static void broker_ended(struct door *d)
{
	int status = 0;

	(void)waitpid(d->broker, &status, 0); /* Its pidfd is readable: it has ended. */
	if (d->state == DOOR_SERVING)
		log_warn("the broker ended before its engine, %s %d",
			 WIFSIGNALED(status) ? "killed by signal" : "with exit status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	else if (d->told)
		log_info("the engine has gone, and all that was done for it");
	cleanup_close(&d->broker_pidfd);
	cleanup_close(&d->engine);
	d->broker_pidfd = d->engine = -1;
	d->broker = 0;
	d->state = DOOR_OPEN;
}

static void accept_engine(struct door *d)
{
	_cleanup_close_ int connection = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t size = sizeof(peer);
	struct err err;
	int r;

	if (connection < 0)
		return; /* It has left again; or we are out of memory, and it waits. */
	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return;
	r = check_peer(d, &peer, &err);
	if (r == 0)
		r = start_broker(d, connection, &err);
	audit(d, &peer, r < 0 ? err.message : NULL);
	if (r < 0)
		say_why(connection, -r, &err);
	else
		d->engine = TAKE_FD(connection);
}

/* ---------------------------------------------------------------- loop */

/* For the broker it is as if its engine had gone, and the engine sees the end, too. */
static void stop(struct door *d)
{
	d->stopping = true;
	if (d->state != DOOR_SERVING)
		return;
	(void)shutdown(d->engine, SHUT_RDWR); /* Fails only where it is over anyway. */
	engine_left(d);
}

/* One round. False when that was the last. */
static bool run_once(struct door *d)
{
	bool accepts = d->state != DOOR_LEAVING && !d->stopping;
	struct pollfd p[] = {
	    {.fd = d->signals, .events = POLLIN},
	    {.fd = accepts ? d->listener : -1, .events = POLLIN},
	    {.fd = d->broker_pidfd, .events = POLLIN},
	    {.fd = d->engine}, /* POLLHUP */
	};

	if (poll(p, sizeof(p) / sizeof(p[0]), -1) < 0)
		return errno == EINTR;
	if (p[0].revents && !d->stopping)
		stop(d);
	if (p[2].revents)
		broker_ended(d);
	else if (p[3].revents && d->state == DOOR_SERVING)
		engine_left(d);
	if (p[1].revents && !d->stopping && d->state != DOOR_LEAVING)
		accept_engine(d);
	return !d->stopping || d->state != DOOR_OPEN;
}

/* ---------------------------------------------------------------- start */

static bool is_number(const char *text, long wanted)
{
	char *end;

	return text && text[0] && strtol(text, &end, 10) == wanted && !*end;
}

static int socket_option(int option)
{
	socklen_t size = sizeof(int);
	int value = 0;

	return getsockopt(LISTEN_FD, SOL_SOCKET, option, &value, &size) < 0 ? -1 : value;
}

/* What the broker inherits of the environment does not have these. */
static int take_listener(struct err *err)
{
	bool ours = is_number(getenv("LISTEN_PID"), getpid()) && is_number(getenv("LISTEN_FDS"), 1);

	(void)unsetenv("LISTEN_PID"); /* Valid names: cannot fail. */
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (!ours || socket_option(SO_ACCEPTCONN) != 1 ||
	    socket_option(SO_TYPE) != SOCK_SEQPACKET || socket_option(SO_DOMAIN) != AF_UNIX)
		return err_set(err, EINVAL,
			       BROKER_OPTION_FOR " is for systemd, which hands it a socket: see "
						 "jxperf-broker.socket");
	(void)fd_set_nonblocking(LISTEN_FD, true); /* An open socket: these cannot fail. */
	(void)fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC);
	return LISTEN_FD;
}

static int take_signals(struct err *err)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM); /* Valid numbers: cannot fail. */
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGHUP, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_set_errno(err, errno, "cannot wait for signals") : fd;
}

static int open_door(struct door *d, struct err *err)
{
	const struct passwd *account = getpwnam(d->engine_user_name);

	if (!account)
		return err_set(err, EINVAL,
			       "no user '%s': create it (systemd-sysusers does, with the file that "
			       "jxperf installs)",
			       d->engine_user_name);
	d->engine_user = account->pw_uid;
	d->listener = take_listener(err);
	if (d->listener < 0)
		return d->listener;
	d->signals = take_signals(err);
	return d->signals < 0 ? d->signals : 0;
}

int broker_door_main(const char *user, const struct startup *startup)
{
	struct door d = {
	    .engine_user_name = user, .startup = startup, .broker_pidfd = -1, .engine = -1};
	struct err err;

	if (open_door(&d, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	log_info("ready: a broker for each jxperfd of user '%s' that connects", user);
	while (run_once(&d))
		;
	return EXIT_SUCCESS;
}
