#include "machine/pmu.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

#include "common/proc.h"

#define DEVICES "/sys/bus/event_source/devices"
#define LIBRARY "libpfm.so.4" /* libpfm4 */

/* JXPerf samples one in 5 million (section 7). Prime, so that it does not keep step with a loop;
 * the budget makes it longer where that is too often. */
#define PEBS_PERIOD UINT64_C(5000011)

/* IBS counts operations of every type and ignores the period's low four bits. */
#define IBS_PERIOD UINT64_C(5000000)

/* The precise level at which the record has the address of the sampled instruction itself instead
 * of the one behind it (Linux, tools/perf/Documentation/perf-list.txt). */
#define PRECISE_IP 2

struct event_pair {
	const char *loads;
	const char *stores;
	const char *models[4]; /* caps/pmu_name; none: every processor that has the events */
};

/* Newest names first. Sandy and Ivy Bridge have the older names too, but no data address with
 * them (Linux, arch/x86/events/intel/ds.c: DATALA constraints begin with Haswell). */
static const struct event_pair pairs[] = {
    {"MEM_INST_RETIRED:ALL_LOADS", "MEM_INST_RETIRED:ALL_STORES", {NULL}},
    {"MEM_UOPS_RETIRED:ALL_LOADS", "MEM_UOPS_RETIRED:ALL_STORES", {"haswell", "broadwell", NULL}},
};

/* Reads one small sysfs file of a PMU, without its newline. */
static bool read_attribute(const struct pmu_host *host, const char *pmu, const char *name,
			   char *text, size_t size)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", host->devices, pmu, name);

	if (n < 0 || (size_t)n >= sizeof(path) || proc_read(path, text, size) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return true;
}

static bool read_number(const struct pmu_host *host, const char *pmu, const char *name,
			uint32_t *value)
{
	char text[32];

	return read_attribute(host, pmu, name, text, sizeof(text)) &&
	       sscanf(text, "%u", value) == 1;
}

/* ---------------------------------------------------------------- Intel */

static bool is_listed(const char *const *models, const char *model)
{
	if (!models[0])
		return true;
	for (; *models; models++)
		if (strcmp(*models, model) == 0)
			return true;
	return false;
}

static int encode_one(const struct pmu_host *host, const char *name, enum perf_access access,
		      struct perf_hardware_event *out)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int r = host->encode(name, &attr);

	if (r < 0)
		return r;
	*out = (struct perf_hardware_event){.type = attr.type,
					    .precise_ip = PRECISE_IP,
					    .config = attr.config,
					    .config1 = attr.config1,
					    .config2 = attr.config2,
					    .user_only = true,
					    .access = access};
	return 0;
}

static int select_pair(const struct pmu_host *host, const struct event_pair *pair,
		       struct pmu_selection *out)
{
	int r = encode_one(host, pair->loads, PERF_ACCESS_LOADS, &out->events[0]);

	if (r == 0)
		r = encode_one(host, pair->stores, PERF_ACCESS_STORES, &out->events[1]);
	if (r < 0)
		return r;
	out->sampler = JXP__SAMPLER__SAMPLER_PEBS;
	out->event_count = 2;
	out->period = PEBS_PERIOD;
	(void)snprintf(out->reason, sizeof(out->reason), "Intel PEBS: %s and %s", pair->loads,
		       pair->stores);
	return 0;
}

/* False with a reason in *out when the machine has no usable PEBS. */
static bool select_pebs(const struct pmu_host *host, struct pmu_selection *out)
{
	char model[64] = "";
	uint32_t precise;
	int r = -ENOENT;

	if (read_attribute(host, "cpu_core", "type", model, sizeof(model))) {
		(void)snprintf(out->reason, sizeof(out->reason),
			       "this processor has cores of two kinds (cpu_core, cpu_atom), whose "
			       "events differ");
		return false;
	}
	if (!read_number(host, "cpu", "caps/max_precise", &precise) || precise < PRECISE_IP) {
		(void)snprintf(out->reason, sizeof(out->reason),
			       "no PMU with precise loads and stores: usual in virtual machines");
		return false;
	}
	(void)read_attribute(host, "cpu", "caps/pmu_name", model, sizeof(model)); /* Or "". */
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && r == -ENOENT; i++)
		if (is_listed(pairs[i].models, model))
			r = select_pair(host, &pairs[i], out);
	if (r < 0)
		(void)snprintf(out->reason, sizeof(out->reason), "%s",
			       r == -ELIBACC ? LIBRARY " cannot be loaded: install libpfm4"
					     : "this processor has no precise loads and stores "
					       "with data addresses that libpfm4 knows");
	return r == 0;
}

/* ---------------------------------------------------------------- AMD */

/* Sets the bit that a format file names ("config2:0"); false when there is no such file. */
static bool set_format_bit(const struct pmu_host *host, const char *name,
			   struct perf_hardware_event *event)
{
	uint64_t *words[] = {&event->config, &event->config1, &event->config2};
	unsigned word = 0, bit;
	char text[64];

	if (!read_attribute(host, "ibs_op", name, text, sizeof(text)))
		return false;
	if (sscanf(text, "config:%u", &bit) != 1 && sscanf(text, "config%u:%u", &word, &bit) != 2)
		return false;
	if (word > 2 || bit > 63)
		return false;
	*words[word] |= UINT64_C(1) << bit;
	return true;
}

static bool select_ibs(const struct pmu_host *host, struct pmu_selection *out)
{
	struct perf_hardware_event event = {.access = PERF_ACCESS_ANY};

	if (!read_number(host, "ibs_op", "type", &event.type))
		return false;
	if (!set_format_bit(host, "format/cnt_ctl", &event)) {
		(void)snprintf(out->reason, sizeof(out->reason),
			       "AMD IBS of this processor counts cycles only, not operations");
		return false;
	}
	/* Without the filter (Linux 6.14) the driver refuses to leave the kernel out. */
	event.user_only = set_format_bit(host, "format/swfilt", &event);
	out->sampler = JXP__SAMPLER__SAMPLER_IBS;
	out->event_count = 1;
	out->events[0] = event;
	out->period = IBS_PERIOD;
	(void)snprintf(out->reason, sizeof(out->reason), "AMD IBS: ibs_op counting operations%s",
		       event.user_only ? "" : ", the kernel's own included");
	return true;
}

/* ---------------------------------------------------------------- both */

void pmu_select(const struct pmu_host *host, struct pmu_selection *out)
{
	*out = (struct pmu_selection){.sampler = JXP__SAMPLER__SAMPLER_AUTO};
	if (!select_pebs(host, out))
		(void)select_ibs(host, out); /* Why not is in the reason. */
}

typedef pfm_err_t encode_fn(const char *event, int levels, pfm_os_t os, void *argument);

/* Loaded by the first event that is asked for, and never unloaded: its tables have 40,000
 * addresses, whose adjustment would cost each of our processes 0.6 ms and a megabyte when it
 * starts, and most never ask for an event. */
static int load_encoder(encode_fn **out)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	pfm_err_t (*initialize)(void);
	encode_fn *encode;

	if (!library)
		return -ELIBACC;
	initialize = (pfm_err_t(*)(void))dlsym(library, "pfm_initialize");
	encode = (encode_fn *)dlsym(library, "pfm_get_os_event_encoding");
	if (!initialize || !encode)
		return -ELIBACC;
	if (initialize() != PFM_SUCCESS)
		return -ENOENT;
	*out = encode;
	return 0;
}

int pmu_encode(const char *event, struct perf_event_attr *attr)
{
	static encode_fn *encode;
	pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};
	int r = encode ? 0 : load_encoder(&encode);

	if (r < 0)
		return r;
	return encode(event, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) == PFM_SUCCESS ? 0 : -ENOENT;
}

static const struct pmu_host this_host = {.devices = DEVICES, .encode = pmu_encode};

/* Loads or stores: each record's data source tells. */
int pmu_access_event(const struct pmu_host *host, const char *name, struct perf_hardware_event *out)
{
	return encode_one(host, name, PERF_ACCESS_ANY, out);
}

int pmu_access_event_here(const char *name, struct perf_hardware_event *out)
{
	return pmu_access_event(&this_host, name, out);
}

const struct pmu_selection *pmu_selection(void)
{
	static struct pmu_selection selection;
	static bool made;

	if (!made)
		pmu_select(&this_host, &selection);
	made = true;
	return &selection;
}
