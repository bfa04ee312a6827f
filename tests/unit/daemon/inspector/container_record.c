#include "tests/unit/support/test.h"

#include <limits.h>

#include "daemon/inspector/container_record.h"
#include "tests/unit/support/tree_fixture.h"

#define SIXTY_FOUR "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TOO_LONG   SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR
#define ID         SIXTY_FOUR //"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct container_record record;

static int teardown(void **state)
{
	(void)state;
	tree_remove();
	return 0;
}

/* Makes the file, and the directories of its path. */
static void add(char *path, const char *text)
{
	for (char *p = path; *p; p++)
		if (*p == '/') {
			*p = '\0';
			tree_add_directory(path);
			*p = '/';
		}
	tree_add_file(path, text);
}

static const char *find(void)
{
	container_record_read(&record, tree_path(""), ID);
	return record.image;
}

TEST(dockers_own_file_has_it, NULL, teardown)
{
	char path[] = "var/lib/docker/containers/" ID "/config.v2.json";

	(void)tree_make();
	assert_string_equal(find(), "");
	add(path, "{\"Image\": \"sha256:01\", \"Config\": {\"Image\": \"team/pay:1\", "
		  "\"Labels\": {\"io.kubernetes.pod.name\": \"pay-1\", "
		  "\"io.kubernetes.pod.namespace\": \"shop\"}}}");
	assert_string_equal(find(), "team/pay:1");
	assert_string_equal(record.names.pod, "pay-1");
	assert_string_equal(record.names.namespace, "shop");
}

TEST(containerds_annotation_has_it, NULL, teardown)
{
	char path[] = "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json";

	(void)tree_make();
	add(path, "{\"annotations\": {\"io.kubernetes.cri.image-name\": \"r.io/pay:2\", "
		  "\"io.kubernetes.cri.sandbox-name\": \"pay-2\", "
		  "\"io.kubernetes.cri.sandbox-namespace\": \"shop\"}}");
	assert_string_equal(find(), "r.io/pay:2");
	assert_string_equal(record.names.pod, "pay-2");
	assert_string_equal(record.names.namespace, "shop");
}

TEST(cri_os_annotation_has_it, NULL, teardown)
{
	char path[] = "run/containers/storage/overlay-containers/" ID "/userdata/config.json";

	(void)tree_make();
	add(path, "{\"annotations\": {\"io.kubernetes.cri-o.ImageName\": \"r.io/pay:3\", "
		  "\"io.kubernetes.pod.name\": \"pay-3\", "
		  "\"io.kubernetes.pod.namespace\": \"shop\"}}");
	assert_string_equal(find(), "r.io/pay:3");
	assert_string_equal(record.names.pod, "pay-3");
	assert_string_equal(record.names.namespace, "shop");
}

TEST(a_file_that_says_something_else_gives_none, NULL, teardown)
{
	static const char *const texts[] = {"",
					    "{",
					    "[]",
					    "{\"Config\": 1}",
					    "{\"Config\": {\"Image\": [1]}}",
					    "{\"Config\": {\"Image\": \"" TOO_LONG "\"}}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char path[] = "var/lib/docker/containers/" ID "/config.v2.json";

		(void)tree_make();
		add(path, texts[i]);
		assert_string_equal(find(), "");
		tree_remove();
	}
	(void)tree_make();
}

#define USERS_GROUP "/user.slice/user-1000.slice/user@1000.service/user.slice"

/* What is at "/" of this machine has nothing of the id. */
TEST(a_process_has_the_id_that_its_groups_say_and_no_more_where_nobody_vouches_for_it)
{
	container_record_find(&record, "0::/system.slice/docker-" ID ".scope\n");
	assert_string_equal(record.names.id, ID);
	assert_string_equal(record.names.pod, "");
	container_record_find(&record, "0::" USERS_GROUP "/libpod-" ID ".scope\n");
	assert_string_equal(record.names.id, ID);
	assert_string_equal(record.names.pod, "");
	container_record_find(&record, "0::/system.slice/shop.service\n");
	assert_string_equal(record.names.id, "");
}

TEST(a_process_that_has_ended_is_in_no_container)
{
	struct container_names names = {.pod = "pay-0"};

	container_names_of(&names, INT_MAX); /* Beyond what the kernel numbers. */
	assert_string_equal(names.id, "");
	assert_string_equal(names.pod, "");
}
