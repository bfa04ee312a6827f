#include "daemon/export/retry.h"

#include <curl/curl.h>
#include <string.h>

#include "common/clock.h"

uint64_t retry_delay_ms(unsigned failures, uint32_t random, uint64_t wished_ms)
{
	uint64_t delay = RETRY_FIRST_MS;

	for (unsigned i = 1; i < failures && delay < RETRY_LAST_MS; i++)
		delay *= 2;
	if (delay > RETRY_LAST_MS)
		delay = RETRY_LAST_MS;
	delay = delay / 2 + delay / 2 * random / UINT32_MAX;
	if (wished_ms > RETRY_SERVER_MS)
		wished_ms = RETRY_SERVER_MS;
	return wished_ms > delay ? wished_ms : delay;
}

static uint64_t seconds(const char *digits, size_t length)
{
	uint64_t value = 0;

	for (size_t i = 0; i < length && value < RETRY_SERVER_MS; i++)
		value = value * 10 + (uint64_t)(digits[i] - '0');
	return value;
}

uint64_t retry_after_ms(const char *value, time_t now)
{
	size_t digits;
	uint64_t wait;
	time_t date;

	value += strspn(value, " \t");
	digits = strspn(value, "0123456789");
	if (digits > 0 && value[digits + strspn(value + digits, " \t\r\n")] == '\0') {
		wait = seconds(value, digits);
	} else {
		date = digits > 0 ? -1 : curl_getdate(value, NULL);
		wait = date > now ? (uint64_t)(date - now) : 0;
	}
	return wait < RETRY_SERVER_MS / 1000 ? wait * 1000 : RETRY_SERVER_MS;
}
