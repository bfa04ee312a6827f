/*
 * Tells what a schedule of the configuration means, wherever it is: in the daemon, and in plans of
 * a fleet that is elsewhere.
 */
#ifndef JXPERF_FLEET_SCHEDULE_H
#define JXPERF_FLEET_SCHEDULE_H

#include <stdbool.h>

#include "fleet/config/config.h"
#include "fleet/draw.h"

/* Its draws on a host; all three are borrowed. salt may be NULL. */
struct draw schedule_draw(const struct config_schedule *s, const char *salt, const char *host);

/* Do its windows begin at this minute of the day? */
bool schedule_is_time_of_day(const struct config_schedule *s, int minute);

#endif
