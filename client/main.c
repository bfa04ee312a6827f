/* jxperfctl: global options, and the table of commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "proto/kinds.h"
#include "proto/limits.h"

static const struct command *const commands[] = {
    &cmd_check,  &cmd_list,       &cmd_attach,  &cmd_wait,   &cmd_detach,
    &cmd_status, &cmd_threads,    &cmd_windows, &cmd_report, &cmd_diff,
    &cmd_reload, &cmd_fleet_plan, &cmd_subsume, &cmd_top,    &cmd_ui,
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* %s: the kinds. */
static const char options_help[] =
    "\n"
    "  --socket PATH  the daemon's control socket ($JXPERF_SOCKET, " CLIENT_SOCKET_DEFAULT ")\n"
    "  --json         print JSON\n"
    "  --version\n"
    "\n"
    "attach and report:\n"
    "  --format F     text, json, collapsed or pprof\n"
    "  --pairs N      show at most N rows of each list of a kind\n"
    "  --view V       pairs, fields, lines, objects, numa, cpu, subsuming, loops, quality or all:\n"
    "                 these parts (all)\n"
    "  --all-frames   text: also frames that both contexts of a pair have in common\n"
    "  --region R     list pairs of the heap, of stack, of other memory, or all (all)\n"
    "  --baseline WINDOW\n"
    "                 put loops first that take more of the CPU time than in that window\n"
    "  -o FILE        write the report to FILE; - is standard output\n"
    "attach:\n"
    "  --duration T   30s, 500ms, 2m (30s)\n"
    "  --kinds K,K    %s\n"
    "                 (all that work, without loops)\n"
    "  --sampler S    auto, pebs, ibs or clock (auto)\n"
    "  --period T     time between samples of a thread (the daemon's choice)\n"
    "  --budget P     most of the target's CPU time to spend (1%%)\n"
    "  --object-min-size SIZE\n"
    "                 track objects of at least SIZE, 512B, 1KiB, 2MiB or 0 (as most are)\n"
    "  --event NAME   sample accesses to objects with this hardware event (the sampler's own)\n"
    "  --open-through-daemon\n"
    "                 let the daemon open the target's perf events (when the target may not)\n"
    "  --timeout T    how long attaching may take, 1s to 10m (10s, or 25s where the processors are "
    "overloaded)\n"
    "  --force        attach also where there may not be room for the agent ('check PID' tells)\n"
    "  --background   print the window's id when it has started, and leave it to the daemon\n"
    "diff:\n"
    "  --app NAME     the application whose windows the periods are of\n"
    "  --format F     text or json\n"
    "  --rows N       show at most N differences\n"
    "  --fail-above P exit with 5 where a rise of more than P of the CPU time is shown, like 2%%\n"
    "  --operations A,B\n"
    "                 how many operations a second were done in each: compare their CPU time\n"
    "  -o FILE        as of report\n"
    "windows, and report without WINDOW:\n"
    "  --app NAME     of this application\n"
    "  --since TIME   that began since then: 24h ago, or \"2026-11-22 03:00\"\n"
    "  --until TIME   and before then\n"
    "  --limit N      windows: the latest N (200)\n"
    "fleet-plan:\n"
    "  --hosts FILE   a line for each application of a host: HOST APP COUNT\n"
    "  --config FILE  the daemons' configuration\n"
    "  --epochs N     how many epochs of each schedule\n"
    "  --schedule S   of this one only\n"
    "  --from T       from the epoch on that this time is in, seconds since 1970 (now)\n"
    "  --verbose      each window, too\n"
    "ui:\n"
    "  --port N       of loopback (any)\n"
    "  --open         open it in the browser\n"
    "subsume:\n"
    "  --format F     what FILE is: collapsed, pprof or jfr (as it looks)\n"
    "  --sample-type T\n"
    "                 what is counted; pprof: one of its sample types (the one it says)\n"
    "                 jfr: a type of event (jdk.ExecutionSample, or the obvious one)\n"
    "                 collapsed: what its numbers are (samples)\n"
    "  --column C     of collapsed stacks with two numbers, the count: 1, 2 or last\n"
    "  --height N     methods that subsume are higher (4)\n"
    "  --distance N   and further from each other method (4)\n"
    "  --top N        show at most N rows of each list (20)\n"
    "  --output-format F\n"
    "                 text, json, or collapsed: the tree of methods that subsume\n"
    "  -o FILE        as of report\n"
    "\n"
    "exit status: 0 done, 1 failed, 2 wrong usage; of attach and wait, with a report of what had\n"
    "arrived: 3 the window ended early (^C, detach, a stopped daemon), 4 its target ended; of "
    "diff\n"
    "with --fail-above: 5 a rise is shown\n";

struct global_options {
	const char *socket;
	bool json;
	bool help;
	bool version;
};

static const struct argument_option global_arguments[] = {
    {.name = "socket",
     .type = ARGUMENT_TEXT,
     .field = offsetof(struct global_options, socket),
     .noun = "a path"},
    {.name = "json", .field = offsetof(struct global_options, json)},
    {.name = "help", .letter = 'h', .field = offsetof(struct global_options, help)},
    {.name = "version", .field = offsetof(struct global_options, version)},
    {0},
};

/* stdout's errors are checked once, at the end. */
static void print_help(void)
{
	char kinds[KIND_OPTIONS_BYTES];

	(void)puts("usage: jxperfctl [--socket PATH] [--json] COMMAND [ARGUMENT...]\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		(void)printf("  %-10s %-21s %s\n", commands[i]->name, commands[i]->arguments,
			     commands[i]->help);
	(void)printf(options_help, kind_options(kinds, ", "));
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int run(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl",
						  .options = global_arguments,
						  .operands = "[COMMAND]",
						  .stop_at_operand = true};
	struct global_options o = {.socket = c->socket};
	const struct command *command;
	const char *name;
	struct err err;
	int first;
	int r = arguments_parse(&spec, argc, argv, &o, &name, &first, &err);

	if (r < 0)
		return command_fail(r, &err);
	c->socket = o.socket;
	c->json = o.json;
	if (o.version)
		return puts("jxperfctl " JXPERF_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (o.help || (name && strcmp(name, "help") == 0)) {
		print_help();
		return EXIT_SUCCESS;
	}
	if (!name)
		return command_fail(err_set(&err, EINVAL, "no command: see 'jxperfctl --help'"),
				    &err);
	command = find_command(name);
	if (!command)
		return command_fail(
		    err_set(&err, EINVAL, "unknown command '%s': see 'jxperfctl --help'", name),
		    &err);
	return command_run(command, c, argc - first, argv + first);
}

int main(int argc, char **argv)
{
	struct client client;
	struct err err;
	int status, r = client_init(&client, &err);

	if (r < 0)
		return command_fail(r, &err);
	status = run(&client, argc, argv);
	client_release(&client);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		(void)err_set_errno(&err, errno, "cannot write standard output");
		return command_fail(-EIO, &err);
	}
	return status;
}
