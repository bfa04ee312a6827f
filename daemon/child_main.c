/*
 * jxperf-child: one process of the broker's, which looks into targets for it: a worker
 * (daemon/broker/worker.h), an inspector (daemon/inspector/inspector.h) or a watcher
 * (daemon/watcher/watcher.h).
 *
 * There is one for each JVM that is profiled and for each look at all JVMs, so it is a program of
 * its own: jxperfd would have the system's loader read the many libraries of the engine each time.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "common/arguments.h"
#include "common/log.h"
#include "common/proc.h"
#include "daemon/broker/worker.h"
#include "daemon/child/spawn.h"
#include "daemon/inspector/inspector.h"
#include "daemon/watcher/watcher.h"

#define EXIT_USAGE 2

/* One of the three descriptors is not -1. */
struct child_options {
	int worker_fd, inspect_fd, watch_fd;
	struct inspector_question question;
	int question_owner; /* as an int, as is the next one */
	int watch_owner;
	int watch_pid;
	struct check_reasons reasons;
	struct startup startup;
};

#define FIELD(member) .field = offsetof(struct child_options, member)

/* Their headers name the options with dashes. */
#define NUMBER(option, member) \
	.name = &(option)[2], .type = ARGUMENT_NUMBER, FIELD(member), .most = INT_MAX
#define TEXT(option, member) .name = &(option)[2], .type = ARGUMENT_TEXT, FIELD(member)

static const struct argument_option arguments[] = {
    {NUMBER(WORKER_OPTION_FD, worker_fd)},
    {NUMBER(INSPECTOR_OPTION_FD, inspect_fd)},
    {NUMBER(INSPECTOR_OPTION_PID, question.pid), .least = INSPECTOR_LIST},
    {NUMBER(INSPECTOR_OPTION_OWNER, question_owner), .least = INT_MIN},
    {TEXT(INSPECTOR_OPTION_ONLY, question.only)},
    {TEXT(INSPECTOR_OPTION_GATE, reasons.gate)},
    {TEXT(INSPECTOR_OPTION_TOUCH, reasons.touch)},
    {.name = &INSPECTOR_OPTION_JARS[2], .type = ARGUMENT_SWITCH, FIELD(question.jars)},
    {TEXT(STARTUP_OPTION_BUNDLE, startup.agent.bundle_dir)},
    {TEXT(STARTUP_OPTION_AGENT_PATH, startup.agent.image_path)},
    {TEXT(STARTUP_OPTION_ENVIRONMENT, startup.environment)},
    {TEXT(STARTUP_OPTION_POD_LABELS, startup.pod_labels)},
    {NUMBER(WATCHER_OPTION_FD, watch_fd)},
    {NUMBER(WATCHER_OPTION_PID, watch_pid), .least = 1},
    {NUMBER(WATCHER_OPTION_OWNER, watch_owner), .least = INT_MIN},
    {0},
};

static bool parse_options(int argc, char **argv, struct child_options *o)
{
	static const struct argument_spec spec = {
	    .program = CHILD_PROGRAM, .options = arguments, .operands = ""};
	struct err err; /* Nobody types this line. */

	*o = (struct child_options){
	    .worker_fd = -1,
	    .inspect_fd = -1,
	    .watch_fd = -1,
	    .question.only = "",
	    .reasons = {.gate = "", .touch = ""},
	    .startup = {.agent = {"", ""}, .environment = "", .pod_labels = ""}};
	return arguments_parse(&spec, argc, argv, o, NULL, NULL, &err) == 0 &&
	       (o->worker_fd >= 0 || o->inspect_fd >= 0 || o->watch_fd >= 0);
}

int main(int argc, char **argv)
{
	struct child_options o;
	struct err err;

	if (!parse_options(argc, argv, &o)) {
		(void)fputs(CHILD_PROGRAM " is started by jxperfd itself, not by hand\n", stderr);
		return EXIT_USAGE;
	}
	log_init("jxperfd", false);
	/* Else that of a descriptor. A valid number: cannot fail. */
	(void)prctl(PR_SET_NAME, CHILD_PROGRAM);
	if (o.inspect_fd >= 0) { /* Says itself when it cannot serve. */
		o.question.owner = (uid_t)o.question_owner;
		return inspector_main(o.inspect_fd, &o.question, &o.startup, &o.reasons);
	}
	if (proc_check_numbers(&err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	if (o.worker_fd >= 0)
		return worker_main(o.worker_fd);
	return watcher_main(o.watch_fd, o.watch_pid, (uid_t)o.watch_owner);
}
