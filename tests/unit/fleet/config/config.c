#include "tests/unit/support/test.h"

#include <math.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "fleet/config/config.h"
#include "fleet/config/schema.h"
#include "tests/unit/support/config_expected.h"

TEST(guards_have_thresholds_or_are_off)
{
	struct config c;

	load(&c, "guards: {cpu-pressure: 0.2, memory-pressure: 12.5%, load: 1.5, collector: off}\n"
		 "pause-file: /run/pause\nstore: {free-disk: off}\n");
	assert_true(c.guards.cpu_pressure == 0.2 && c.guards.memory_pressure == 0.125);
	assert_true(c.guards.io_pressure == 0.5);
	assert_true(c.guards.load == 1.5 && isinf(c.guards.collector));
	assert_string_equal(c.texts.pause_file, "/run/pause");
	assert_true(c.store.free_disk == 0);
	config_release(&c);
	config_defaults(&c);
	assert_true(isinf(c.guards.cpu_pressure));
	assert_string_equal(c.texts.pause_file, "/etc/jxperf/pause");
	assert_true(c.store.free_disk == 0.01);
	assert_refused("guards: {load: high}\n",
		       "j.yaml:1:10: guards.load: 'high' is not a number: use one like 4 or 1.5");
	assert_refused("guards: {load: 4e1}\n",
		       "j.yaml:1:10: guards.load: '4e1' is not a number: use one like 4 or 1.5");
	assert_refused(
	    "guards: {io-pressure: 50}\n",
	    "j.yaml:1:10: guards.io-pressure: '50' is ambiguous: use one like 1% or 0.01");
	assert_refused(
	    "guards: {memory-pressure: 1e1%}\n",
	    "j.yaml:1:10: guards.memory-pressure: '1e1%' is not a share: use one like 1% or 0.01");
	assert_refused("guards: {cpu-pressure: 0%}\n",
		       "j.yaml:1:10: guards.cpu-pressure: '0%' is not above 0% and at most 100%: "
		       "use one like 1%");
	assert_refused("guards: {collector: 101%}\n",
		       "j.yaml:1:10: guards.collector: '101%' is not above 0% and at most 100%: "
		       "use one like 1%");
	assert_refused("pause-file: pause\n",
		       "j.yaml:1:1: pause-file: 'pause' is not an absolute path");
}

TEST(an_empty_file_has_the_defaults)
{
	static const char *const texts[] = {"", "\n", "# nothing\n", "---\n", "{}\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct config c;

		load(&c, texts[i]);
		assert_null(c.texts.socket);
		assert_int_equal(c.windows_at_once, 4);
		assert_true(c.host_budget == 0.02);
		assert_int_equal(c.schedule_count, 0);
		config_release(&c);
	}
}

TEST(a_file_of_something_else_is_no_empty_one)
{
	assert_refused("web-1 shop 3\nweb-2 shop 4\n",
		       "j.yaml:1:1: keys and their values belong here");
	assert_refused("# hosts\n[]\n", "j.yaml:2:1: keys and their values belong here");
	assert_refused("~", "j.yaml:1:1: keys and their values belong here");
}

TEST(every_key_is_taken)
{
	struct config c;

	load(&c,
	     "socket: /run/x.sock\n"
	     "http: 127.0.0.1:9779\n"
	     "state-dir: /var/lib/jxperf\n"
	     "bundle: /opt/jxperf\n"
	     "agent-path: /opt/agent/libjxperf-agent.so\n"
	     "pod-labels: /etc/podinfo/labels\n"
	     "user: jxperf\n"
	     "verbose: true\n"
	     "jar-versions: no\n"
	     "admin-group: jxperf-admin\n"
	     "salt: pepper\n"
	     "host-id: h1\n"
	     "host-budget: 5%\n"
	     "windows-at-once: 7\n"
	     "windows-per-user: 3\n"
	     "environment: [SERVICE, REGION]\n"
	     "store: { keep: 7d, size: 64MiB, windows-per-app: 500 }\n"
	     "apps:\n"
	     "  - match: { main-class: \"org.h2.*\", user: db, environment: [\"REGION=eu-*\"] }\n"
	     "    app: h2\n"
	     "schedules:\n"
	     "  - name: night\n"
	     "    match: { app: \"h2*\" }\n"
	     "    every: 10m\n"
	     "    window: 20s\n"
	     "    kinds: [dead-store, objects]\n"
	     "    budget: 2%\n"
	     "    jitter: 50%\n"
	     "    warm-up: 5s\n"
	     "    host-fraction: 0.25\n"
	     "    jvm-fraction: 1.0\n"
	     "    from: \"22:30\"\n"
	     "    until: \"06:00\"\n"
	     "    failures: 3\n");
	assert_string_equal(c.texts.socket, "/run/x.sock");
	assert_string_equal(c.texts.http, "127.0.0.1:9779");
	assert_string_equal(c.texts.state_dir, "/var/lib/jxperf");
	assert_string_equal(c.texts.bundle, "/opt/jxperf");
	assert_string_equal(c.texts.agent_path, "/opt/agent/libjxperf-agent.so");
	assert_string_equal(c.texts.pod_labels, "/etc/podinfo/labels");
	assert_string_equal(c.texts.user, "jxperf");
	assert_true(c.texts.verbose && *c.texts.verbose);
	assert_true(c.texts.jar_versions && !*c.texts.jar_versions);
	assert_string_equal(c.texts.admin_group, "jxperf-admin");
	assert_string_equal(c.texts.salt, "pepper");
	assert_string_equal(c.texts.host_id, "h1");
	assert_true(c.host_budget == 0.05);
	assert_int_equal(c.windows_at_once, 7);
	assert_int_equal(c.windows_per_user, 3);
	assert_int_equal(c.texts.environment_count, 2);
	assert_true(c.store.keep_ns == 7 * 86400 * NS_PER_S);
	assert_true(c.store.bytes == 64 << 20);
	assert_int_equal(c.store.windows_per_app, 500);
	assert_int_equal(c.app_count, 1);
	assert_string_equal(c.apps[0].app, "h2");
	assert_string_equal(c.apps[0].match.main_class, "org.h2.*");
	assert_string_equal(c.apps[0].match.user, "db");
	assert_string_equal(c.apps[0].match.environment[0], "REGION=eu-*");
	assert_null(c.apps[0].match.pod);
	assert_int_equal(c.schedule_count, 1);
	assert_string_equal(c.schedules[0].name, "night");
	assert_string_equal(c.schedules[0].match.app, "h2*");
	assert_true(c.schedules[0].every_ns == 600 * NS_PER_S);
	assert_true(c.schedules[0].window_ns == 20 * NS_PER_S);
	assert_int_equal(c.schedules[0].kind_count, 2);
	assert_int_equal(c.schedules[0].kinds[1], JXP__KIND__KIND_OBJECTS);
	assert_true(c.schedules[0].budget == 0.02);
	assert_true(c.schedules[0].jitter == 0.5);
	assert_true(c.schedules[0].warm_up_ns == 5 * NS_PER_S);
	assert_true(c.schedules[0].host_fraction == 0.25);
	assert_true(c.schedules[0].jvm_fraction == 1);
	assert_int_equal(c.schedules[0].from_minute, 22 * 60 + 30);
	assert_int_equal(c.schedules[0].until_minute, 6 * 60);
	assert_int_equal(c.schedules[0].failures, 3);
	config_release(&c);
}

TEST(a_schedule_has_defaults)
{
	struct config c;

	load(&c, "schedules: [{name: all, match: {}, every: 10m}]\n");
	assert_true(c.schedules[0].window_ns == 30 * NS_PER_S);
	assert_int_equal(c.schedules[0].kind_count, 0);
	assert_true(c.schedules[0].budget == 0.01);
	assert_true(c.schedules[0].warm_up_ns == 60 * NS_PER_S);
	assert_int_equal(c.schedules[0].from_minute, CONFIG_ALWAYS);
	assert_true(c.schedules[0].host_fraction == 1);
	config_release(&c);
}

TEST(a_schedule_may_have_a_target_in_place_of_a_period)
{
	struct config c;

	load(&c, "schedules:\n"
		 "- {name: a, match: {}, pairs-per-day: 40000}\n"
		 "- {name: b, match: {}, pairs-per-day: 1, every: 1h, window: 1h, kinds: [objects, "
		 "silent-load]}\n"
		 "- {name: c, match: {}, every: 10m}\n");
	assert_int_equal(c.schedules[0].pairs_per_day, 40000);
	assert_true(c.schedules[0].every_ns == 600 * NS_PER_S);
	assert_true(c.schedules[1].every_ns == 3600 * NS_PER_S);
	assert_int_equal(c.schedules[2].pairs_per_day, 0);
	config_release(&c);
	assert_refused("schedules: [{name: a, match: {}}]\n",
		       "j.yaml:1:13: schedules[0]: 'every' or 'pairs-per-day' is missing");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: 0}]\n",
		       "j.yaml:1:34: schedules[0].pairs-per-day: '0' is not a number from 1 to "
		       "1000000000");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: many}]\n",
		       "j.yaml:1:34: schedules[0].pairs-per-day: 'many' is not a number from 1 to "
		       "1000000000");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: 9, jvm-fraction: 0.5}]\n",
		       "j.yaml:1:34: schedules[0].pairs-per-day: 'jvm-fraction' is set anew each "
		       "day for it: leave that out");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: 9, kinds: [cpu, loops]}]\n",
		       "j.yaml:1:34: schedules[0].pairs-per-day: none of 'kinds' has pairs: add "
		       "dead-store, silent-store or silent-load, or use 'every'");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: 9, every: 61m}]\n",
		       "j.yaml:1:52: schedules[0].every: use 1h or less with 'pairs-per-day'");
	assert_refused("schedules: [{name: a, match: {}, pairs-per-day: 9, window: 11m}]\n",
		       "j.yaml:1:52: schedules[0].window: a window is longer than 'every'");
	assert_refused("store: {keep: 2d}\nschedules: [{name: a, match: {}, pairs-per-day: 9}]\n",
		       "j.yaml:1:9: store.keep: use 3d or more: schedule 'a' has 'pairs-per-day', "
		       "which goes by the windows of the days before");
}

TEST(a_rule_may_give_a_version)
{
	struct config c;

	load(&c, "environment: [V]\napps:\n- {match: {}, app: a, version: \"{env:V}\"}\n"
		 "- {match: {}, app: b}\n");
	assert_string_equal(c.apps[0].version, "{env:V}");
	assert_null(c.apps[1].version);
	config_release(&c);
	assert_refused("apps: [{match: {}, app: a, version: \"{env:V}\"}]\n",
		       "j.yaml:1:28: apps[0].version: 'V' is not in the list 'environment' at the "
		       "top");
	assert_refused("apps: [{match: {}, app: a, version: \"1 2\"}]\n",
		       "j.yaml:1:28: apps[0].version: a name has letters, digits, '.', '_' and '-' "
		       "only");
}

TEST(a_name_has_placeholders_that_there_are)
{
	struct config c;

	load(&c, "pod-labels: /etc/podinfo/labels\nenvironment: [A]\napps:\n"
		 "- {match: {}, app: "
		 "\"{label:app.kubernetes.io/name}-{env:A}.{main-class}{unit}{image}\"}\n");
	config_release(&c);
	assert_refused("apps:\n- match: {}\n  app: \"{lable:app}\"\n",
		       "j.yaml:3:3: apps[0].app: there is no '{lable:app}': use {main-class}, "
		       "{unit}, {image}, "
		       "{label:NAME} or {env:NAME}");
	assert_refused("apps: [{match: {}, app: \"x{env:B}\"}]\n",
		       "j.yaml:1:20: apps[0].app: 'B' is not in the list 'environment' at the top");
	assert_refused(
	    "apps: [{match: {}, app: \"{label:app}\"}]\n",
	    "j.yaml:1:20: apps[0].app: 'pod-labels' at the top has to say where labels are");
	assert_refused("apps: [{match: {}, app: \"pay ments\"}]\n",
		       "j.yaml:1:20: apps[0].app: a name has letters, digits, '.', '_' and '-' "
		       "only");
	for (size_t i = 0; i < 6; i++) {
		static const char *const wrong[] = {"{unit",  "unit}",    "{}",
						    "{env:}", "{unit:x}", "{label}"};
		char text[64];
		struct err err;

		(void)snprintf(text, sizeof(text), "apps: [{match: {}, app: \"%s\"}]\n", wrong[i]);
		assert_int_equal(config_parse(&c, "j.yaml", text, strlen(text), &err), -EINVAL);
		assert_non_null(strstr(err.message, "j.yaml:1:20: apps[0].app: "));
	}
}

/* Each goes into a label of metrics; one that broke it would cost the whole scrape. */
TEST(a_schedules_name_is_fit_for_a_label)
{
	static const char *const wrong[] = {"'a\"b\\\\c'", "'a b'", "\"a\\nb\"", "'\303\266'"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[128];

		(void)snprintf(text, sizeof(text),
			       "schedules:\n- match: {}\n  every: 10m\n  name: %s\n", wrong[i]);
		assert_refused(text, "j.yaml:4:3: schedules[0].name: a name has letters, digits, "
				     "'.', '_' and '-' only");
	}
}

TEST(the_agent_of_images_has_its_name)
{
	assert_refused(
	    "agent-path: opt/libjxperf-agent.so\n",
	    "j.yaml:1:1: agent-path: 'opt/libjxperf-agent.so' is not an absolute path that ends in "
	    "'/libjxperf-agent.so'");
	assert_refused("agent-path: /opt/jxperf\n",
		       "j.yaml:1:1: agent-path: '/opt/jxperf' is not an absolute path that ends in "
		       "'/libjxperf-agent.so'");
}

TEST(what_is_wrong_is_named_with_its_place)
{
	assert_refused("socket: /x\nsokket: /y\n",
		       "j.yaml:2:1: sokket: there is no such key: see jxperfd.yaml(5)");
	assert_refused("schedules:\n  - name: a\n    every: 10m\n    matsh: {}\n",
		       "j.yaml:4:5: schedules[0].matsh: there is no such key: see jxperfd.yaml(5)");
	assert_refused("schedules:\n  - match: {}\n    every: 10m\n",
		       "j.yaml:2:5: schedules[0]: 'name' is missing");
	assert_refused("schedules:\n  - {name: a, match: {}, every: 10m}\n"
		       "  - name: b\n    match: {}\n    every: soon\n",
		       "j.yaml:5:5: schedules[1].every: 'soon' is not a time: use one like 30s, "
		       "5ms, 2m or 1h30m");
	assert_refused("schedules:\n- {name: a, match: {}, every: 10m, kinds: [objects, waste]}\n",
		       "j.yaml:2:53: schedules[0].kinds[1]: unknown kind 'waste': use dead-store, "
		       "silent-store, silent-load, objects, numa, cpu or loops");
	assert_refused("windows-at-once: 0\n",
		       "j.yaml:1:1: windows-at-once: '0' is not a number from 1 to 64");
	assert_refused("host-budget: 200%\n", "j.yaml:1:1: host-budget: '200%' is not above 0% and "
					      "at most 100%: use one like 1%");
	assert_refused("schedules: 7\n",
		       "j.yaml:1:1: schedules: Expecting SEQUENCE, got event: SCALAR");
}

TEST(what_contradicts_itself_is_refused)
{
	assert_refused("schedules: [{name: a, match: {}, every: 1s}]\n",
		       "j.yaml:1:34: schedules[0].every: use 10s or more");
	assert_refused("schedules: [{name: a, match: {}, every: 3651d}]\n",
		       "j.yaml:1:34: schedules[0].every: use 3650d or less");
	assert_refused("schedules: [{name: a, match: {}, every: 10s, window: 11s}]\n",
		       "j.yaml:1:46: schedules[0].window: a window is longer than 'every'");
	assert_refused("schedules:\n- {name: a, match: {}, every: 10m}\n"
		       "- {name: a, match: {}, every: 10m}\n",
		       "j.yaml:3:4: schedules[1].name: 'a' is there twice");
	assert_refused("schedules: [{name: a, match: {}, every: 10m, from: \"10:00\"}]\n",
		       "j.yaml:1:13: schedules[0]: 'from' and 'until' go together");
	assert_refused("schedules: [{name: a, match: {}, every: 10m, from: \"25:00\", "
		       "until: \"10:00\"}]\n",
		       "j.yaml:1:46: schedules[0].from: '25:00' is not a time of day: use one like "
		       "\"03:30\", in quotes");
	assert_refused("apps: [{match: {app: x}, app: y}]\n",
		       "j.yaml:1:17: apps[0].match.app: these rules give that name: match "
		       "something else");
	assert_refused("environment: [A]\napps: [{match: {environment: [\"B=1\"]}, app: y}]\n",
		       "j.yaml:2:31: apps[0].match.environment[0]: 'B=1' is not in the list "
		       "'environment' at the top");
}

TEST(a_list_of_variables_that_is_too_long_is_refused_where_it_is)
{
	char yaml[2048], name[601];

	memset(name, 'A', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(yaml, sizeof(yaml), "environment:\n  - %s\n  - %s\n", name, name);
	assert_refused(yaml, "j.yaml:3:5: environment[1]: the names up to here are longer than "
			     "1023 bytes in all");
	assert_refused("environment: [\"A,B\"]\n",
		       "j.yaml:1:15: environment[0]: 'A,B' is not the name of a variable");
}

TEST(what_is_no_yaml_is_refused)
{
	struct config c;
	struct err err;
	char nested[256] = "socket: ";

	assert_int_equal(config_parse(&c, "j.yaml", "a: [b\nc", 7, &err), -EINVAL);
	assert_non_null(strstr(err.message, "j.yaml:"));
	assert_int_equal(config_parse(&c, "j.yaml", "a: b\n\tc: d\n", 11, &err), -EINVAL);
	assert_int_equal(config_parse(&c, "j.yaml", "- a\n- b\n", 8, &err), -EINVAL);
	assert_int_equal(config_parse(&c, "j.yaml", "socket: &x /a\nhttp: *x\n", 23, &err),
			 -EINVAL);
	memset(nested + 8, '[', 100);
	memset(nested + 108, ']', 100);
	assert_int_equal(config_parse(&c, "j.yaml", nested, strlen(nested), &err), -EINVAL);
	assert_non_null(strstr(err.message, "nested too deeply"));
}

TEST(what_is_added_goes_behind_lists_and_before_values)
{
	static const char first[] = "socket: /a\nhost-budget: 5%\nstore: {keep: 7d}\n"
				    "environment: [TEAM]\n"
				    "apps: [{match: {user: a}, app: first}]\n"
				    "schedules: [{name: one, match: {}, every: 1h}]\n";
	static const char second[] = "socket: /b\nstore: {size: 2GiB}\nenvironment: [SHIFT]\n"
				     "apps: [{match: {user: a}, app: \"{env:TEAM}-{env:SHIFT}\"}]\n"
				     "schedules: [{name: two, match: {}, every: 2h}]\n";
	static const char twice[] = "schedules: [{name: one, match: {}, every: 1h}]\n";
	struct config c;
	struct err err;

	config_defaults(&c);
	assert_int_equal(config_add(&c, "a.yaml", first, strlen(first), &err), 0);
	assert_int_equal(config_add(&c, "b.yaml", second, strlen(second), &err), 0);
	assert_string_equal(c.texts.socket, "/b");
	assert_true(c.host_budget == 0.05);
	assert_int_equal(c.store.keep_ns, 7 * 86400 * NS_PER_S);
	assert_int_equal(c.store.bytes, UINT64_C(2) << 30);
	assert_int_equal(c.texts.environment_count, 2);
	assert_int_equal(c.app_count, 2);
	assert_string_equal(c.apps[0].app, "first");
	assert_int_equal(c.schedule_count, 2);
	assert_string_equal(c.schedules[0].name, "one");
	assert_int_equal(config_add(&c, "c.yaml", twice, strlen(twice), &err), -EINVAL);
	assert_string_equal(err.message, "c.yaml:1:14: schedules[0].name: 'one' is there twice");
	config_release(&c);
}

/* The keys of a text that differ from another's, as letters of their first. */
static void assert_changed(const char *before, const char *after, const char *keys)
{
	struct config a, b;
	char changed[CONFIG_KEYS + 1] = "";
	size_t count = 0;

	load(&a, before);
	load(&b, after);
	for (size_t i = 0; i < CONFIG_KEYS; i++)
		if (a.key_hashes[i] != b.key_hashes[i])
			changed[count++] = config_keys[i][1];
	assert_string_equal(changed, keys);
	assert_int_equal(a.hash != b.hash, keys[0] != '\0');
	config_release(&a);
	config_release(&b);
}

TEST(a_key_has_changed_when_what_it_says_has_and_not_how)
{
	static const char text[] = "salt: a\nschedules: [{name: one, match: {}, every: 1h}]\n";

	assert_changed(text, text, "");
	assert_changed(
	    text, "# Notes.\nsalt: 'a'\nschedules:\n - name: one\n   match: {}\n   every: 1h\n",
	    "");
	assert_changed(text, "salt: a\nschedules: [{name: one, match: {}, every: 2h}]\n", "c");
	assert_changed(text, "salt: b\nschedules: [{name: one, match: {user: x}, every: 1h}]\n",
		       "ca");
	assert_changed(text, "salt: a\n", "c");
	assert_changed("", text, "ca");
}

TEST(the_order_of_keys_says_nothing_and_that_of_lists_does)
{
	static const char text[] =
	    "salt: a\nschedules:\n - {name: one, match: {user: x, app: y}, every: 1h}\n"
	    " - {name: two, match: {}, every: 2h}\n";

	assert_changed(text,
		       "schedules:\n - {every: 1h, name: one, match: {app: y, user: x}}\n"
		       " - {name: two, match: {}, every: 2h}\nsalt: a\n",
		       "");
	assert_changed(text,
		       "salt: a\nschedules:\n - {name: two, match: {}, every: 2h}\n"
		       " - {name: one, match: {user: x, app: y}, every: 1h}\n",
		       "c");
	/* A value is of its key. */
	assert_changed(text,
		       "salt: a\nschedules:\n - {name: one, match: {user: x, app: y}, every: 2h}\n"
		       " - {name: two, match: {}, every: 1h}\n",
		       "c");
	assert_changed("salt: a\nhost-id: b\n", "salt: b\nhost-id: a\n", "ao");
}

TEST(the_order_of_files_says_something)
{
	static const char one[] = "salt: a\n", two[] = "salt: b\n";
	struct config c[2];
	struct err err;

	for (size_t i = 0; i < 2; i++) {
		const char *first = i ? two : one, *second = i ? one : two;

		config_defaults(&c[i]);
		assert_int_equal(config_add(&c[i], "a", first, strlen(first), &err), 0);
		assert_int_equal(config_add(&c[i], "b", second, strlen(second), &err), 0);
	}
	assert_int_not_equal(c[0].hash, c[1].hash);
	config_release(&c[0]);
	config_release(&c[1]);
}

TEST(a_file_that_is_not_there_is_named)
{
	struct config c;
	struct err err;

	assert_int_equal(config_load(&c, "/nonexistent/j.yaml", &err), -ENOENT);
	assert_non_null(strstr(err.message, "/nonexistent/j.yaml"));
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, CONFIG_BYTES_MAX);

	if (!file || !text)
		fail_msg("cannot read %s", path);
	(void)fread(text, 1, CONFIG_BYTES_MAX - 1, file);
	(void)fclose(file);
	return text;
}

/* As it is shipped, and with every line in force. */
TEST(the_example_is_right)
{
	char *text = read_text("systemd/jxperfd.yaml");
	struct config c;

	load(&c, text);
	assert_int_equal(c.schedule_count, 0);
	config_release(&c);
	for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (line[0] == '#' && line[1] != ' ' && line[1] != '\n')
			line[0] = ' ';
		else if (strncmp(line, "#  ", 3) == 0)
			line[0] = ' ';
	load(&c, text);
	assert_int_equal(c.app_count, 3);
	assert_int_equal(c.schedule_count, 1);
	assert_string_equal(c.schedules[0].name, "everything");
	assert_true(c.schedules[0].failures == 5);
	config_release(&c);
	free(text);
}

static void assert_named(const cyaml_schema_field_t *field, const char *text, const char *where)
{
	char key[64];

	for (; field->key; field++) {
		const cyaml_schema_value_t *value = &field->value;

		(void)snprintf(key, sizeof(key), "%s", field->key);
		if (!strstr(text, key))
			fail_msg("%s says nothing of '%s'", where, key);
		if (value->type == CYAML_SEQUENCE)
			value = value->sequence.entry;
		if (value->type == CYAML_MAPPING)
			assert_named(value->mapping.fields, text, where);
	}
}

TEST(example_and_manual_have_every_key)
{
	static const char *const paths[] = {"systemd/jxperfd.yaml", "docs/man/jxperfd.yaml.5"};

	for (size_t i = 0; i < 2; i++) {
		char *text = read_text(paths[i]);

		assert_named(schema_file.mapping.fields, text, paths[i]);
		free(text);
	}
}
