#include "client/command/values.h"

#include "client/command/parse.h"
#include "common/clock.h"
#include "common/units.h"

int value_duration(const char *text, void *ns, struct err *err)
{
	return units_duration(text, ns, err);
}

int value_format(const char *text, void *format, struct err *err)
{
	return parse_format(text, format, err);
}

int value_time(const char *text, void *unix_ns, struct err *err)
{
	return parse_time(text, clock_ns(CLOCK_REALTIME), unix_ns, err);
}

int value_view(const char *text, void *view, struct err *err)
{
	return parse_view(text, view, err);
}

int value_regions(const char *text, void *regions, struct err *err)
{
	return parse_regions(text, regions, err);
}

int value_count(const char *text, void *count, struct err *err)
{
	return parse_count(text, count, err);
}
