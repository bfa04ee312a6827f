/* jxperf-attach: see attach/helper_proto.h. */
#include "attach/helper_proto.h"
#include "attach/session.h"
#include "common/cleanup.h"
#include "common/fd.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define USAGE          "usage: jxperf-attach --pid PID --bundle DIR [--timeout-ms N] [--result-fd FD]\n"
#define TIMEOUT_MS_MAX 600000
#define BACKSTOP_S     5 /* past the deadline, should a file system not answer */
#define EXIT_USAGE     2

struct options {
	long pid;
	const char *bundle;
	long timeout_ms;
	long result_fd; /* -1: print */
};

static bool parse_number(const char *text, long min, long max, long *value)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < min || v > max)
		return false;
	*value = v;
	return true;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	static const struct option table[] = {
	    {"pid", required_argument, NULL, 'p'},
	    {"bundle", required_argument, NULL, 'b'},
	    {"timeout-ms", required_argument, NULL, 't'},
	    {"result-fd", required_argument, NULL, 'r'},
	    {NULL, 0, NULL, 0},
	};
	bool good = true;
	int c;

	*o = (struct options){.timeout_ms = ATTACH_TIMEOUT_MS_DEFAULT, .result_fd = -1};
	while (good && (c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c == 'p')
			good = parse_number(optarg, 1, INT_MAX, &o->pid);
		else if (c == 'b')
			o->bundle = optarg;
		else if (c == 't')
			good = parse_number(optarg, 1, TIMEOUT_MS_MAX, &o->timeout_ms);
		else if (c == 'r')
			good = parse_number(optarg, 0, INT_MAX, &o->result_fd);
		else
			good = false;
	}
	return good && optind == argc && o->pid && o->bundle;
}

static int report(int result_fd, int agent, const struct err *err)
{
	struct attach_result result = {.error = agent < 0 ? -agent : 0};
	ssize_t n;

	if (agent < 0)
		strcpy(result.message, err->message);
	n = fd_send(result_fd, &result, sizeof(result), &agent, agent < 0 ? 0 : 1);
	return n == sizeof(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	_cleanup_close_ int agent = -1;
	struct err err = {""};
	struct options o;

	if (!parse_options(argc, argv, &o)) {
		(void)fputs(USAGE, stderr);
		return EXIT_USAGE;
	}
	(void)alarm((unsigned)(o.timeout_ms / 1000) + BACKSTOP_S); /* Ends us: never blocked. */
	agent = session_attach((pid_t)o.pid, o.bundle, (unsigned)o.timeout_ms, &err);
	if (o.result_fd >= 0)
		return report((int)o.result_fd, agent, &err);
	if (agent < 0) {
		(void)fprintf(stderr, "jxperf-attach: %s\n", err.message);
		return EXIT_FAILURE;
	}
	(void)printf("the agent of process %ld is connected\n", o.pid);
	return EXIT_SUCCESS;
}
