#include "daemon/schedule/host_guard.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "fleet/config/config.h"

double host_guard_pressure(const char *text, bool all)
{
	const char *line = strstr(text, all ? "full " : "some ");
	double percent;

	return line && sscanf(line + 5, "avg10=%lf", &percent) == 1 ? percent / 100 : 0;
}

static double pressure(const char *path, bool all)
{
	char text[256]; /* Two lines of 60 bytes. */

	return proc_read(path, text, sizeof(text)) > 0 ? host_guard_pressure(text, all) : 0;
}

static double load_per_processor(void)
{
	double load;

	return getloadavg(&load, 1) == 1 ? load / (double)sysconf(_SC_NPROCESSORS_ONLN) : 0;
}

enum miss host_guard_look(const struct config_guards *guards)
{
	const struct {
		const char *path;
		bool all;
		double most;
		enum miss why;
	} rows[] = {
	    {"/proc/pressure/cpu", false, guards->cpu_pressure, MISS_CPU_PRESSURE},
	    {"/proc/pressure/memory", true, guards->memory_pressure, MISS_MEMORY_PRESSURE},
	    {"/proc/pressure/io", true, guards->io_pressure, MISS_IO_PRESSURE},
	};

	if (load_per_processor() >= guards->load)
		return MISS_LOAD;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (access(rows[i].path, R_OK) == 0 &&
		    pressure(rows[i].path, rows[i].all) >= rows[i].most)
			return rows[i].why;
	return MISS_NONE;
}
