#include "daemon/child/helper.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/child/spawn.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define HELPER           "jxperf-attach"
#define HELPER_GRACE_MS  3000 /* past its own deadline, for the cleanup */
#define PROBE_TIMEOUT_MS 3000
#define PROBE_GRACE_MS   1000 /* past that, to say so */
#define END_MS           2000 /* for the cleanup of one that is asked to end */
#define END_BUSY_MS      3000 /* more of it, once, on a machine that is overloaded */
#define REAP_MS          2000 /* between SIGKILL and the end of a process that does not hang */
#define NUMBER_BYTES     16

static int start(struct attach_helper *h, pid_t target, uid_t owner,
		 const struct agent_files *agent, unsigned timeout_ms, const char *option,
		 struct err *err)
{
	char path[PATH_MAX], target_text[NUMBER_BYTES], timeout_text[NUMBER_BYTES];
	char owner_text[NUMBER_BYTES];
	char *argv[] = {(char *)HELPER,
			(char *)"--pid",
			target_text,
			(char *)"--owner",
			owner_text,
			(char *)"--bundle",
			(char *)agent->bundle_dir,
			(char *)"--agent-path",
			(char *)agent->image_path,
			(char *)"--result-fd",
			(char *)CHILD_FD_TEXT,
			NULL, /* for three more, and the end */
			NULL,
			NULL,
			NULL};
	char **end = argv + sizeof(argv) / sizeof(argv[0]) - 4;
	pid_t pid;
	int socket, pidfd, r;

	(void)snprintf(target_text, sizeof(target_text), "%d", target);
	(void)snprintf(owner_text, sizeof(owner_text), "%d", (int)owner);
	(void)snprintf(timeout_text, sizeof(timeout_text), "%u", timeout_ms);
	if (option)
		*end++ = (char *)option;
	if (timeout_ms) {
		*end++ = (char *)"--timeout-ms";
		*end++ = timeout_text;
	}
	r = snprintf(path, sizeof(path), "%s/%s", agent->bundle_dir, HELPER);
	if (r < 0 || (size_t)r >= sizeof(path))
		return err_set(err, ENAMETOOLONG, "the path of the bundle is too long");
	r = child_spawn(&pid, &pidfd, &socket, SOCK_SEQPACKET, path, argv);
	if (r < 0)
		return err_set_errno(err, -r, "cannot run '%s'; reinstall jxperf", path);
	*h = (struct attach_helper){
	    .target = target,
	    .pid = pid,
	    .pidfd = pidfd,
	    .result_fd = socket,
	    .fd = -1,
	    .patient = !timeout_ms,
	    .due_ns = clock_monotonic_ns() +
		      ((timeout_ms ? timeout_ms : ATTACH_TIMEOUT_MS_DEFAULT) + HELPER_GRACE_MS) *
			  NS_PER_MS,
	};
	return 0;
}

int attach_helper_start(struct attach_helper *h, pid_t target, uid_t owner,
			const struct agent_files *agent, unsigned timeout_ms, bool force,
			struct err *err)
{
	return start(h, target, owner, agent, timeout_ms, force ? "--force" : NULL, err);
}

/* What it has put into the target's file systems only it removes, so it is not killed before it has
 * had time for that. */
static void ask_to_end(struct attach_helper *h)
{
	if (h->asked)
		return;
	h->asked = true;
	h->patient = true;
	h->due_ns = clock_monotonic_ns() + END_MS * NS_PER_MS;
	(void)kill(h->pid, SIGTERM); /* Not reaped yet, so it is ours and exists. */
}

void attach_helper_cancel(struct attach_helper *h)
{
	h->cancelled = true;
	if (h->result_fd >= 0) /* Else it has done all that it had to do. */
		ask_to_end(h);
}

static int describe_death(pid_t target, int status, struct err *err)
{
	if (WIFSIGNALED(status))
		return err_set(err, EIO,
			       "the attach helper for process %d was killed by signal %d (%s)",
			       target, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(err, EIO,
		       "the attach helper for process %d ended without a result (exit status %d)",
		       target, WEXITSTATUS(status));
}

bool attach_helper_reaped(struct attach_helper *h, int *status)
{
	pid_t r;

	if (h->pid == 0)
		return true;
	do {
		r = waitpid(h->pid, status, WNOHANG);
	} while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	cleanup_close(&h->pidfd);
	h->pidfd = -1;
	h->pid = 0;
	return true;
}

/* Takes what it sent, and ends it: it has nothing left to do, since it sends its result last, and
 * closes the socket by ending. A process that is ending already keeps its own status. */
static void take_result(struct attach_helper *h)
{
	size_t fds = 1;
	ssize_t n;

	/* Only a late helper has nothing to read here, not even end of file. */
	n = recv(h->result_fd, &h->result, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		h->result_bytes = -errno;
	else
		h->result_bytes =
		    fd_recv(h->result_fd, &h->result, sizeof(h->result), &h->fd, &fds);
	cleanup_close(&h->result_fd);
	h->result_fd = -1;
	(void)kill(h->pid, SIGKILL); /* Not reaped yet, so it is ours. */
	h->due_ns = clock_monotonic_ns() + REAP_MS * NS_PER_MS;
}

int attach_helper_fd(const struct attach_helper *h)
{
	return h->result_fd >= 0 ? h->result_fd : h->pidfd;
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do {
		r = poll(&p, 1, timeout_ms);
	} while (r < 0 && errno == EINTR);
	return r > 0;
}

/* Where it may be short of processors it has more time, once: as it gives its target, and once it
 * is asked to end, to clean up. */
static bool is_prolonged(struct attach_helper *h)
{
	uint64_t more_ms =
	    h->asked ? END_BUSY_MS : ATTACH_TIMEOUT_MS_OVERLOADED - ATTACH_TIMEOUT_MS_DEFAULT;

	if (!h->patient || !proc_machine_is_busy())
		return false;
	h->patient = false;
	h->due_ns += more_ms * NS_PER_MS;
	return true;
}

bool attach_helper_advance(struct attach_helper *h)
{
	bool is_late = h->result_fd >= 0 && !is_readable(h->result_fd, 0);

	if (is_late && is_prolonged(h))
		return false;
	if (is_late && !h->asked) {
		ask_to_end(h);
		return false;
	}
	if (h->result_fd >= 0)
		take_result(h);
	return is_readable(h->pidfd, 0) || clock_monotonic_ns() >= h->due_ns;
}

static bool has_succeeded(const struct attach_helper *h)
{
	return h->result_bytes == (ssize_t)sizeof(h->result) && h->result.error == 0;
}

/* 0 when it reported success. It ran as the target's user, so nothing is taken for granted. */
static int judge(struct attach_helper *h, struct err *err)
{
	struct attach_result *result = &h->result;
	bool was_late = h->asked && !h->cancelled;
	ssize_t n = h->result_bytes;
	int status = 0;

	if (!attach_helper_reaped(h, &status))
		return err_set(
		    err, ETIMEDOUT,
		    "the attach helper for process %d hangs and cannot be killed: a file "
		    "system that the process uses does not answer",
		    h->target);
	if (n == -EAGAIN || (was_late && !has_succeeded(h)))
		return err_set(err, ETIMEDOUT,
			       "the attach helper for process %d did not end in time and was "
			       "ended",
			       h->target);
	if (n <= 0)
		return describe_death(h->target, status, err);
	result->message[sizeof(result->message) - 1] = '\0';
	result->name[sizeof(result->name) - 1] = '\0';
	if (n != (ssize_t)sizeof(*result) || result->error < 0)
		return err_set(err, EPROTO, "the attach helper for process %d gave no valid result",
			       h->target);
	if (result->error)
		return err_set(err, result->error, "%s", result->message);
	return 0;
}

int attach_helper_finish(struct attach_helper *h, char name[ATTACH_NAME_BYTES], struct err *err)
{
	_cleanup_close_ int fd = TAKE_FD(h->fd);
	int r = judge(h, err);

	if (r < 0)
		return r;
	if (fd < 0)
		return err_set(err, EPROTO, "the attach helper for process %d gave no connection",
			       h->target);
	(void)snprintf(name, ATTACH_NAME_BYTES, "%s", h->result.name); /* Same size. */
	return TAKE_FD(fd);
}

int attach_helper_probe(pid_t target, uid_t owner, const struct agent_files *agent,
			char text[ERR_MESSAGE_MAX], bool *unasked, struct err *err)
{
	struct attach_helper h = {.result_fd = -1};
	int r = start(&h, target, owner, agent, PROBE_TIMEOUT_MS, "--probe", err);

	*unasked = false;
	if (r < 0)
		return r;
	/* One that is late has put nothing into the target. */
	(void)is_readable(h.result_fd, PROBE_TIMEOUT_MS + PROBE_GRACE_MS);
	take_result(&h);
	if (!attach_helper_advance(&h))
		(void)is_readable(h.pidfd, REAP_MS); /* As above. */
	r = judge(&h, err);
	cleanup_close(&h.fd);
	if (r == 0)
		strcpy(text, h.result.message);
	*unasked = r < 0 && h.result_bytes == (ssize_t)sizeof(h.result) && h.result.unasked;
	return r;
}
