#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "attach/process/jvm_step.h"
#include "daemon/inspector/jar_version.h"
#include "tests/unit/support/tree_fixture.h"
#include "tests/unit/support/zip_file.h"

static struct jvm_info info;
static char version[JAR_VERSION_BYTES];
static char step[JVM_STEP_BYTES];

static void write_jar(const char *name, const char *manifest)
{
	struct zip_file zip;
	FILE *file;

	zip_file_init(&zip);
	if (manifest)
		zip_file_deflate(&zip, "META-INF/MANIFEST.MF", manifest, strlen(manifest));
	zip_file_store(&zip, "Main.class", "x");
	zip_file_finish(&zip, "");
	file = fopen(tree_path(name), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(zip.bytes, 1, zip.size, file), zip.size);
	assert_int_equal(fclose(file), 0);
	zip_file_release(&zip);
}

/* A process stands for the JVM, which has that file open. Ours has it no more. */
static void start_with(const char *name)
{
	int fd = open(tree_path(name), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	info.pid = fork();
	assert_true(info.pid >= 0);
	while (info.pid == 0)
		(void)pause(); /* Until it is killed. */
	(void)close(fd);
}

static int set_up(void **state)
{
	(void)state;
	(void)tree_make();
	info = (struct jvm_info){.euid = geteuid(), .egid = getegid()};
	(void)snprintf(info.jar, sizeof(info.jar), "%s", tree_path("app.jar"));
	write_jar("app.jar", "Implementation-Version: 1.2\r\n\r\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (info.pid > 0) {
		(void)kill(info.pid, SIGKILL);
		(void)waitpid(info.pid, NULL, 0); /* Ours. */
	}
	tree_remove();
	return 0;
}

static void assert_result(enum jar_result expected)
{
	strcpy(version, "before");
	assert_int_equal(jar_version_read(&info, step, version), expected);
	assert_string_equal(version, expected == JAR_FOUND ? "1.2" : "before");
}

TEST(a_jar_that_the_jvm_has_open_says_its_version, set_up, tear_down)
{
	start_with("app.jar");
	assert_result(JAR_FOUND);
	assert_non_null(strstr(step, "app.jar"));
}

TEST(a_link_to_it_leads_there, set_up, tear_down)
{
	assert_int_equal(symlink("app.jar", tree_path("current.jar")), 0);
	(void)snprintf(info.jar, sizeof(info.jar), "%s", tree_path("current.jar"));
	start_with("current.jar");
	assert_result(JAR_FOUND);
}

TEST(a_relative_path_begins_at_its_working_directory, set_up, tear_down)
{
	char before[PATH_MAX];

	assert_non_null(getcwd(before, sizeof(before)));
	tree_add_directory("bin");
	assert_int_equal(chdir(tree_path("bin")), 0);
	strcpy(info.jar, "../app.jar");
	start_with("app.jar");
	assert_result(JAR_FOUND);
	assert_int_equal(chdir(before), 0);
}

TEST(a_jar_that_took_the_place_of_the_jvms_is_not_read, set_up, tear_down)
{
	start_with("app.jar");
	write_jar("new.jar", "Implementation-Version: 1.3\r\n\r\n");
	assert_int_equal(rename(tree_path("new.jar"), tree_path("app.jar")), 0);
	assert_result(JAR_NOT_IN_USE);
}

TEST(a_jar_that_the_jvm_has_not_opened_is_not_read, set_up, tear_down)
{
	tree_add_file("other.jar", "x");
	start_with("other.jar");
	assert_result(JAR_NOT_IN_USE);
}

TEST(what_is_no_file_holds_nobody_up, set_up, tear_down)
{
	start_with("app.jar");
	assert_int_equal(unlink(tree_path("app.jar")), 0);
	assert_result(JAR_UNREADABLE);
	assert_int_equal(mkfifo(tree_path("app.jar"), 0644), 0);
	assert_result(JAR_UNREADABLE);
	assert_int_equal(unlink(tree_path("app.jar")), 0);
	assert_int_equal(symlink("/dev/zero", tree_path("app.jar")), 0);
	assert_result(JAR_UNREADABLE);
	assert_int_equal(unlink(tree_path("app.jar")), 0);
	tree_add_directory("app.jar");
	assert_result(JAR_UNREADABLE);
}

TEST(what_its_user_may_not_read_is_not_read, set_up, tear_down)
{
	if (geteuid() != 0)
		skip();
	info.euid = info.egid = 65534;
	start_with("app.jar");
	assert_result(JAR_FOUND);
	assert_int_equal(chmod(tree_path("app.jar"), 0600), 0);
	assert_result(JAR_UNREADABLE);
}

TEST(a_jar_without_a_manifest_or_version_says_none, set_up, tear_down)
{
	write_jar("app.jar", NULL);
	start_with("app.jar");
	assert_result(JAR_NO_MANIFEST);
	write_jar("app.jar", "Main-Class: Main\r\n\r\n");
	assert_result(JAR_NO_VERSION);
	assert_int_equal(truncate(tree_path("app.jar"), 100), 0);
	assert_result(JAR_NO_MANIFEST);
}

TEST(a_main_section_that_is_too_long_says_none, set_up, tear_down)
{
	static const char begin[] = "Implementation-Version: 1.2\r\nB: ", end[] = "\r\n\r\n";
	static char text[2 * JAR_MANIFEST_MAX];
	size_t used = 0;

	while (used + 20 < sizeof(text))
		used += (size_t)sprintf(text + used, "A%zu: b\r\n", used);
	strcpy(text + used, "\r\n");
	memcpy(text, begin, sizeof(begin) - 1);
	write_jar("app.jar", text);
	start_with("app.jar");
	assert_result(JAR_NO_VERSION);
	/* The section ends; entries follow, as of a signed jar. */
	memcpy(text + sizeof(begin) - 4, end, sizeof(end) - 1);
	write_jar("app.jar", text);
	assert_result(JAR_FOUND);
}

TEST(a_jvm_that_was_not_started_from_a_jar_has_none, set_up, tear_down)
{
	info.jar[0] = '\0';
	assert_result(JAR_NONE);
}
