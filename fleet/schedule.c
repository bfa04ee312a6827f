#include "fleet/schedule.h"

struct draw schedule_draw(const struct config_schedule *s, const char *salt, const char *host)
{
	return (struct draw){.salt = salt ? salt : "",
			     .schedule = s->name,
			     .host = host,
			     .every_ns = s->every_ns,
			     .window_ns = s->window_ns,
			     .host_fraction = s->host_fraction,
			     .jvm_fraction = s->jvm_fraction,
			     .jitter = s->jitter};
}

bool schedule_is_time_of_day(const struct config_schedule *s, int minute)
{
	if (s->from_minute == CONFIG_ALWAYS)
		return true;
	if (s->from_minute < s->until_minute)
		return minute >= s->from_minute && minute < s->until_minute;
	return minute >= s->from_minute || minute < s->until_minute;
}
