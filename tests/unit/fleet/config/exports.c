#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fleet/config/config.h"
#include "tests/unit/support/config_expected.h"

TEST(a_destination_has_defaults_by_its_kind)
{
	struct config c;

	load(&c, "host-group: web\n"
		 "export:\n"
		 "  - {name: house, clickhouse: 'https://h:8443/'}\n"
		 "  - {name: collector, otlp: 'http://o:4318', otlp-version: '1.9'}\n"
		 "  - {name: pyro, pyroscope: 'http://[::1]:4040/base//'}\n"
		 "  - {name: files, directory: /var/profiles, keep-size: 5MiB, keep-files: 7}\n");
	assert_string_equal(c.texts.host_group, "web");
	assert_int_equal(c.export_count, 4);
	assert_int_equal(c.exports[0].kind, CONFIG_EXPORT_CLICKHOUSE);
	assert_string_equal(c.exports[0].address, "https://h:8443");
	assert_string_equal(c.exports[0].database, "jxperf");
	assert_int_equal(c.exports[0].timeout_ns, 60000000000);
	assert_int_equal(c.exports[0].batch_windows, 100);
	assert_int_equal(c.exports[0].batch_bytes, 16 << 20);
	assert_int_equal(c.exports[0].batch_age_ns, 10000000000);
	assert_int_equal(c.exports[0].patience_ns, 900000000000);
	assert_true(c.exports[0].compress);
	assert_true(c.exports[1].compress);
	assert_false(c.exports[2].compress);
	assert_false(c.exports[3].compress);
	assert_int_equal(c.exports[1].otlp_minor, 9);
	assert_int_equal(c.exports[1].request_bytes, 4 << 20);
	assert_string_equal(c.exports[2].address, "http://[::1]:4040/base");
	assert_int_equal(c.exports[3].kind, CONFIG_EXPORT_DIRECTORY);
	assert_int_equal(c.exports[3].keep_bytes, 5 << 20);
	assert_int_equal(c.exports[3].keep_files, 7);
	config_release(&c);
}

TEST(what_is_said_of_a_destination_is_taken)
{
	struct config c;

	load(&c, "export:\n"
		 "  - name: house\n"
		 "    clickhouse: http://h:8123\n"
		 "    database: waste\n"
		 "    user: jx\n"
		 "    password-file: /p\n"
		 "    headers-file: /h\n"
		 "    ca-file: /ca\n"
		 "    certificate-file: /c\n"
		 "    key-file: /k\n"
		 "    timeout: 5s\n"
		 "    patience: 2h\n"
		 "    compress: no\n"
		 "    request-size: 1MiB\n"
		 "    batch: {windows: 7, size: 2MiB, age: 1ms}\n");
	assert_string_equal(c.exports[0].database, "waste");
	assert_string_equal(c.exports[0].user, "jx");
	assert_string_equal(c.exports[0].password_file, "/p");
	assert_string_equal(c.exports[0].headers_file, "/h");
	assert_string_equal(c.exports[0].ca_file, "/ca");
	assert_string_equal(c.exports[0].certificate_file, "/c");
	assert_string_equal(c.exports[0].key_file, "/k");
	assert_int_equal(c.exports[0].timeout_ns, 5000000000);
	assert_int_equal(c.exports[0].patience_ns, 7200000000000);
	assert_false(c.exports[0].compress);
	assert_int_equal(c.exports[0].request_bytes, 1 << 20);
	assert_int_equal(c.exports[0].batch_windows, 7);
	assert_int_equal(c.exports[0].batch_bytes, 2 << 20);
	assert_int_equal(c.exports[0].batch_age_ns, 1000000);
	config_release(&c);
}

TEST(labels_are_names_and_texts)
{
	struct config c;

	load(&c, "export:\n"
		 "  - {name: a, otlp: 'http://o', labels: [team=shop, "
		 "'deployment.environment.name=a b=c']}\n"
		 "  - {name: b, pyroscope: 'http://p', labels: [team=Käse]}\n");
	assert_int_equal(c.exports[0].label_count, 2);
	assert_string_equal(c.exports[0].labels[0], "team=shop");
	assert_string_equal(c.exports[0].labels[1], "deployment.environment.name=a b=c");
	assert_int_equal(c.exports[1].label_count, 1);
	config_release(&c);
}

TEST(requests_to_this_host_are_compressed_only_if_that_is_said)
{
	static const struct {
		const char *address;
		bool compress;
	} cases[] = {{"http://localhost:8123", false}, {"http://127.0.0.1", false},
		     {"https://LOCALHOST/x", false},   {"http://[::1]:8123", false},
		     {"http://localhosts:8123", true}, {"http://[2001:db8::1]:8123", true},
		     {"http://12.7.0.1:8123", true},   {"http://h", true}};
	char text[256];
	struct config c;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(text, sizeof(text), "export: [{name: x, clickhouse: '%s'}]\n",
			       cases[i].address);
		load(&c, text);
		assert_int_equal(c.exports[0].compress, cases[i].compress);
		config_release(&c);
		(void)snprintf(text, sizeof(text),
			       "export: [{name: x, otlp: '%s', compress: yes}]\n",
			       cases[i].address);
		load(&c, text);
		assert_true(c.exports[0].compress);
		config_release(&c);
	}
}

/* A destination "x" with some keys, and what is wrong with one of them. */
static void assert_key_refused(const char *keys, const char *why)
{
	char text[512], line[512];

	(void)snprintf(text, sizeof(text), "export: [{name: x, %s}]\n", keys);
	struct config c;
	struct err err = {.message = ""};

	(void)snprintf(line, sizeof(line), "export[0]%s", why);
	assert_int_equal(config_parse(&c, "j.yaml", text, strlen(text), &err), -EINVAL);
	assert_non_null(strstr(err.message, line));
}

TEST(what_is_wrong_is_named_with_its_key)
{
	static const char *const cases[][2] = {
	    {"otlp: 'http://o', clickhouse: 'http://c'", ": use exactly one of"},
	    {"timeout: 5s", ": use exactly one of"},
	    {"clickhouse: 'h:8123'", ".clickhouse: 'h:8123' is not an address like"},
	    {"clickhouse: 'ftp://h'", ".clickhouse: 'ftp://h' is not an address"},
	    {"clickhouse: 'file:///etc/passwd'", ".clickhouse: 'file:///etc/passwd' is not"},
	    {"clickhouse: 'http://'", ".clickhouse: 'http://' is not"},
	    {"clickhouse: 'http:///x'", ".clickhouse: 'http:///x' is not"},
	    {"clickhouse: 'http://h/?a=b'", ".clickhouse: an address has no blanks, '?' or '#'"},
	    {"clickhouse: 'http://u:p@h'", ".clickhouse: an address has no user: use the keys"},
	    {"directory: profiles", ".directory: 'profiles' is not an absolute path"},
	    {"directory: /p, user: u", ".user: means nothing for 'directory'"},
	    {"otlp: 'http://o', database: d", ".database: means nothing for 'otlp'"},
	    {"pyroscope: 'http://o', otlp-version: '1.9'", ".otlp-version: means nothing"},
	    {"clickhouse: 'http://o', keep-files: 3", ".keep-files: means nothing"},
	    {"otlp: 'http://o', otlp-version: '2.0'", ".otlp-version: '2.0' is not a version"},
	    {"otlp: 'http://o', otlp-version: '1.9x'", ".otlp-version: '1.9x' is not"},
	    {"clickhouse: 'http://o', database: 'a b'", ".database: a database has letters"},
	    {"clickhouse: 'http://o', database: 2x", ".database: a database has letters"},
	    {"clickhouse: 'http://o', batch: {size: 1023KiB}",
	     ".batch.size: '1023KiB' is too little: use at least 1MiB"},
	    {"clickhouse: 'http://o', request-size: 1KiB",
	     ".request-size: '1KiB' is too little: use at least 64KiB"},
	    {"clickhouse: 'http://o', password-file: /p", ".password-file: there is no 'user'"},
	    {"clickhouse: 'http://o', key-file: /p", ".key-file: there is no 'certificate-file'"},
	    {"clickhouse: 'http://o', ca-file: p", ".ca-file: 'p' is not an absolute path"},
	    {"clickhouse: 'http://o', timeout: 1ms", ".timeout: use 1 s to 600 s"},
	    {"clickhouse: 'http://o', labels: [a=b]", ".labels: means nothing for 'clickhouse'"},
	    {"otlp: 'http://o', labels: [a]", ".labels[0]: 'a' is not NAME=TEXT"},
	    {"otlp: 'http://o', labels: ['a=']", ".labels[0]: 'a=' is not NAME=TEXT"},
	    {"otlp: 'http://o', labels: ['=b']", ".labels[0]: '' is no name of a label"},
	    {"otlp: 'http://o', labels: [a=b, 1a=b]", ".labels[1]: '1a' is no name of a label"},
	    {"pyroscope: 'http://o', labels: [a.b=c]", ".labels[0]: 'a.b' is no name of a label: "
						       "use letters, digits and '_'"},
	    {"pyroscope: 'http://o', labels: [host=c]",
	     ".labels[0]: 'host' is a name that windows"},
	    {"pyroscope: 'http://o', labels: [__a=c]", ".labels[0]: '__a' is a name that windows"},
	    {"otlp: 'http://o', labels: [jxperf.a=c]", ".labels[0]: 'jxperf.a' is a name that"},
	    {"otlp: 'http://o', labels: [a=b, a=c]", ".labels[1]: 'a' is there twice"},
	    {"otlp: 'http://o', labels: [\"a=b\\n\"]", ".labels[0]: a label has no control"},
	    {"clickhouse: 'http://o', patience: 2d", ".patience: use 1 s to 86400 s"},
	    {"directory: /p, patience: 1h", ".patience: means nothing for 'directory'"},
	    {"pyroscope: 'http://o', compress: yes", ".compress: means nothing for 'pyroscope'"},
	    {"clickhouse: 'http://o', batch: {windows: 1001}", ".batch.windows: '1001' is not"},
	    {"clickhouse: 'http://o', batch: {size: 1KiB}", ".batch.size: '1KiB' is too little"},
	    {"clickhouse: 'http://o', batch: {age: 2h}", ".batch.age: use 0 s to 3600 s"},
	    {"clickhouse: 'http://o', batch: {most: 2}", ".batch.most: there is no such key"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_key_refused(cases[i][0], cases[i][1]);
}

TEST(names_are_labels_and_each_is_there_once)
{
	assert_refused(
	    "export: [{name: 'a b', otlp: 'http://o'}]\n",
	    "j.yaml:1:11: export[0].name: a name has letters, digits, '.', '_' and '-' only");
	assert_refused("export: [{name: a, otlp: 'http://o'}, {name: a, otlp: 'http://p'}]\n",
		       "j.yaml:1:40: export[1].name: 'a' is there twice");
	assert_refused("host-group: 'a b'\n",
		       "j.yaml:1:1: host-group: a name has letters, digits, '.', '_' and '-' only");
}
