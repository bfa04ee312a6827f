#include "tests/unit/support/test.h"

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

TEST(a_hotspot_jvm_is_told_by_libjvm)
{
	struct maps m = scan("55d0c0000000-55d0c0001000 r--p 00000000 fe:00 12     /usr/bin/java\n"
			     "7fa73b400000-7fa73b651000 r--p 00000000 fe:00 318057                 "
			     "    /opt/jdk/lib/server/libjvm.so\n"
			     "7fa73b651000-7fa73c3a4000 r-xp 00251000 fe:00 318057                 "
			     "    /opt/jdk/lib/server/libjvm.so\n");

	assert_true(m.libjvm);
	assert_false(m.openj9);
	assert_string_equal(m.libjvm_path, "/opt/jdk/lib/server/libjvm.so");
	assert_string_equal(m.agent_path, "");
	assert_string_equal(m.hsperfdata_path, "");
}

TEST(openj9_is_told_by_its_library_beside_libjvm)
{
	struct maps m = scan("1-2 r--p 0 fe:00 1 /j/lib/j9vm/libjvm.so\n"
			     "1-2 r--p 0 fe:00 2 /j/lib/default/libj9vm29.so\n");

	assert_true(m.libjvm);
	assert_true(m.openj9);
}

TEST(musl_is_told_by_its_one_file)
{
	assert_true(scan("1-2 r-xp 0 fe:00 2 /lib/ld-musl-x86_64.so.1\n").musl);
	assert_true(scan("1-2 r-xp 0 fe:00 2 /usr/lib/x86_64-linux-musl/libc.so\n").musl);
	assert_false(scan("1-2 r-xp 0 fe:00 2 /usr/lib/x86_64-linux-gnu/libc.so.6\n").musl);
	/* Anybody may read it. */
	assert_false(scan("1-2 r--p 0 fe:00 2 /lib/ld-musl-x86_64.so.1\n").musl);
}

TEST(other_programs_have_nothing)
{
	struct maps m = scan("1-2 r--p 0 fe:00 1 /usr/lib/libjvm.so.1\n"
			     "1-2 r--p 0 fe:00 1 /usr/lib/notlibjvm.so\n"
			     "1-2 rw-p 0 00:00 0 \n"
			     "1-2 rw-p 0 00:00 0 [heap]\n"
			     "1-2 rw-p 0 00:00 0 anon_inode:libjvm.so\n");

	assert_false(m.libjvm);
}

TEST(a_deleted_agent_keeps_its_path)
{
	struct maps m = scan("1-2 r-xp 0 fe:00 1 /tmp/.jxperf-a b/" AGENT " (deleted)\n");

	assert_string_equal(m.agent_path, "/tmp/.jxperf-a b/" AGENT);
}

/* The target would be told to load it. */
TEST(a_file_that_is_only_read_is_not_the_agent)
{
	struct maps m = scan("1-2 r--s 0 fe:00 1 /srv/upload/" AGENT "\n"
			     "1-2 rw-p 0 fe:00 1 /srv/upload/" AGENT "\n");

	assert_string_equal(m.agent_path, "");
	m = scan("1-2 r--s 0 fe:00 1 /srv/upload/" AGENT "\n"
		 "1-2 r--p 0 fe:00 2 /opt/jxperf/" AGENT "\n"
		 "1-2 r-xp 0 fe:00 2 /opt/jxperf/" AGENT "\n");
	assert_string_equal(m.agent_path, "/opt/jxperf/" AGENT);
}

TEST(an_upgraded_jdk_is_still_a_jvm)
{
	struct maps m = scan("1-2 r-xp 0 fe:00 1 /j/lib/server/libjvm.so (deleted)");

	assert_true(m.libjvm);
	assert_string_equal(m.libjvm_path, "/j/lib/server/libjvm.so");
}

/* Whatever has its name by now is another file. */
TEST(deleted_performance_data_have_no_path)
{
	struct maps m = scan("1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_a/17 (deleted)\n");

	assert_string_equal(m.hsperfdata_path, "");
}

TEST(performance_data_is_told_by_directory_and_number)
{
	struct maps m = scan("1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_bob/x7\n"
			     "1-2 rw-s 0 fe:00 1 /tmp/other_bob/17\n"
			     "1-2 rw-s 0 fe:00 1 /17\n"
			     "1-2 rw-s 0 fe:00 1 /tmp/hsperfdata_bob/17\n");

	assert_string_equal(m.hsperfdata_path, "/tmp/hsperfdata_bob/17");
}

TEST(malformed_lines_are_skipped)
{
	static const char text[] = "\n\n   \n/libjvm.so\n1-2 r--p\n1-2 r--p 0 fe:00 1 /\n"
				   "1-2 r--p 0 fe:00 1 //\n1-2 r--p 0 fe:00 1 (deleted)\n"
				   "1-2 r--p 0 fe:00 1 / (deleted)\n";
	struct maps m = scan(text);

	assert_false(m.libjvm);
	/* Cut anywhere, it is still only read inside its bounds. */
	for (size_t n = 0; n <= sizeof(text); n++)
		maps_scan(&m, text, n, AGENT);
	assert_false(m.libjvm);
}

TEST(a_path_with_a_nul_or_without_end_is_not_kept)
{
	static char text[MAPS_PATH_BYTES + 64];
	struct maps m;
	size_t n;

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

TEST(where_the_agents_headers_are_is_told_and_whether_its_file_is_gone)
{
	struct maps m =
	    scan("7f10000-7f20000 r--p 00000000 fe:00 9 /b/libjxperf-agent.so (deleted)\n"
		 "7f20000-7f30000 r-xp 00010000 fe:00 9 /b/libjxperf-agent.so (deleted)\n"
		 "7f30000-7f40000 r--p 00000000 fe:00 9 /b/libjxperf-agent.so (deleted)\n");

	assert_string_equal(m.agent_path, "/b/libjxperf-agent.so");
	assert_int_equal(m.agent_start, 0x7f10000);
	assert_true(m.agent_deleted);
	m = scan("10-20 r--p 00001000 fe:00 9 /b/libjxperf-agent.so\n"
		 "20-30 r-xp 00002000 fe:00 9 /b/libjxperf-agent.so\n");
	assert_int_equal(m.agent_start, 0);
	assert_false(m.agent_deleted);
}
