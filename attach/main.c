/* jxperf-attach: see proto/helper.h. */
#include "attach/attach.h"
#include "common/arguments.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/proc.h"
#include "proto/helper.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define USAGE                                                                            \
	"usage: jxperf-attach --pid PID [--owner UID] --bundle DIR [--agent-path PATH] " \
	"[--timeout-ms N]"                                                               \
	" [--result-fd FD] [--probe|--force]\n"
#define BACKSTOP_S 5 /* past the deadline, should a file system not answer */
#define EXIT_USAGE 2

#ifdef __SANITIZE_ADDRESS__
/* The leak checker of a sanitizer build traces its own process, which one that gave up its
 * privileges does not allow. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

struct helper_options {
	int pid;
	int owner; /* PROC_ANY_UID is -1 */
	struct agent_files agent;
	int timeout_ms; /* 0: not given */
	int result_fd;  /* -1: print */
	bool probe;
	bool force;
};

#define FIELD(member) .field = offsetof(struct helper_options, member)

static bool parse_options(int argc, char **argv, struct helper_options *o)
{
	static const struct argument_option options[] = {
	    {.name = "pid", .type = ARGUMENT_NUMBER, FIELD(pid), .least = 1, .most = INT_MAX},
	    {.name = "owner",
	     .type = ARGUMENT_NUMBER,
	     FIELD(owner),
	     .least = INT_MIN,
	     .most = INT_MAX},
	    {.name = "bundle", .type = ARGUMENT_TEXT, FIELD(agent.bundle_dir)},
	    {.name = "agent-path", .type = ARGUMENT_TEXT, FIELD(agent.image_path)},
	    {.name = "timeout-ms",
	     .type = ARGUMENT_NUMBER,
	     FIELD(timeout_ms),
	     .least = 1,
	     .most = ATTACH_TIMEOUT_MS_MAX},
	    {.name = "result-fd", .type = ARGUMENT_NUMBER, FIELD(result_fd), .most = INT_MAX},
	    {.name = "probe", FIELD(probe)},
	    {.name = "force", FIELD(force)},
	    {0},
	};
	static const struct argument_spec spec = {
	    .program = "jxperf-attach", .options = options, .operands = ""};
	struct err err; /* Nobody types this line: the usage says enough. */

	*o = (struct helper_options){
	    .owner = (int)PROC_ANY_UID, .agent = {.image_path = ""}, .result_fd = -1};
	return arguments_parse(&spec, argc, argv, o, NULL, NULL, &err) == 0 && o->pid &&
	       o->agent.bundle_dir;
}

/* This is told to whoever started us. */
struct helper_outcome {
	int agent; /* socket, or -errno */
	bool unasked;
	char text[ERR_MESSAGE_MAX];
	char name[ATTACH_NAME_BYTES];
};

static void run(const struct helper_options *o, struct helper_outcome *out)
{
	unsigned timeout_ms = (unsigned)o->timeout_ms;
	uid_t owner = (uid_t)o->owner;
	pid_t pid = o->pid;
	struct err err = {""};

	if (proc_check_numbers(&err) < 0) {
		out->agent = -ESRCH;
	} else if (o->probe) {
		out->agent =
		    attach_probe(pid, owner, &o->agent, timeout_ms, out->text, &out->unasked, &err);
	} else {
		out->agent =
		    attach_to(pid, owner, &o->agent, timeout_ms, o->force, out->name, &err);
		(void)snprintf(out->text, sizeof(out->text), "the agent of process %d is connected",
			       pid);
	}
	if (out->agent < 0)
		strcpy(out->text, err.message);
}

static int report(const struct helper_options *o, const struct helper_outcome *out)
{
	struct attach_result result = {.error = out->agent < 0 ? -out->agent : 0,
				       .unasked = out->unasked};
	bool with_fd = out->agent >= 0 && !o->probe;
	ssize_t n;

	strcpy(result.message, out->text);
	strcpy(result.name, out->name);
	n = fd_send(o->result_fd, &result, sizeof(result), &out->agent, with_fd ? 1 : 0);
	return n == sizeof(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct helper_outcome out = {.agent = -1};
	unsigned longest_ms;
	struct helper_options o;

	if (!parse_options(argc, argv, &o)) {
		(void)fputs(USAGE, stderr);
		return EXIT_USAGE;
	}
	longest_ms = (unsigned)(o.timeout_ms ? o.timeout_ms : ATTACH_TIMEOUT_MS_OVERLOADED);
	(void)alarm(longest_ms / 1000 + BACKSTOP_S); /* Ends us: never blocked. */
	run(&o, &out);
	if (o.result_fd >= 0)
		return report(&o, &out);
	if (out.agent < 0) {
		(void)fprintf(stderr, "jxperf-attach: %s\n", out.text);
		return EXIT_FAILURE;
	}
	(void)puts(out.text);
	return EXIT_SUCCESS;
}
