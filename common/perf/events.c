#include "common/perf/events.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t sig_data)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = type;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->sigtrap = 1;
	attr->remove_on_exec = 1; /* Required by sigtrap: a new program has no handler. */
	attr->sig_data = sig_data;
}

void perf_attr_clock(struct perf_event_attr *attr, uint64_t period_ns, uint64_t sig_data)
{
	attr_init(attr, PERF_TYPE_SOFTWARE, sig_data);
	attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->sample_period = period_ns;
}

void perf_attr_hardware(struct perf_event_attr *attr, const struct perf_hardware_event *event,
			uint64_t period, uint64_t sig_data)
{
	attr_init(attr, event->type, sig_data);
	attr->config = event->config;
	attr->config1 = event->config1;
	attr->config2 = event->config2;
	attr->precise_ip = event->precise_ip & 3; /* The field has two bits. */
	attr->exclude_kernel = attr->exclude_hv = event->user_only;
	attr->sample_period = period;
	attr->sample_type = PERF_HARDWARE_SAMPLE_TYPE;
	/* Also keeps the kernel from collecting several PEBS records before it looks at one
	 * (arch/x86/events/intel/core.c, intel_pmu_hw_config). */
	attr->wakeup_events = 1;
}

void perf_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t address,
			  uint32_t length, uint64_t sig_data)
{
	attr_init(attr, PERF_TYPE_BREAKPOINT, sig_data);
	attr->sample_period = 1;
	attr->bp_type = type;
	attr->bp_addr = address;
	attr->bp_len = type == HW_BREAKPOINT_X ? sizeof(long) : length;
}

int perf_open(const struct perf_event_attr *attr, pid_t tid)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int event_ioctl(int fd, unsigned long request, const void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

int perf_enable(int fd)
{
	return event_ioctl(fd, PERF_EVENT_IOC_ENABLE, NULL);
}

int perf_disable(int fd)
{
	return event_ioctl(fd, PERF_EVENT_IOC_DISABLE, NULL);
}

int perf_modify(int fd, const struct perf_event_attr *attr)
{
	return event_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, attr);
}

int perf_set_period(int fd, uint64_t period)
{
	return event_ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

int perf_break_at(int fd, uint64_t address, uint64_t period, uint64_t sig_data)
{
	struct perf_event_attr attr;
	int r = perf_set_period(fd, period);

	perf_attr_breakpoint(&attr, HW_BREAKPOINT_X, address, sizeof(long), sig_data);
	/* Attributes are changed with the period in force, or the kernel refuses. */
	attr.sample_period = period;
	attr.disabled = 0;
	return r < 0 ? r : perf_modify(fd, &attr);
}

int perf_set_gate(int fd, int program_fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 ? -errno : 0;
}
