#include "daemon/http/exposition.h"

#include <inttypes.h>
#include <string.h>

static const char *const type_names[] = {[EXPOSITION_GAUGE] = "gauge",
					 [EXPOSITION_COUNTER] = "counter",
					 [EXPOSITION_HISTOGRAM] = "histogram"};

static void write_unit(FILE *out, const char *name)
{
	static const char *const units[] = {"bytes", "seconds", "ratio"};
	const char *last = strrchr(name, '_');

	for (size_t i = 0; last && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(last + 1, units[i]) == 0)
			fprintf(out, "# UNIT %s %s\n", name, units[i]);
}

void exposition_head(FILE *out, bool openmetrics, enum exposition_type type, const char *name,
		     const char *help)
{
	const char *total = type == EXPOSITION_COUNTER && !openmetrics ? "_total" : "";

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, total, help, name, total,
		type_names[type]);
	if (openmetrics)
		write_unit(out, name);
}

void exposition_counter(FILE *out, bool openmetrics, const char *name, const char *help,
			uint64_t value)
{
	exposition_head(out, openmetrics, EXPOSITION_COUNTER, name, help);
	fprintf(out, "%s_total %" PRIu64 "\n", name, value);
}

void exposition_gauge(FILE *out, bool openmetrics, const char *name, const char *help, double value)
{
	exposition_head(out, openmetrics, EXPOSITION_GAUGE, name, help);
	fprintf(out, "%s %.15g\n", name, value);
}

void exposition_end_line(FILE *out, bool openmetrics, unsigned window, double value, double time_s)
{
	if (openmetrics && window > 0)
		fprintf(out, " # {window_id=\"w%u\"} %.15g %.3f", window, value, time_s);
	fputc('\n', out);
}
