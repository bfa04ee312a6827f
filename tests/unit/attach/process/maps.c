#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "attach/process/maps.h"

#define AGENT "libjxperf-agent.so"

static struct maps scan(const char *text)
{
	struct maps m;

	maps_scan(&m, text, strlen(text), AGENT);
	return m;
}

static void a_hotspot_jvm_is_told_by_libjvm(void **state)
{
	struct maps m = scan("55d0c0000000-55d0c0001000 r--p 00000000 fe:00 12     /usr/bin/java\n"
			     "7fa73b400000-7fa73b651000 r--p 00000000 fe:00 318057                 "
			     "    /opt/jdk/lib/server/libjvm.so\n"
			     "7fa73b651000-7fa73c3a4000 r-xp 00251000 fe:00 318057                 "
			     "    /opt/jdk/lib/server/libjvm.so\n");

	(void)state;
	assert_true(m.libjvm);
	assert_false(m.openj9);
	assert_string_equal(m.libjvm_path, "/opt/jdk/lib/server/libjvm.so");
	assert_string_equal(m.agent_path, "");
	assert_string_equal(m.hsperfdata_path, "");
}

static void openj9_is_told_by_its_library_beside_libjvm(void **state)
{
	struct maps m = scan("1-2 r--p 0 fe:00 1 /j/lib/j9vm/libjvm.so\n"
			     "1-2 r--p 0 fe:00 2 /j/lib/default/libj9vm29.so\n");

	(void)state;
	assert_true(m.libjvm);
	assert_true(m.openj9);
}

static void musl_is_told_by_its_one_file(void **state)
{
	(void)state;
	assert_true(scan("1-2 r-xp 0 fe:00 2 /lib/ld-musl-x86_64.so.1\n").musl);
	assert_true(scan("1-2 r-xp 0 fe:00 2 /usr/lib/x86_64-linux-musl/libc.so\n").musl);
	assert_false(scan("1-2 r-xp 0 fe:00 2 /usr/lib/x86_64-linux-gnu/libc.so.6\n").musl);
	/* Anybody may read it. */
	assert_false(scan("1-2 r--p 0 fe:00 2 /lib/ld-musl-x86_64.so.1\n").musl);
}

static void other_programs_have_nothing(void **state)
{
	struct maps m = scan("1-2 r--p 0 fe:00 1 /usr/lib/libjvm.so.1\n"
			     "1-2 r--p 0 fe:00 1 /usr/lib/notlibjvm.so\n"
			     "1-2 rw-p 0 00:00 0 \n"
			     "1-2 rw-p 0 00:00 0 [heap]\n"
			     "1-2 rw-p 0 00:00 0 anon_inode:libjvm.so\n");

	(void)state;
	assert_false(m.libjvm);
}

static void a_deleted_agent_keeps_its_path(void **state)
{
	struct maps m = scan("1-2 r-xp 0 fe:00 1 /tmp/.jxperf-a b/" AGENT " (deleted)\n");

	(void)state;
	assert_string_equal(m.agent_path, "/tmp/.jxperf-a b/" AGENT);
}

/* The target would be told to load it. */
static void a_file_that_is_only_read_is_not_the_agent(void **state)
{
	struct maps m = scan("1-2 r--s 0 fe:00 1 /srv/upload/" AGENT "\n"
			     "1-2 rw-p 0 fe:00 1 /srv/upload/" AGENT "\n");

	(void)state;
	assert_string_equal(m.agent_path, "");
	m = scan("1-2 r--s 0 fe:00 1 /srv/upload/" AGENT "\n"
		 "1-2 r--p 0 fe:00 2 /opt/jxperf/" AGENT "\n"
		 "1-2 r-xp 0 fe:00 2 /opt/jxperf/" AGENT "\n");
	assert_string_equal(m.agent_path, "/opt/jxperf/" AGENT);
}

static void an_upgraded_jdk_is_still_a_jvm(void **state)
{
	struct maps m = scan("1-2 r-xp 0 fe:00 1 /j/lib/server/libjvm.so (deleted)");

	(void)state;
	assert_true(m.libjvm);
	assert_string_equal(m.libjvm_path, "/j/lib/server/libjvm.so");
}

/* Whatever has its name by now is another file. */
static void deleted_performance_data_have_no_path(void **state)
{
	struct maps m = scan("1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_a/17 (deleted)\n");

	(void)state;
	assert_string_equal(m.hsperfdata_path, "");
}

static void performance_data_is_told_by_directory_and_number(void **state)
{
	struct maps m = scan("1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_bob/x7\n"
			     "1-2 rw-s 0 fe:00 1 /tmp/other_bob/17\n"
			     "1-2 rw-s 0 fe:00 1 /17\n"
			     "1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_bob/17\n");

	(void)state;
	assert_string_equal(m.hsperfdata_path, "/tmp/hsperfdata_bob/17");
}

static void malformed_lines_are_skipped(void **state)
{
	static const char text[] = "\n\n   \n/libjvm.so\n1-2 r--p\n1-2 r--p 0 fe:00 1 /\n"
				   "1-2 r--p 0 fe:00 1 //\n1-2 r--p 0 fe:00 1 (deleted)\n"
				   "1-2 r--p 0 fe:00 1 / (deleted)\n";
	struct maps m = scan(text);

	(void)state;
	assert_false(m.libjvm);
	/* Cut anywhere, it is still only read inside its bounds. */
	for (size_t n = 0; n <= sizeof(text); n++)
		maps_scan(&m, text, n, AGENT);
	assert_false(m.libjvm);
}

static void a_path_with_a_nul_or_without_end_is_not_kept(void **state)
{
	static char text[MAPS_PATH_BYTES + 64];
	struct maps m;
	size_t n;

	(void)state;
	memset(text, 'a', sizeof(text));
	memcpy(text, "1-2 r--p 0 fe:00 1 /", 20);
	memcpy(text + sizeof(text) - 10, "/libjvm.so", 10);
	maps_scan(&m, text, sizeof(text), AGENT);
	assert_true(m.libjvm);
	assert_string_equal(m.libjvm_path, "");
	n = 40;
	memcpy(text + n - 10, "/libjvm.so", 10);
	text[25] = '\0';
	maps_scan(&m, text, n, AGENT);
	assert_true(m.libjvm);
	assert_string_equal(m.libjvm_path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_hotspot_jvm_is_told_by_libjvm),
	    cmocka_unit_test(openj9_is_told_by_its_library_beside_libjvm),
	    cmocka_unit_test(musl_is_told_by_its_one_file),
	    cmocka_unit_test(other_programs_have_nothing),
	    cmocka_unit_test(a_deleted_agent_keeps_its_path),
	    cmocka_unit_test(deleted_performance_data_have_no_path),
	    cmocka_unit_test(a_file_that_is_only_read_is_not_the_agent),
	    cmocka_unit_test(an_upgraded_jdk_is_still_a_jvm),
	    cmocka_unit_test(performance_data_is_told_by_directory_and_number),
	    cmocka_unit_test(malformed_lines_are_skipped),
	    cmocka_unit_test(a_path_with_a_nul_or_without_end_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
