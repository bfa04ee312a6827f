#include "daemon/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "daemon/inspector/inspector.h"
#include "daemon/serve/control.h"
#include "daemon/serve/http.h"

#define HTTP_DEFAULT      "127.0.0.1:9779"
#define STATE_DIR_DEFAULT "/var/lib/jxperf"
#define CONFIG_LINE_BYTES (PATH_MAX + 64)

/* From bin/jxperfd to the agent's directory. */
#define BUNDLE_FROM_BINARY "../lib/jxperf"

const char options_usage[] =
    "usage: jxperfd [--config FILE] [--check-config] [--socket PATH] [--http ADDR:PORT]\n"
    "               [--state-dir DIR] [--bundle DIR] [--user NAME] [--verbose] [--version]\n"
    "\n"
    "  --config FILE     read settings from FILE: lines of 'key = value'\n"
    "  --check-config    check the settings and exit\n"
    "  --socket PATH     control socket (" CONTROL_SOCKET_DEFAULT ")\n"
    "  --http ADDR:PORT  serve /metrics there (" HTTP_DEFAULT "); 'none' for no server\n"
    "  --state-dir DIR   for what outlives the daemon (" STATE_DIR_DEFAULT "); this version\n"
    "                    keeps its windows in memory only\n"
    "  --bundle DIR      the agent and the attach helper (" BUNDLE_FROM_BINARY " of the program)\n"
    "  --user NAME       started as root, let all but the broker become this user\n"
    "  --verbose         log more\n";

/* A setting that the file may hold too. */
struct setting {
	const char *key;
	char *value; /* NULL for the switch */
	size_t size;
	bool *flag;
	bool given; /* on the command line */
};

enum {
	SETTING_SOCKET,
	SETTING_HTTP,
	SETTING_STATE_DIR,
	SETTING_BUNDLE,
	SETTING_USER,
	SETTING_VERBOSE,
	SETTINGS
};

static void make_settings(struct options *o, struct setting settings[SETTINGS])
{
	struct setting all[SETTINGS] = {
	    [SETTING_SOCKET] = {.key = "socket", .value = o->socket, .size = sizeof(o->socket)},
	    [SETTING_HTTP] = {.key = "http", .value = o->http, .size = sizeof(o->http)},
	    [SETTING_STATE_DIR] = {.key = "state-dir",
				   .value = o->state_dir,
				   .size = sizeof(o->state_dir)},
	    [SETTING_BUNDLE] = {.key = "bundle", .value = o->bundle, .size = sizeof(o->bundle)},
	    [SETTING_USER] = {.key = "user", .value = o->user, .size = sizeof(o->user)},
	    [SETTING_VERBOSE] = {.key = "verbose", .flag = &o->verbose},
	};

	memcpy(settings, all, sizeof(all));
}

static int set_value(struct setting *s, const char *value, struct err *err)
{
	if (s->flag) {
		if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
			return err_set(err, EINVAL, "'%s' is 'yes' or 'no', not '%s'", s->key,
				       value);
		*s->flag = strcmp(value, "yes") == 0;
		return 0;
	}
	if (value[0] == '\0')
		return err_set(err, EINVAL, "'%s' needs a value", s->key);
	if (strlen(value) >= s->size)
		return err_set(err, EINVAL, "the value of '%s' is longer than %zu bytes", s->key,
			       s->size - 1);
	strcpy(s->value, value);
	return 0;
}

/* The text without blanks around it; cuts at the end in place. */
static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static int parse_line(struct setting *settings, char *line, struct err *err)
{
	char *text = trim(line);
	char *equals = strchr(text, '=');
	const char *key;

	if (text[0] == '\0' || text[0] == '#')
		return 0;
	if (!equals)
		return err_set(err, EINVAL, "'%s' is not 'key = value'", text);
	*equals = '\0';
	key = trim(text);
	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(settings[i].key, key) != 0)
			continue;
		return settings[i].given ? 0 : set_value(&settings[i], trim(equals + 1), err);
	}
	return err_set(err, EINVAL,
		       "unknown key '%s': use socket, http, state-dir, bundle, user or verbose",
		       key);
}

static int read_config(const char *path, struct setting *settings, struct err *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char line[CONFIG_LINE_BYTES];
	struct err reason;
	unsigned number = 0;
	int r;

	if (!file)
		return err_set_errno(err, errno, "cannot open '%s'", path);
	while (fgets(line, sizeof(line), file)) {
		number++;
		if (!strchr(line, '\n') && !feof(file))
			return err_set(err, EINVAL, "%s:%u: the line is too long", path, number);
		r = parse_line(settings, line, &reason);
		if (r < 0)
			return err_set(err, -r, "%s:%u: %s", path, number, reason.message);
	}
	return ferror(file) ? err_set_errno(err, EIO, "cannot read '%s'", path) : 0;
}

static int set_defaults(struct options *o, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	*o = (struct options){.client_fd = -1,
			      .broker_fd = -1,
			      .worker_fd = -1,
			      .inspect_fd = -1,
			      .inspect_gate = "",
			      .inspect_touch = "",
			      .watch_fd = -1};
	strcpy(o->socket, CONTROL_SOCKET_DEFAULT);
	strcpy(o->http, HTTP_DEFAULT);
	strcpy(o->state_dir, STATE_DIR_DEFAULT);
	if (n < 0)
		return err_set_errno(err, errno, "cannot read '/proc/self/exe'");
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (snprintf(o->bundle, sizeof(o->bundle), "%s/" BUNDLE_FROM_BINARY, self) >=
	    (int)sizeof(o->bundle))
		return err_set(err, ENAMETOOLONG, "the program's path is too long: use --bundle");
	if (realpath(o->bundle, self)) /* Without "..", to be read by people. */
		strcpy(o->bundle, self);
	return 0;
}

/* For the options that we give ourselves. */
static int parse_number(const char *text, int least, int *number, struct err *err)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < least || value > INT_MAX)
		return err_set(err, EINVAL, "'%s' is not a number of %d or more", text, least);
	*number = (int)value;
	return 0;
}

enum option_letter {
	OPTION_CONFIG = 'c',
	OPTION_CHECK = 'k',
	OPTION_CLIENT_FD = 'p',
	OPTION_VERSION = 'V',
	OPTION_HELP = 'h',
	OPTION_BROKER = 'b',
	OPTION_WORKER = 'w',
	OPTION_INSPECT_FD = 'i',
	OPTION_INSPECT_PID = 'j',
	OPTION_INSPECT_GATE = 'g',
	OPTION_INSPECT_TOUCH = 't',
	OPTION_WATCH_FD = 'y',
	OPTION_WATCH_PID = 'x',
	OPTION_SETTING = 256, /* + index of the setting */
};

static int parse_option(struct options *o, struct setting *settings, int letter, struct err *err)
{
	struct setting *s;

	switch (letter) {
	case OPTION_CONFIG:
		if (strlen(optarg) >= sizeof(o->config))
			return err_set(err, EINVAL, "the path of --config is too long");
		strcpy(o->config, optarg);
		return 0;
	case OPTION_CHECK:
		o->action = OPTIONS_CHECK_CONFIG;
		return 0;
	case OPTION_CLIENT_FD:
		return parse_number(optarg, 0, &o->client_fd, err);
	case OPTION_VERSION:
		o->action = OPTIONS_VERSION;
		return 0;
	case OPTION_HELP:
		o->action = OPTIONS_HELP;
		return 0;
	case OPTION_BROKER:
		return parse_number(optarg, 0, &o->broker_fd, err);
	case OPTION_WORKER:
		return parse_number(optarg, 0, &o->worker_fd, err);
	case OPTION_INSPECT_FD:
		return parse_number(optarg, 0, &o->inspect_fd, err);
	case OPTION_INSPECT_PID:
		return parse_number(optarg, INSPECT_LIST, &o->inspect_pid, err);
	case OPTION_INSPECT_GATE:
		o->inspect_gate = optarg;
		return 0;
	case OPTION_INSPECT_TOUCH:
		o->inspect_touch = optarg;
		return 0;
	case OPTION_WATCH_FD:
		return parse_number(optarg, 0, &o->watch_fd, err);
	case OPTION_WATCH_PID:
		return parse_number(optarg, 1, &o->watch_pid, err);
	}
	s = &settings[letter - OPTION_SETTING];
	s->given = true;
	return set_value(s, s->flag ? "yes" : optarg, err);
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
	static const struct option longs[] = {
	    {"config", required_argument, NULL, OPTION_CONFIG},
	    {"check-config", no_argument, NULL, OPTION_CHECK},
	    {"socket", required_argument, NULL, OPTION_SETTING + SETTING_SOCKET},
	    {"http", required_argument, NULL, OPTION_SETTING + SETTING_HTTP},
	    {"state-dir", required_argument, NULL, OPTION_SETTING + SETTING_STATE_DIR},
	    {"bundle", required_argument, NULL, OPTION_SETTING + SETTING_BUNDLE},
	    {"client-fd", required_argument, NULL, OPTION_CLIENT_FD},
	    {"user", required_argument, NULL, OPTION_SETTING + SETTING_USER},
	    {"verbose", no_argument, NULL, OPTION_SETTING + SETTING_VERBOSE},
	    {"version", no_argument, NULL, OPTION_VERSION},
	    {"help", no_argument, NULL, OPTION_HELP},
	    {"broker-fd", required_argument, NULL, OPTION_BROKER},
	    {"worker-fd", required_argument, NULL, OPTION_WORKER},
	    {"inspect-fd", required_argument, NULL, OPTION_INSPECT_FD},
	    {"inspect-pid", required_argument, NULL, OPTION_INSPECT_PID},
	    {"inspect-gate", required_argument, NULL, OPTION_INSPECT_GATE},
	    {"inspect-touch", required_argument, NULL, OPTION_INSPECT_TOUCH},
	    {"watch-fd", required_argument, NULL, OPTION_WATCH_FD},
	    {"watch-pid", required_argument, NULL, OPTION_WATCH_PID},
	    {0},
	};
	struct setting settings[SETTINGS];
	int letter, r;

	r = set_defaults(o, err);
	if (r < 0)
		return r;
	make_settings(o, settings);
	optind = 0; /* A fresh start for getopt, also when tests call more than once. */
	opterr = 0;
	while ((letter = getopt_long(argc, argv, "+:", longs, NULL)) != -1) {
		if (letter == '?')
			return err_set(err, EINVAL, "unknown option '%s': see jxperfd --help",
				       argv[optind - 1]);
		if (letter == ':')
			return err_set(err, EINVAL, "option '%s' needs a value", argv[optind - 1]);
		r = parse_option(o, settings, letter, err);
		if (r < 0)
			return r;
	}
	if (optind < argc)
		return err_set(err, EINVAL, "unexpected argument '%s': see jxperfd --help",
			       argv[optind]);
	if (o->config[0])
		r = read_config(o->config, settings, err);
	if (r < 0)
		return r;
	if (o->client_fd >= 0)
		o->socket[0] = '\0';
	if (o->client_fd >= 0 || strcmp(o->http, "none") == 0)
		o->http[0] = '\0';
	return o->http[0] ? http_check_address(o->http, err) : 0;
}
