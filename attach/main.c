/* jxperf-attach: see proto/helper.h. */
#include "attach/attach.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "proto/helper.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define USAGE                                                                           \
	"usage: jxperf-attach --pid PID --bundle DIR [--timeout-ms N] [--result-fd FD]" \
	" [--probe|--force]\n"
#define TIMEOUT_MS_MAX 600000
#define BACKSTOP_S     5 /* past the deadline, should a file system not answer */
#define EXIT_USAGE     2

#ifdef __SANITIZE_ADDRESS__
/* The leak checker of a sanitizer build traces its own process, which one that gave up its
 * privileges does not allow. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

struct options {
	long pid;
	const char *bundle;
	long timeout_ms;
	long result_fd; /* -1: print */
	bool probe;
	bool force;
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
	    {"probe", no_argument, NULL, 'P'},
	    {"force", no_argument, NULL, 'F'},
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
		else if (c == 'P')
			o->probe = true;
		else if (c == 'F')
			o->force = true;
		else
			good = false;
	}
	return good && optind == argc && o->pid && o->bundle;
}

/* What is told to whoever started us. */
struct outcome {
	int agent; /* socket, or -errno */
	char text[ERR_MESSAGE_MAX];
	char name[ATTACH_NAME_BYTES];
};

static void run(const struct options *o, struct outcome *out)
{
	unsigned timeout_ms = (unsigned)o->timeout_ms;
	pid_t pid = (pid_t)o->pid;
	struct err err = {""};

	if (o->probe) {
		out->agent = session_probe(pid, o->bundle, timeout_ms, out->text, &err);
	} else {
		out->agent = session_attach(pid, o->bundle, timeout_ms, o->force, out->name, &err);
		(void)snprintf(out->text, sizeof(out->text), "the agent of process %d is connected",
			       pid);
	}
	if (out->agent < 0)
		strcpy(out->text, err.message);
}

static int report(const struct options *o, const struct outcome *out)
{
	struct attach_result result = {.error = out->agent < 0 ? -out->agent : 0};
	bool with_fd = out->agent >= 0 && !o->probe;
	ssize_t n;

	strcpy(result.message, out->text);
	strcpy(result.name, out->name);
	n = fd_send((int)o->result_fd, &result, sizeof(result), &out->agent, with_fd ? 1 : 0);
	return n == sizeof(result) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct outcome out = {.agent = -1};
	struct options o;

	if (!parse_options(argc, argv, &o)) {
		(void)fputs(USAGE, stderr);
		return EXIT_USAGE;
	}
	(void)alarm((unsigned)(o.timeout_ms / 1000) + BACKSTOP_S); /* Ends us: never blocked. */
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
