/* jxperfd: puts the parts together, runs the loop, takes them apart. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/privilege.h"
#include "common/proc.h"
#include "daemon/broker/broker.h"
#include "daemon/broker/client.h"
#include "daemon/broker/start.h"
#include "daemon/door/door.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/pause.h"
#include "daemon/export/exports.h"
#include "daemon/hangups.h"
#include "machine/sampler_choice.h"
#include "daemon/notify.h"
#include "daemon/options.h"
#include "daemon/schedule/scheduler.h"
#include "daemon/schedule/survey.h"
#include "daemon/serve/audit.h"
#include "daemon/http/own_metrics.h"
#include "daemon/serve/control.h"
#include "daemon/http/endpoints.h"
#include "daemon/http/metrics_kept.h"
#include "daemon/http/metrics_sink.h"
#include "daemon/serve/private_link.h"
#include "daemon/serve/reload.h"
#include "daemon/store/keeper.h"
#include "daemon/watchdog.h"
#include "fleet/config/config.h"
#include "proto/limits.h"

/* For clients to read their last reply when the daemon stops. */
#define DRAIN_MS 2000

struct daemon {
	int argc; /* what it was started with */
	char **argv;
	struct options options;                     /* what runs, whatever was read since */
	char environment[CONFIG_ENVIRONMENT_BYTES]; /* likewise */
	char pod_labels[PATH_MAX];
	struct config configs[2];
	struct config *config; /* in force: one of these */
	uv_loop_t loop;
	uv_signal_t terminate;
	uv_signal_t interrupt;
	struct hangups hangups;
	uv_timer_t watchdog;
	uv_timer_t drain; /* while stopping, until clients must leave */
	struct broker_client *broker;
	struct broker_metrics broker_metrics;
	struct daemon_metrics own_metrics;
	struct metrics *metrics;
	struct metrics_sink metrics_sink;
	struct metrics_kept metrics_kept;
	struct endpoints *endpoints; /* NULL: none are served */
	struct engine *engine;
	struct keeper *keeper;   /* NULL: windows are in memory only */
	struct exports *exports; /* NULL: windows are sent nowhere */
	struct pause pause;
	struct scheduler *scheduler;
	struct control *control;
	struct private_link *link; /* of a private daemon */
	bool started;              /* everything else is there */
	bool stopping;
	int status;
};

static struct startup startup_of(const struct options *o)
{
	return (struct startup){.agent = {.bundle_dir = o->bundle, .image_path = o->agent_path},
				.environment = o->environment,
				.pod_labels = o->pod_labels,
				.children_fd = o->children_fd};
}

/* One that cannot profile, for want of a broker, is not ready. */
static void update_ready(const struct daemon *d)
{
	if (d->endpoints)
		endpoints_set_ready(d->endpoints,
				    d->started && !d->stopping && d->broker_metrics.connected);
}

static void on_drained(void *arg)
{
	struct daemon *d = arg;

	uv_stop(&d->loop);
}

/* A report that is still being written has no reader to wait for yet. */
static void on_drain_timeout(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	if (control_is_rendering(d->control))
		(void)uv_timer_start(timer, on_drain_timeout, DRAIN_MS, 0);
	else
		on_drained(d);
}

/* Every window has ended; the reports are on their way. */
static void on_stopped(void *arg)
{
	struct daemon *d = arg;

	/* Fails only for a handle that is closing. */
	(void)uv_timer_start(&d->drain, on_drain_timeout, DRAIN_MS, 0);
	control_drain(d->control, on_drained, d);
}

/* Every state of a run has a limit, so this always comes to an end. */
static void stop(struct daemon *d)
{
	if (d->stopping)
		return;
	d->stopping = true;
	update_ready(d);
	(void)notify_send("STOPPING=1"); /* Only information. */
	if (d->scheduler)
		scheduler_stop(d->scheduler);
	engine_stop(d->engine, on_stopped, d);
}

static void on_signal(uv_signal_t *handle, int number)
{
	log_info("stopping: %s", strsignal(number));
	stop(handle->data);
}

/* The names of the variables that inspectors may look at, as the broker gets them: "A,B". */
static void list_variables(const struct config *c, char text[CONFIG_ENVIRONMENT_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < c->texts.environment_count;
	     i++) /* They fit: fleet/config saw to it. */
		used += (size_t)snprintf(text + used, CONFIG_ENVIRONMENT_BYTES - used, "%s%s",
					 used > 0 ? "," : "", c->texts.environment[i]);
}

static void find_changes(const struct daemon *d, const struct options *o, const struct config *next,
			 struct reload_answer *answer)
{
	char environment[CONFIG_ENVIRONMENT_BYTES];
	const char *labels = next->texts.pod_labels ? next->texts.pod_labels : "";

	for (size_t i = 0; config_keys[i]; i++)
		if (d->config->key_hashes[i] != next->key_hashes[i])
			reload_keys_add(&answer->now, config_keys[i]);
	if (strcmp(d->options.admin_group, o->admin_group) != 0)
		reload_keys_add(&answer->now, "admin-group");
	if (d->options.verbose != o->verbose)
		reload_keys_add(&answer->now, "verbose");
	options_changed(&d->options, o, &answer->later);
	list_variables(next, environment);
	if (strcmp(d->environment, environment) != 0)
		reload_keys_add(&answer->later, "environment");
	if (strcmp(d->pod_labels, labels) != 0)
		reload_keys_add(&answer->later, "pod-labels");
}

/* 0, or -errno with everything as it was. */
static int take_configuration(struct daemon *d, const struct options *o, const struct config *next,
			      struct err *err)
{
	struct err ignored;
	int r = control_set_admin_group(d->control, o->admin_group, err);

	if (r < 0)
		return r;
	r = scheduler_configure(d->scheduler, next, err);
	if (r < 0) { /* The group was there a moment ago. */
		(void)control_set_admin_group(d->control, d->options.admin_group, &ignored);
		return r;
	}
	engine_set_user_limit(d->engine, next->windows_per_user);
	memcpy(d->options.admin_group, o->admin_group, sizeof(o->admin_group));
	d->options.verbose = o->verbose;
	log_init("jxperfd", o->verbose);
	return 0;
}

static struct database_limits store_limits(const struct config *c)
{
	return (struct database_limits){.age_ns = c->store.keep_ns,
					.bytes = c->store.bytes,
					.per_app = c->store.windows_per_app,
					.free_part = c->store.free_disk};
}

static void note_configuration(struct daemon *d)
{
	d->own_metrics.config_hash = d->config->hash;
	d->own_metrics.config_read_s = clock_s(clock_ns(CLOCK_REALTIME));
	d->own_metrics.config_failed = false;
}

/* An empty file is more often a mistake of whoever wrote it than what somebody wants. */
static int check_schedules(const struct daemon *d, const struct config *next, struct err *err)
{
	if (d->config->schedule_count == 0 || next->schedule_count > 0 || next->schedules_said)
		return 0;
	return err_set(
	    err, EINVAL,
	    "%s: there are no schedules any more, and there were %zu: say 'schedules: []' "
	    "if that is meant",
	    d->options.config, d->config->schedule_count);
}

/* What a start would read and check, too. */
static int read_anew(const struct daemon *d, struct options *o, struct config *next,
		     struct err *err)
{
	int r = options_parse(o, next, d->argc, d->argv, err);

	if (r < 0)
		return r;
	r = options_check(o, err);
	if (r == 0)
		r = check_schedules(d, next, err);
	if (r < 0)
		config_release(next);
	return r;
}

/* Until there is a destination, libcurl is not needed. The store is the queue. */
static void configure_exports(struct daemon *d, const struct config *next)
{
	struct err err;

	if (!d->exports && next->export_count == 0)
		return;
	if (!d->keeper) {
		log_error("windows are not sent anywhere: that takes a state directory, where they "
			  "wait");
		return;
	}
	if (!d->exports && exports_new(&d->exports, &d->loop, d->keeper, &err) < 0) {
		log_error("windows are not sent anywhere: %s", err.message);
		return;
	}
	exports_configure(d->exports, next);
	control_set_exports(d->control, d->exports);
	if (d->endpoints)
		endpoints_set_exports(d->endpoints, d->exports);
}

/* A file that is wrong changes nothing. Windows that run are not touched. */
static int reload(void *arg, struct reload_answer *answer, struct err *err)
{
	struct daemon *d = arg;
	struct config *next = &d->configs[d->config == d->configs];
	char words[ERR_MESSAGE_MAX];
	struct options o;
	int r;

	if (!d->options.config)
		return err_set(err, ENOENT,
			       "jxperfd was started without --config, so there is nothing to read");
	r = read_anew(d, &o, next, err);
	if (r == 0) {
		find_changes(d, &o, next, answer);
		r = take_configuration(d, &o, next, err);
		if (r < 0)
			config_release(next);
	}
	if (r < 0) {
		d->own_metrics.config_failed = true;
		log_error("the configuration is the old one: %s", err->message);
		return r;
	}
	if (d->keeper) {
		struct database_limits limits = store_limits(next);

		keeper_set_limits(d->keeper, &limits);
	}
	configure_exports(d, next);
	d->pause.file = next->texts.pause_file;
	config_release(d->config);
	d->config = next;
	note_configuration(d);
	reload_answer_say(answer, words);
	log_info("configuration read from '%s': %s", d->options.config, words);
	return 0;
}

static void on_hangup(void *arg)
{
	struct reload_answer answer = {0};
	struct err err;

	audit_configuration(NULL, reload(arg, &answer, &err) < 0 ? err.message : NULL);
}

static void on_broker_died(void *arg, const char *reason)
{
	struct daemon *d = arg;

	log_error("stopping: %s", reason);
	d->status = EXIT_FAILURE;
	stop(d);
}

/* It was one that listens. Windows end as if somebody had asked for it: it is no fault of theirs.
 */
static void on_broker_left(void *arg, const char *reason)
{
	struct daemon *d = arg;

	log_warn("%s", reason);
	broker_metrics_left(&d->broker_metrics);
	update_ready(d);
	engine_end_windows(d->engine, reason);
	scheduler_lost_broker(d->scheduler);
}

/* It has privileges that we never had. */
static void on_broker_came(void *arg, const struct broker_reply *hello)
{
	struct daemon *d = arg;

	sampler_tried(hello->sampler_error);
	log_info("connected to the broker");
	broker_metrics_came(&d->broker_metrics);
	update_ready(d);
	scheduler_has_broker(d->scheduler);
}

static void on_broker_event(void *arg, const struct broker_event *event)
{
	struct daemon *d = arg;

	broker_metrics_take(&d->broker_metrics, event);
	if (d->scheduler)
		scheduler_take_event(d->scheduler, event);
}

static void on_connected(void *arg, int fd)
{
	struct daemon *d = arg;

	control_adopt(d->control, fd);
}

static void on_client_gone(void *arg)
{
	stop(arg);
}

static int start_link(struct daemon *d, struct err *err)
{
	struct private_link_callbacks callbacks = {
	    .arg = d, .connected = on_connected, .gone = on_client_gone};

	return private_link_new(&d->link, &d->loop, d->options.client_fd, &callbacks, err);
}

/* Only information, except to the one who started us. */
static void tell_ready(struct daemon *d)
{
	if (notify_send("READY=1") < 0)
		log_warn("cannot tell systemd that the daemon is ready");
	if (d->link && private_link_ready(d->link) < 0)
		log_warn("cannot tell the client that the daemon is ready");
}

/* What a broker is started with: the options and, of JVMs' variables and labels, the file; and the
 * program of its children, whose descriptor is the caller's. 0 or -errno. */
static int configured_startup(const struct daemon *d, struct startup *out, struct err *err)
{
	*out = startup_of(&d->options);
	out->environment = d->environment;
	out->pod_labels = d->pod_labels;
	out->children_fd = broker_open_children(err);
	return out->children_fd < 0 ? out->children_fd : 0;
}

/* First of all: one of our own must inherit nothing. */
static int get_broker(struct daemon *d, struct err *err)
{
	const struct options *o = &d->options;
	struct broker_client_callbacks callbacks = {
	    .arg = d, .died = on_broker_died, .event = on_broker_event};
	struct startup startup;
	int r;

	if (o->broker[0]) {
		callbacks.died = on_broker_left;
		callbacks.came = on_broker_came;
		return broker_client_connect(&d->broker, &d->loop, o->broker, &callbacks, err);
	}
	r = configured_startup(d, &startup, err);
	if (r < 0)
		return r;
	r = broker_client_new(&d->broker, &d->loop, "/proc/self/exe", &startup, &callbacks, err);
	cleanup_close(&startup.children_fd);
	if (r == 0)
		broker_metrics_came(&d->broker_metrics);
	return r;
}

/* Profiling goes on without it: the daemon says that it keeps nothing, and why. */
static void start_keeping(struct daemon *d)
{
	struct keeper_settings settings = {.directory = d->options.state_dir,
					   .limits = store_limits(d->config)};
	struct window_sink sink;
	struct err err;
	int r;

	exports_destinations(d->config, &settings.destinations);
	if (d->link)
		engine_number_from(d->engine,
				   private_link_first_number(d->link, clock_ns(CLOCK_REALTIME)));
	if (!d->options.state_dir[0])
		return;
	r = keeper_new(&d->keeper, &d->loop, &settings, &err);
	if (r < 0) {
		log_error("windows are kept in memory only: %s%s", err.message,
			  r == -ENOSPC || r == -EDQUOT ? ": make room, and start jxperfd again"
						       : "");
		return;
	}
	engine_number_from(d->engine, keeper_first_number(d->keeper));
	if (metrics_kept_begin(&d->metrics_kept, d->keeper, &err) < 0)
		log_error("metrics begin at 0: %s", err.message);
	/* After the sink of the metrics: a batch has their sums with the window just accounted. */
	sink = keeper_sink(d->keeper);
	engine_add_sink(d->engine, &sink);
	if (d->endpoints)
		endpoints_set_keeper(d->endpoints, d->keeper);
	control_set_store(d->control, keeper_database(d->keeper));
	scheduler_set_store(d->scheduler, keeper_database(d->keeper));
}

/* A pause that cannot be read is one: whoever asked for it does not know that it is lost. */
static void start_pause(struct daemon *d)
{
	struct err err;

	d->pause.file = d->config->texts.pause_file;
	if (pause_load(&d->pause, d->options.state_dir, &err) < 0) {
		log_error("windows are paused until 'jxperfctl resume': %s", err.message);
		d->pause.on = true;
		strcpy(d->pause.reason, "what was kept of a pause cannot be read");
	} else if (pause_forbids(&d->pause, &err)) {
		log_warn("%s", err.message);
	}
	engine_set_pause(d->engine, &d->pause);
}

static int start_parts(struct daemon *d, struct err *err)
{
	struct options *o = &d->options;
	struct control_settings control = {.socket_path = o->socket,
					   .group_may_connect = geteuid() == 0 || o->broker[0],
					   .http = "",
					   .admin_group = o->admin_group,
					   .arg = d,
					   .reload = reload,
					   .connections_refused =
					       &d->own_metrics.connections_refused};
	struct window_sink sink;
	int r = get_broker(d, err);

	if (r < 0)
		return r;
	control.broker = d->broker;
	d->metrics = metrics_new();
	if (!d->metrics)
		return err_set(err, ENOMEM, "out of memory");
	r = engine_new(&d->engine, &d->loop, d->broker, &engine_limits_usual, err);
	if (r < 0)
		return r;
	engine_set_user_limit(d->engine, d->config->windows_per_user);
	start_pause(d);
	d->metrics_sink.metrics = d->metrics;
	d->metrics_kept.live = d->metrics;
	sink = metrics_sink(&d->metrics_sink);
	engine_add_sink(d->engine, &sink);
	r = scheduler_new(&d->scheduler, &d->loop, d->engine, d->broker, d->config,
			  &survey_pace_usual, err);
	if (r < 0)
		return r;
	control.scheduler = d->scheduler;
	if (o->broker[0])
		scheduler_lost_broker(d->scheduler); /* It is on its way. */
	if (o->http[0]) {
		const struct endpoints_sources sources = {.metrics = &d->metrics_kept,
							  .broker = &d->broker_metrics,
							  .daemon = &d->own_metrics,
							  .client = d->broker,
							  .engine = d->engine,
							  .scheduler = d->scheduler};

		r = endpoints_new(&d->endpoints, &d->loop, o->http, &sources, err);
		if (r < 0)
			return r;
		control.http = endpoints_address(d->endpoints);
	}
	r = control_new(&d->control, &d->loop, d->engine, &control, err);
	if (r == 0 && o->client_fd >= 0)
		r = start_link(d, err);
	if (r < 0)
		return r;
	sampler_try_once();
	/* What takes privileges is done. */
	r = privilege_drop(o->user, err);
	if (r < 0)
		return r;
	start_keeping(d);
	configure_exports(d, d->config);
	return 0;
}

static void start_handles(struct daemon *d)
{
	/* With a valid loop and signal number these fail only for want of memory or descriptors,
	 * which the parts started before would have met. */
	(void)uv_signal_init(&d->loop, &d->terminate);
	(void)uv_signal_init(&d->loop, &d->interrupt);
	(void)uv_timer_init(&d->loop, &d->drain);
	(void)uv_timer_init(&d->loop, &d->watchdog);
	d->terminate.data = d->interrupt.data = d->drain.data = d;
	(void)uv_signal_start(&d->terminate, on_signal, SIGTERM);
	(void)uv_signal_start(&d->interrupt, on_signal, SIGINT);
	hangups_start(&d->hangups, &d->loop, HANGUPS_PACE_MS, on_hangup, d);
}

static void close_handles(struct daemon *d)
{
	uv_close((uv_handle_t *)&d->terminate, NULL);
	uv_close((uv_handle_t *)&d->interrupt, NULL);
	hangups_close(&d->hangups);
	uv_close((uv_handle_t *)&d->drain, NULL);
	uv_close((uv_handle_t *)&d->watchdog, NULL);
}

static void free_parts(struct daemon *d)
{
	private_link_free(d->link);
	control_free(d->control);
	endpoints_free(d->endpoints);
	scheduler_free(d->scheduler);
	engine_free(d->engine);
	exports_free(d->exports);
	keeper_free(d->keeper);
	config_release(d->config);
	metrics_sink_release(&d->metrics_sink);
	metrics_kept_release(&d->metrics_kept);
	metrics_free(d->metrics);
	if (d->broker)
		broker_client_free(d->broker);
}

static int run(struct daemon *d)
{
	struct err err;

	if (uv_loop_init(&d->loop) < 0) {
		log_error("cannot make an event loop");
		return EXIT_FAILURE;
	}
	start_handles(d);
	if (start_parts(d, &err) < 0) {
		log_error("%s", err.message);
		d->status = EXIT_FAILURE;
	} else {
		/* The broker was started before, with the default action. */
		(void)signal(SIGPIPE, SIG_IGN); /* Fails only for an invalid number. */
		d->started = true;
		update_ready(d);
		log_info("ready: control socket '%s', http %s",
			 d->link ? "the client's own" : d->options.socket,
			 d->endpoints ? endpoints_address(d->endpoints) : "none");
		tell_ready(d);
		watchdog_start(&d->watchdog);
		(void)uv_run(&d->loop, UV_RUN_DEFAULT); /* Ends by uv_stop. */
	}
	free_parts(d);
	close_handles(d);
	(void)uv_run(&d->loop, UV_RUN_DEFAULT); /* Until every handle is closed. */
	(void)uv_loop_close(&d->loop);          /* Nothing is left that could be busy. */
	return d->status;
}

/* Before anything is opened that the broker must not inherit. */
static void prepare_private(int client_fd)
{
	/* ^C in its terminal is for the client, which asks for the report. */
	(void)setsid(); /* Fails only for the leader of a group, which is on its own. */
	/* The broker is not to hold it open; one that is none is found out later. */
	(void)fcntl(client_fd, F_SETFD, FD_CLOEXEC);
	(void)unsetenv("NOTIFY_SOCKET"); /* The client's. Fails only for a bad name. */
}

/* Its settings are its own, whatever engines say. */
static int keep_door(const struct daemon *d)
{
	struct startup startup;
	struct err err;
	int status;

	if (configured_startup(d, &startup, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	status = broker_door_main(d->options.broker_for, &startup);
	cleanup_close(&startup.children_fd);
	return status;
}

/* Which of its processes this one is. */
static int run_process(struct daemon *d)
{
	const struct options *o = &d->options;
	const struct startup startup = startup_of(o);
	struct err err;

	if (o->broker_fd >= 0) { /* Says itself to whoever waits for it when it cannot serve. */
		(void)fcntl(o->children_fd, F_SETFD,
			    FD_CLOEXEC); /* Not for those that it starts. */
		return broker_main(o->broker_fd, &startup, sigtrap_trial);
	}
	if (proc_check_numbers(&err) < 0) {
		log_error("%s", err.message);
		return EXIT_FAILURE;
	}
	if (o->broker_for)
		return keep_door(d);
	if (o->client_fd >= 0)
		prepare_private(o->client_fd);
	fd_raise_limit();
	return run(d);
}

static int print(const char *text)
{
	if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "jxperfd: cannot write standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

/* Usage and configuration alike: to start again does not help. */
static int wrong(const struct err *err)
{
	(void)fprintf(stderr, "jxperfd: %s\n", err->message);
	return 2;
}

/* Of a client's own daemon there is nothing to check. */
static bool is_engine(const struct options *o)
{
	return o->broker_fd < 0 && o->client_fd < 0 && !o->broker_for;
}

/* What a reload compares with. */
static void keep_settings(struct daemon *d, int argc, char **argv)
{
	const char *labels = d->config->texts.pod_labels;

	d->argc = argc;
	d->argv = argv;
	list_variables(d->config, d->environment);
	(void)snprintf(d->pod_labels, sizeof(d->pod_labels), "%s", labels ? labels : "");
	note_configuration(d);
}

int main(int argc, char **argv)
{
	static struct daemon d = {.config = d.configs};
	struct err err;

	if (options_parse(&d.options, d.config, argc, argv, &err) < 0)
		return wrong(&err);
	if (d.options.version)
		return print("jxperfd " JXPERF_VERSION "\n");
	if (d.options.help)
		return print(options_usage);
	if ((d.options.check_config || is_engine(&d.options)) &&
	    options_check(&d.options, &err) < 0)
		return wrong(&err);
	if (d.options.check_config)
		return EXIT_SUCCESS;
	keep_settings(&d, argc, argv);
	log_init("jxperfd", d.options.verbose);
	return run_process(&d);
}
