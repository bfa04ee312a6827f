#include "daemon/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/privilege.h"
#include "common/proc.h"
#include "daemon/broker/broker.h"
#include "daemon/door/door.h"
#include "daemon/serve/access.h"
#include "daemon/serve/control.h"
#include "daemon/http/http_address.h"

#define HTTP_DEFAULT      "127.0.0.1:9779"
#define STATE_DIR_DEFAULT "/var/lib/jxperf"

/* From bin/jxperfd to the agent's directory. */
#define BUNDLE_FROM_BINARY "../lib/jxperf"

const char options_usage[] =
    "usage: jxperfd [--config FILE] [--check-config] [--socket PATH] [--http ADDR:PORT]\n"
    "               [--state-dir DIR] [--bundle DIR] [--agent-path PATH] [--user NAME]\n"
    "               [--admin-group NAME] [--broker PATH] [--verbose] [--version]\n"
    "       jxperfd --broker-for USER [--config FILE] [--bundle DIR] [--verbose]\n"
    "\n"
    "  --config FILE     read settings from FILE: see jxperfd.yaml(5)\n"
    "  --check-config    check the settings and exit\n"
    "  --socket PATH     control socket (" CONTROL_SOCKET_DEFAULT ")\n"
    "  --http ADDR:PORT  serve /metrics there (" HTTP_DEFAULT "); 'none' for no server\n"
    "  --state-dir DIR   for what outlives the daemon (" STATE_DIR_DEFAULT "); 'none': windows\n"
    "                    are kept in memory only\n"
    "  --bundle DIR      the agent and the attach helper (" BUNDLE_FROM_BINARY " of the program)\n"
    "  --agent-path PATH  the agent's library in images of containers: see jxperfd.yaml(5)\n"
    "  --user NAME       started as root, let all but the broker become this user\n"
    "  --admin-group NAME  its members may profile every JVM, others only their own\n"
    "  --broker PATH     use the broker that listens there, instead of starting one\n"
    "  --broker-for USER be the one that listens, for engines of this user; the socket\n"
    "                    is systemd's, see jxperf-broker.socket\n"
    "  --verbose         log more\n";

#define FIELD(member) .field = offsetof(struct options, member)

/* A text that the file may hold, too. */
#define SETTING(member) \
	.type = ARGUMENT_COPY, FIELD(member), .size = sizeof(((struct options *)0)->member)

/* What the daemon gives its other processes, whose headers name the options with dashes. */
#define NAME(option) (&(option)[2])
#define OWN_NUMBER(option, member) \
	.name = NAME(option), .type = ARGUMENT_NUMBER, FIELD(member), .most = INT_MAX
#define OWN_TEXT(option, member) .name = NAME(option), .type = ARGUMENT_TEXT, FIELD(member)

static const struct argument_option arguments[] = {
    {.name = "socket", SETTING(socket), .noun = "a path"},
    {.name = "http", SETTING(http), .noun = "an address"},
    {.name = "state-dir", SETTING(state_dir), .noun = "a directory"},
    {.name = "bundle", SETTING(bundle), .noun = "a directory"},
    {.name = NAME(STARTUP_OPTION_AGENT_PATH), SETTING(agent_path), .noun = "a path"},
    {.name = "user", SETTING(user), .noun = "a user"},
    {.name = "admin-group", SETTING(admin_group), .noun = "a group"},
    {.name = "broker", SETTING(broker), .noun = "a path"},
    {.name = NAME(BROKER_OPTION_FOR), .type = ARGUMENT_TEXT, FIELD(broker_for), .noun = "a user"},
    {.name = "verbose", FIELD(verbose)},
    {.name = "config", .type = ARGUMENT_TEXT, FIELD(config), .noun = "a file"},
    {.name = "check-config", FIELD(check_config)},
    {.name = "version", FIELD(version)},
    {.name = "help", FIELD(help)},
    {OWN_NUMBER("--client-fd", client_fd)},
    {OWN_NUMBER(BROKER_OPTION_FD, broker_fd)},
    {OWN_NUMBER(BROKER_OPTION_CHILDREN_FD, children_fd)},
    {OWN_TEXT(STARTUP_OPTION_ENVIRONMENT, environment)},
    {OWN_TEXT(STARTUP_OPTION_POD_LABELS, pod_labels)},
    {0},
};

static int set_defaults(struct options *o, struct err *err)
{
	char self[PATH_MAX];
	int r;

	*o = (struct options){.client_fd = -1,
			      .environment = "",
			      .pod_labels = "",
			      .broker_fd = -1,
			      .children_fd = -1};
	strcpy(o->socket, CONTROL_SOCKET_DEFAULT);
	strcpy(o->http, HTTP_DEFAULT);
	strcpy(o->state_dir, STATE_DIR_DEFAULT);
	r = proc_beside_self(o->bundle, sizeof(o->bundle), BUNDLE_FROM_BINARY);
	if (r < 0)
		return err_set_errno(err, -r, "the program's own path is not known: use --bundle");
	if (realpath(o->bundle, self)) /* Without "..", to be read by people. */
		strcpy(o->bundle, self);
	return 0;
}

static const struct argument_option *find_option(const char *name)
{
	const struct argument_option *o = arguments;

	while (strcmp(o->name, name) != 0)
		o++;
	return o;
}

/* What the file says of options. */
static int take_file(struct options *o, const struct config *c, struct err *err)
{
	const struct {
		const char *name;
		const char *value;
	} settings[] = {
	    {"socket", c->texts.socket},
	    {"http", c->texts.http},
	    {"state-dir", c->texts.state_dir},
	    {"bundle", c->texts.bundle},
	    {"user", c->texts.user},
	    {"admin-group", c->texts.admin_group},
	    {"agent-path", c->texts.agent_path},
	};
	struct err why;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (settings[i].value &&
		    arguments_set(find_option(settings[i].name), o, settings[i].value, &why) < 0)
			return err_set(err, EINVAL, "%s: %s: %s", o->config, settings[i].name,
				       why.message);
	if (c->texts.verbose)
		o->verbose = *c->texts.verbose;
	return 0;
}

static int complete(struct options *o, struct err *err)
{
	if (o->client_fd >= 0)
		o->socket[0] = '\0';
	if (o->client_fd >= 0 || strcmp(o->http, "none") == 0)
		o->http[0] = '\0';
	if (o->client_fd >= 0 || strcmp(o->state_dir, "none") == 0)
		o->state_dir[0] = '\0';
	return o->http[0] ? http_address_check(o->http, err) : 0;
}

int options_parse(struct options *o, struct config *config, int argc, char **argv, struct err *err)
{
	static const struct argument_spec spec = {
	    .program = "jxperfd", .options = arguments, .operands = ""};
	int r = set_defaults(o, err);

	config_defaults(config);
	if (r == 0)
		r = arguments_parse(&spec, argc, argv, o, NULL, NULL, err);
	if (r == 0 && o->config) {
		r = config_load(config, o->config, err);
		if (r == 0)
			r = take_file(o, config, err);
		/* Once more: the command line wins. */
		if (r == 0)
			r = arguments_parse(&spec, argc, argv, o, NULL, NULL, err);
	}
	if (r == 0)
		r = complete(o, err);
	if (r < 0)
		config_release(config);
	return r;
}

/* The directory that path is in, or would be in. */
static bool has_parent(const char *path, char parent[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash && slash > path ? (size_t)(slash - path) : 1;
	struct stat info;

	(void)snprintf(parent, PATH_MAX, "%.*s", (int)length, slash ? path : ".");
	/* What we may not see may be there for who starts. */
	return stat(parent, &info) == 0 ? S_ISDIR(info.st_mode)
					: errno != ENOENT && errno != ENOTDIR;
}

static int check_directory(const char *key, const char *path, struct err *err)
{
	char parent[PATH_MAX];

	if (!path[0] || has_parent(path, parent))
		return 0;
	return err_set(err, EINVAL, "%s: there is no directory '%s': make it, or name another %s",
		       key, parent, key);
}

int options_check(const struct options *o, struct err *err)
{
	struct access_rules unused;
	struct stat info;
	int r = access_rules_set(&unused, o->admin_group, err);

	if (r == 0)
		r = privilege_check(o->user, err);
	if (r == 0 && strlen(o->socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		r = err_set(err, EINVAL, "socket: '%s' is too long for a socket: use a shorter one",
			    o->socket);
	/* The usual one's directory is made. */
	if (r == 0 && strcmp(o->socket, CONTROL_SOCKET_DEFAULT) != 0)
		r = check_directory("socket", o->socket, err);
	if (r == 0 && o->check_config)
		r = check_directory("state-dir", o->state_dir, err);
	if (r == 0 && o->check_config && stat(o->state_dir, &info) == 0 && !S_ISDIR(info.st_mode))
		r = err_set(err, EINVAL, "state-dir: '%s' is no directory: name another state-dir",
			    o->state_dir);
	return r < 0 ? -EINVAL : 0;
}

static const char *text_of(const struct options *o, const struct argument_option *row)
{
	return (const char *)o + row->field;
}

void options_changed(const struct options *running, const struct options *next,
		     struct reload_keys *keys)
{
	for (const struct argument_option *a = arguments; a->name; a++)
		if (a->type == ARGUMENT_COPY && a->field != offsetof(struct options, admin_group) &&
		    strcmp(text_of(running, a), text_of(next, a)) != 0)
			reload_keys_add(keys, a->name);
}
