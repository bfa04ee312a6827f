/* Event selection, on machines that are directories, with libpfm4's own tables for their
 * processors. */
#include "tests/unit/support/test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/pmu.h"

static char devices[64];
static const char *processor; /* libpfm4's name of the processor that the machine has, or NULL */

/* libpfm4 answers for any processor whose name stands before the event, if so told (main). */
static int encode(const char *event, struct perf_event_attr *attr)
{
	char name[128];

	if (!processor)
		return -ENOENT;
	(void)snprintf(name, sizeof(name), "%s::%s", processor, event);
	return pmu_encode(name, attr);
}

static const struct pmu_host host = {.devices = devices, .encode = encode};

static void add_file(const char *name, const char *content)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", devices, name);
	for (char *slash = strchr(path + strlen(devices) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700); /* Or it is there. */
		*slash = '/';
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int empty_machine(void **state)
{
	(void)state;
	(void)snprintf(devices, sizeof(devices), "/tmp/jxperf-pmu-XXXXXX");
	processor = NULL;
	return mkdtemp(devices) ? 0 : -1;
}

static int remove_machine(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", devices);
	return system(command);
}

static void add_intel(const char *pmu_name, const char *libpfm_name)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%s\n", pmu_name);
	add_file("cpu/type", "4\n");
	add_file("cpu/caps/max_precise", "3\n");
	add_file("cpu/caps/pmu_name", line);
	processor = libpfm_name;
}

static void expect_pebs(const char *loads_name)
{
	struct pmu_selection s;

	pmu_select(&host, &s);
	assert_int_equal(s.sampler, JXP__SAMPLER__SAMPLER_PEBS);
	assert_int_equal(s.event_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(s.events[i].type, PERF_TYPE_RAW);
		assert_int_equal(s.events[i].precise_ip, 2);
		assert_true(s.events[i].user_only);
	}
	/* Event 0xd0, umasks 0x81 and 0x82 (Intel SDM volume 3, event tables). */
	assert_int_equal(s.events[0].config & 0xffff, 0x81d0);
	assert_int_equal(s.events[0].access, PERF_ACCESS_LOADS);
	assert_int_equal(s.events[1].config & 0xffff, 0x82d0);
	assert_int_equal(s.events[1].access, PERF_ACCESS_STORES);
	assert_non_null(strstr(s.reason, loads_name));
}

TEST(skylake_and_newer_have_the_new_names, empty_machine, remove_machine)
{
	static const struct {
		const char *pmu_name, *libpfm_name;
	} machines[] = {
	    {"skylake", "skl"}, {"skylake", "skx"}, {"icelake", "icx"}, {"sapphire_rapids", "spr"}};

	for (unsigned i = 0; i < 4; i++) {
		add_intel(machines[i].pmu_name, machines[i].libpfm_name);
		expect_pebs("MEM_INST_RETIRED:ALL_LOADS");
	}
}

TEST(haswell_and_broadwell_have_the_old_names, empty_machine, remove_machine)
{
	add_intel("haswell", "hsw");
	expect_pebs("MEM_UOPS_RETIRED:ALL_LOADS");
	add_intel("broadwell", "bdw");
	expect_pebs("MEM_UOPS_RETIRED:ALL_LOADS");
}

static void expect_none(const char *reason)
{
	struct pmu_selection s;

	pmu_select(&host, &s);
	assert_int_equal(s.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_int_equal(s.event_count, 0);
	assert_non_null(strstr(s.reason, reason));
}

TEST(sandy_bridge_has_the_names_and_no_addresses, empty_machine, remove_machine)
{
	struct perf_event_attr attr;

	add_intel("sandybridge", "snb");
	assert_int_equal(encode("MEM_UOPS_RETIRED:ALL_LOADS", &attr), 0);
	expect_none("with data addresses");
}

static int encode_nothing(const char *event, struct perf_event_attr *attr)
{
	(void)event;
	(void)attr;
	return -ELIBACC;
}

TEST(a_library_that_is_missing_is_said, empty_machine, remove_machine)
{
	const struct pmu_host without = {.devices = devices, .encode = encode_nothing};
	struct perf_hardware_event event = {0};
	struct pmu_selection s;

	add_intel("skylake", "skl");
	pmu_select(&without, &s);
	assert_int_equal(s.sampler, JXP__SAMPLER__SAMPLER_AUTO);
	assert_string_equal(s.reason, "libpfm.so.4 cannot be loaded: install libpfm4");
	assert_int_equal(pmu_access_event(&without, "MEM_LOAD_RETIRED:L1_MISS", &event), -ELIBACC);
}

TEST(an_event_is_taken_by_its_name, empty_machine, remove_machine)
{
	struct perf_hardware_event event = {0};

	add_intel("skylake", "skl");
	assert_int_equal(pmu_access_event(&host, "MEM_LOAD_RETIRED:L1_MISS", &event), 0);
	assert_int_equal(event.config, 0x08d1); /* Intel SDM, volume 3, event D1H, umask 08H. */
	assert_int_equal(event.precise_ip, 2);
	assert_int_equal(event.access, PERF_ACCESS_ANY);
	assert_int_equal(pmu_access_event(&host, "NO_SUCH_EVENT", &event), -ENOENT);
}

TEST(an_imprecise_pmu_is_not_used, empty_machine, remove_machine)
{
	add_intel("skylake", "skl");
	add_file("cpu/caps/max_precise", "0\n");
	expect_none("virtual machines");
}

TEST(a_processor_with_two_kinds_of_cores_is_not_used, empty_machine, remove_machine)
{
	add_intel("alderlake_hybrid", "adl_glc");
	add_file("cpu_core/type", "4\n");
	add_file("cpu_atom/type", "10\n");
	expect_none("two kinds");
}

TEST(a_machine_without_a_pmu_says_so, empty_machine, remove_machine)
{
	add_file("software/type", "1\n");
	expect_none("virtual machines");
}

TEST(ibs_is_described_by_its_directory, empty_machine, remove_machine)
{
	struct pmu_selection s;

	add_file("cpu/type", "4\n"); /* the AMD core PMU has nothing precise */
	add_file("cpu/caps/max_precise", "0\n");
	add_file("ibs_op/type", "11\n");
	add_file("ibs_op/format/cnt_ctl", "config:19\n");
	add_file("ibs_op/format/swfilt", "config2:0\n");
	pmu_select(&host, &s);
	assert_int_equal(s.sampler, JXP__SAMPLER__SAMPLER_IBS);
	assert_int_equal(s.event_count, 1);
	assert_int_equal(s.events[0].type, 11);
	assert_int_equal(s.events[0].config, 1 << 19);
	assert_int_equal(s.events[0].config1, 0);
	assert_int_equal(s.events[0].config2, 1);
	assert_int_equal(s.events[0].precise_ip, 0);
	assert_int_equal(s.events[0].access, PERF_ACCESS_ANY);
	assert_true(s.events[0].user_only);
	assert_int_equal(s.period % 16, 0);
	assert_string_equal(s.reason, "AMD IBS: ibs_op counting operations");
}

TEST(an_older_ibs_driver_counts_the_kernel_too, empty_machine, remove_machine)
{
	struct pmu_selection s;

	add_file("ibs_op/type", "9\n");
	add_file("ibs_op/format/cnt_ctl", "config:19\n");
	pmu_select(&host, &s);
	assert_int_equal(s.sampler, JXP__SAMPLER__SAMPLER_IBS);
	assert_int_equal(s.events[0].config2, 0);
	assert_false(s.events[0].user_only);
	assert_non_null(strstr(s.reason, "kernel's own"));
}

TEST(an_ibs_that_cannot_count_operations_is_not_used, empty_machine, remove_machine)
{
	static const char *const bad[] = {"config:64\n", "config3:0\n", "config\n", "",
					  "event:3\n"};

	add_file("ibs_op/type", "9\n");
	expect_none("counts cycles only");
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		add_file("ibs_op/format/cnt_ctl", bad[i]);
		expect_none("counts cycles only");
	}
}

TEST(pebs_comes_before_ibs, empty_machine, remove_machine)
{
	add_intel("skylake", "skl");
	add_file("ibs_op/type", "11\n");
	expect_pebs("MEM_INST_RETIRED:ALL_LOADS");
}

int main(void)
{
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) < 0)
		return EXIT_FAILURE;
	return tests_run(NULL, NULL);
}
