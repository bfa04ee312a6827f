#include "tests/unit/support/test.h"

#include <string.h>

#include "attach/process/jvm_text.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(container_runtimes_groups_give_the_id)
{
	static const char *const groups[] = {
	    "0::/system.slice/docker-" ID ".scope\n",
	    "12:cpuset:/docker/" ID "\n11:memory:/docker/" ID "\n",
	    "0::/kubepods.slice/kubepods-pod8a1.slice/cri-containerd-" ID ".scope\n",
	    "0::/machine.slice/libpod-" ID ".scope/container\n",
	    "0::/../crio-" ID,
	    "0::/system.slice/containerd.service/kubepods-pod8a1.slice:cri-containerd:" ID,
	};
	char id[JVM_CONTAINER_BYTES];

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		jvm_text_container(id, groups[i]);
		assert_string_equal(id, "0123456789ab");
	}
}

TEST(other_groups_give_none)
{
	static const char *const groups[] = {
	    "",
	    "0::/\n",
	    "0::/user.slice/user-1000.slice/session-3.scope\n",
	    "0::/docker/" ID "0\n",
	    "0::/docker/0" ID "\n",
	    "0::/system.slice/docker-" ID ".scopes\n",
	    "0::/system.slice/docker-" ID ".service\n",
	    "0::/system.slice/mine-" ID ".scope\n",
	    "0::/user.slice/x" ID "y\n",
	    "12:cpu:/docker/" ID ".",
	};
	char id[JVM_CONTAINER_BYTES];

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		strcpy(id, "before");
		jvm_text_container(id, groups[i]);
		assert_string_equal(id, "");
	}
}

TEST(below_the_slice_of_users_is_below_it_in_any_hierarchy)
{
	assert_true(jvm_text_is_in_user_slice("0::/user.slice/user-1.slice/docker-" ID "\n"));
	assert_true(
	    jvm_text_is_in_user_slice("2:cpu:/docker/" ID "\n1:name=systemd:/user.slice/a\n"));
	assert_false(
	    jvm_text_is_in_user_slice("0::/system.slice/docker-" ID ".scope/user.slice/a\n"));
	assert_false(jvm_text_is_in_user_slice(""));
}

TEST(a_control_group_is_that_of_the_unified_hierarchy_or_another)
{
	static const struct {
		const char *text, *path;
	} groups[] = {
	    {"0::/system.slice/app.service\n", "/system.slice/app.service"},
	    {"12:memory:/docker/ab\n0::/unified\n", "/unified"},
	    {"12:memory:/docker/ab\n1:name=systemd:/docker/cd\n0::/\n", "/docker/ab"},
	    {"0::/a:b\n", "/a:b"},
	    {"0::/a\033b\n", "/a?b"},
	    {"0::/\n", ""},
	    {"garbage\n", ""},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char path[JVM_CGROUP_BYTES];

		jvm_text_cgroup(path, groups[i].text);
		assert_string_equal(path, groups[i].path);
	}
}

#define UID "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(a_pod_is_found_in_each_form_of_its_groups)
{
	static const struct {
		const char *path, *pod;
	} groups[] = {
	    {"/kubepods/burstable/pod" UID "/" ID, UID},
	    {"/kubepods/pod" UID, UID},
	    {"/kubepods.slice/kubepods-burstable.slice/"
	     "kubepods-burstable-pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/docker-" ID ".scope",
	     UID},
	    {"/kubepods.slice/kubepods-pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/"
	     "cri-containerd-" ID ".scope",
	     UID},
	    {"/kubepods.slice/kubepods-besteffort.slice/"
	     "kubepods-besteffort-pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/crio-" ID ".scope",
	     UID},
	    {"/kubepods/burstable/pod0a1b2c3d4e5f60718293a4b5c6d7e8f9/" ID,
	     "0a1b2c3d4e5f60718293a4b5c6d7e8f9"},
	    {"/docker/" ID, ""},
	    {"/kubepods/pod0a1b2c3d-4e5f", ""},
	    {"/kubepods/pod", ""},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		char pod[JVM_POD_BYTES];

		jvm_text_pod(pod, groups[i].path);
		assert_string_equal(pod, groups[i].pod);
	}
}

TEST(environment_variables_are_found_by_their_whole_name)
{
	static const char environ[] = "XHOME=no\0HOME=/root\0HOMER=no\0EMPTY=\0NOVALUE\0";

	assert_string_equal(jvm_text_environ(environ, sizeof(environ) - 1, "HOME"), "/root");
	assert_string_equal(jvm_text_environ(environ, sizeof(environ) - 1, "EMPTY"), "");
	assert_null(jvm_text_environ(environ, sizeof(environ) - 1, "NOVALUE"));
	assert_null(jvm_text_environ(environ, sizeof(environ) - 1, "OME"));
	assert_null(jvm_text_environ("", 0, "HOME"));
}

TEST(a_version_gives_its_feature_release)
{
	assert_int_equal(jvm_text_release("1.8.0_392"), 8);
	assert_int_equal(jvm_text_release("17.0.15"), 17);
	assert_int_equal(jvm_text_release("25"), 25);
	assert_int_equal(jvm_text_release("8 or older"), 8);
	assert_int_equal(jvm_text_release(""), 0);
	assert_int_equal(jvm_text_release("x"), 0);
	assert_int_equal(jvm_text_release("-3"), 0);
}

TEST(the_release_file_names_the_version)
{
	char version[16];

	jvm_text_release_file(version, sizeof(version),
			      "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"21.0.4\"\nOS_ARCH=\"x86_64\"\n");
	assert_string_equal(version, "21.0.4");
	jvm_text_release_file(version, sizeof(version), "JAVA_VERSION=\"never closed");
	assert_string_equal(version, "never closed");
	jvm_text_release_file(version, sizeof(version), "JAVA_VERSION=\"17\nX=\"");
	assert_string_equal(version, "17");
	jvm_text_release_file(version, sizeof(version), "nothing");
	assert_string_equal(version, "");
	/* The key of another file, in the middle of a line. */
	jvm_text_release_file(version, sizeof(version),
			      "# JAVA_VERSION=\"secret\"\nPASSWORD=JAVA_VERSION=\"secret\"\n");
	assert_string_equal(version, "");
}

/* The names are those of JDK 17's and 25's sun.gc counters. */
TEST(counters_tell_the_collector)
{
	static const char *const names[][2] = {
	    {"Copy:MSC", "Serial"},
	    {"ParScav:MSC", "Parallel"},
	    {"GarbageFirst", "G1"},
	    {"Z concurrent cycle pauses", "ZGC"},
	    {"ZGC minor collection pauses", "ZGC"},
	    {"Shenandoah partial", "Shenandoah"},
	    {"something new", ""},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(jvm_text_collector(names[i][0]), names[i][1]);
}

TEST(applications_are_called_without_directories)
{
	assert_string_equal(jvm_text_application("/srv/app.jar"), "app.jar");
	assert_string_equal(jvm_text_application("lib/app.jar"), "app.jar");
	assert_string_equal(jvm_text_application("src/Main.java"), "Main.java");
	assert_string_equal(jvm_text_application("mod/pkg.Main"), "mod/pkg.Main");
	assert_string_equal(jvm_text_application("pkg.Main"), "pkg.Main");
	assert_string_equal(jvm_text_application(""), "");
}

TEST(the_labels_of_a_pod_are_what_labels_can_be)
{
	char label[JVM_LABEL_BYTES], text[1024];
	const char *rest;

	rest = jvm_text_next_label(
	    label, "app=\"pay\"\nno label\nb=c\nd=\"e\\\"f\"\ng=\"h\nk8s.io/n=\"\"");
	assert_string_equal(label, "app=pay");
	rest = jvm_text_next_label(label, rest);
	assert_string_equal(label, "k8s.io/n=");
	assert_null(jvm_text_next_label(label, rest));
	assert_null(jvm_text_next_label(label, ""));
	memset(text, 'a', sizeof(text));
	memcpy(text + JVM_LABEL_BYTES - 2, "=\"x\"", 5);
	assert_null(jvm_text_next_label(label, text)); /* One byte too long. */
	assert_non_null(jvm_text_next_label(label, text + 1));
	assert_int_equal(strlen(label), JVM_LABEL_BYTES - 1);
}
