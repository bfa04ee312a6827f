#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/process/jvm_flags.h"

/* The words of a command line with their NULs. */
#define CMDLINE(text) text, sizeof(text)

static const struct {
	const char *path;
	const char *text;
} files[] = {
    {"args", "# comment\n-XX:+DisableAttachMechanism \"-cp\" 'a b'\nMain\n-XX:+UseZGC\n"},
    {"/flags", "+DisableAttachMechanism # so\n-EnableDynamicAgentLoading\nMaxHeapSize=1\n"},
    {"vmoptions", "-XX:-EnableDynamicAgentLoading\n-XX:Flags=/flags\n"},
};

static ssize_t read_file(void *arg, const char *path, char *text, size_t size)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i].path, path) == 0)
			return snprintf(text, size, "%s", files[i].text);
	return -ENOENT;
}

static const struct jvm_flags_reader reader = {read_file, NULL};

static struct jvm_flags flags;
static char main_class[64];

static int setup(void **state)
{
	(void)state;
	jvm_flags_init(&flags);
	return 0;
}

static void cmdline(const char *text, size_t size, const char *launcher_options)
{
	jvm_flags_add_cmdline(&flags, text, size, launcher_options, &reader, main_class,
			      sizeof(main_class));
}

TEST(by_default_a_jvm_can_be_attached_to, setup)
{
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_false(jvm_flags_dynamic_loading_disabled(&flags));
	assert_string_equal(jvm_flags_gc(&flags), "");
}

TEST(the_last_occurrence_wins, setup)
{
	jvm_flags_add(&flags, "-XX:+DisableAttachMechanism", NULL);
	assert_true(jvm_flags_attach_disabled(&flags));
	jvm_flags_add(&flags, "-XX:-DisableAttachMechanism", NULL);
	assert_false(jvm_flags_attach_disabled(&flags));
	jvm_flags_add(&flags, "-XX:-EnableDynamicAgentLoading", NULL);
	jvm_flags_add(&flags, "-XX:+EnableDynamicAgentLoading", NULL);
	assert_false(jvm_flags_dynamic_loading_disabled(&flags));
	jvm_flags_add(&flags, "-XX:-EnableDynamicAgentLoading", NULL);
	assert_true(jvm_flags_dynamic_loading_disabled(&flags));
}

TEST(only_the_exact_flag_counts, setup)
{
	static const char *const others[] = {
	    "-XX:DisableAttachMechanism",
	    "-XX:+DisableAttachMechanisms",
	    "+DisableAttachMechanism",
	    "-Da=-XX:+DisableAttachMechanism",
	    "-XX:",
	    "-XX:+",
	    "",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		jvm_flags_add(&flags, others[i], &reader);
	assert_false(jvm_flags_attach_disabled(&flags));
}

TEST(the_collector_asked_for_is_named, setup)
{
	static const char *const options[][2] = {
	    {"-XX:+UseSerialGC", "Serial"},   {"-XX:+UseParallelGC", "Parallel"},
	    {"-XX:+UseG1GC", "G1"},           {"-XX:+UseZGC", "ZGC"},
	    {"-XX:+UseEpsilonGC", "Epsilon"}, {"-XX:+UseShenandoahGC", "Shenandoah"},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		jvm_flags_init(&flags);
		jvm_flags_add(&flags, options[i][0], NULL);
		assert_string_equal(jvm_flags_gc(&flags), options[i][1]);
	}
	jvm_flags_add(&flags, "-XX:-UseShenandoahGC", NULL);
	assert_string_equal(jvm_flags_gc(&flags), "");
}

TEST(quoted_white_space_stays_in_an_option, setup)
{
	jvm_flags_add_text(&flags, " -Da='x -XX:+DisableAttachMechanism'\t\"-XX:+UseZGC\"\n", NULL);
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_string_equal(jvm_flags_gc(&flags), "ZGC");
	jvm_flags_add_text(&flags, "'-XX:+Disable'AttachMechanism", NULL);
	assert_true(jvm_flags_attach_disabled(&flags));
}

TEST(an_option_wins_over_a_flags_file_wherever_it_stands, setup)
{
	jvm_flags_add(&flags, "-XX:-DisableAttachMechanism", &reader);
	jvm_flags_add(&flags, "-XX:Flags=/flags", &reader);
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_true(jvm_flags_dynamic_loading_disabled(&flags));
}

TEST(an_options_file_is_read_and_names_no_other, setup)
{
	jvm_flags_add(&flags, "-XX:VMOptionsFile=vmoptions", &reader);
	assert_true(jvm_flags_dynamic_loading_disabled(&flags));
	assert_false(jvm_flags_attach_disabled(&flags));
}

TEST(files_that_cannot_be_read_have_no_effect, setup)
{
	jvm_flags_add(&flags, "-XX:Flags=/absent", &reader);
	jvm_flags_add(&flags, "-XX:VMOptionsFile=vmoptions", NULL);
	cmdline(CMDLINE("java\0@absent\0Main"), "");
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_false(jvm_flags_dynamic_loading_disabled(&flags));
	assert_string_equal(main_class, "Main");
}

TEST(options_end_at_the_main_class, setup)
{
	cmdline(CMDLINE("/usr/bin/java\0-XX:+UseZGC\0-cp\0-XX:+DisableAttachMechanism\0pkg.Main\0"
			"-XX:+DisableAttachMechanism"),
		"");
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_string_equal(jvm_flags_gc(&flags), "ZGC");
	assert_string_equal(main_class, "pkg.Main");
}

TEST(jars_and_modules_are_main_too, setup)
{
	cmdline(CMDLINE("java\0-jar\0/srv/a b.jar\0-jar\0other"), "");
	assert_string_equal(main_class, "/srv/a b.jar");
	cmdline(CMDLINE("java\0-p\0mods\0-m\0mod/pkg.Main\0-m\0other"), "");
	assert_string_equal(main_class, "mod/pkg.Main");
	cmdline(CMDLINE("java\0--module-path=mods\0--module=mod\0x"), "");
	assert_string_equal(main_class, "mod");
}

TEST(argument_files_are_expanded, setup)
{
	cmdline(CMDLINE("java\0@args\0-XX:-DisableAttachMechanism"), "");
	assert_true(jvm_flags_attach_disabled(&flags));
	assert_string_equal(jvm_flags_gc(&flags), "");
	assert_string_equal(main_class, "Main");
}

TEST(argument_files_can_be_switched_off, setup)
{
	cmdline(CMDLINE("java\0--disable-@files\0@args\0Main"), "");
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_string_equal(main_class, "@args");
	jvm_flags_init(&flags);
	cmdline(CMDLINE("java\0@@args\0Main"), "");
	assert_false(jvm_flags_attach_disabled(&flags));
}

TEST(the_launchers_own_variable_comes_before_the_command_line, setup)
{
	cmdline(CMDLINE("java\0-XX:-DisableAttachMechanism\0Main"),
		"-XX:+DisableAttachMechanism -XX:-EnableDynamicAgentLoading");
	assert_false(jvm_flags_attach_disabled(&flags));
	assert_true(jvm_flags_dynamic_loading_disabled(&flags));
}

TEST(tools_hand_on_what_follows_j, setup)
{
	cmdline(CMDLINE("jshell\0-J-XX:+DisableAttachMechanism"), "");
	assert_true(jvm_flags_attach_disabled(&flags));
	assert_string_equal(main_class, "");
}

TEST(odd_command_lines_are_survived, setup)
{
	static char wide[8192];

	cmdline("", 0, "");
	assert_string_equal(main_class, "");
	cmdline("java", 4, ""); /* No NUL: the process has overwritten it. */
	cmdline("java\0-XX:+DisableAttachMechanism", 32, "");
	assert_true(jvm_flags_attach_disabled(&flags));
	memset(wide, 'x', sizeof(wide));
	memcpy(wide, "java\0-cp\0", 9);
	wide[7000] = '\0';
	memcpy(wide + 7001, "Main\0", 5);
	cmdline(wide, sizeof(wide), "");
	assert_string_equal(main_class, "Main");
}
