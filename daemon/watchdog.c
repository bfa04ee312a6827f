#include "daemon/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "daemon/notify.h"

#define US_PER_MS 1000u

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

uint64_t watchdog_period_ms(void)
{
	if (getenv("WATCHDOG_PID") && number("WATCHDOG_PID") != (uint64_t)getpid())
		return 0; /* Meant for the one who has started us. */
	return number("WATCHDOG_USEC") / US_PER_MS;
}

static void on_timer(uv_timer_t *timer)
{
	(void)timer;
	(void)notify_send("WATCHDOG=1"); /* The next one is soon. */
}

void watchdog_start(uv_timer_t *timer)
{
	uint64_t ms = watchdog_period_ms() / 2;

	if (ms > 0)
		(void)uv_timer_start(timer, on_timer, 0, ms); /* Fails only when it is closing. */
}
