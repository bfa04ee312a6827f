/*
 * Fuzzes the daemon's configuration: a text is either refused with one line that names its place,
 * and nothing is written, or what is made of it keeps the promises of fleet/config/config.h, and
 * draws can be made with it. libFuzzer entry point.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/config/config.h"
#include "fleet/schedule.h"
#include "fleet/naming.h"
#include "fleet/selector.h"
#include "tests/unit/support/config_text.h"

#define UNTOUCHED 0x5a

static void require(bool promise)
{
	if (!promise)
		abort();
}

static void require_untouched(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		require(bytes[i] == UNTOUCHED);
}

static void require_fraction(double f)
{
	require(isfinite(f) && f > 0 && f <= 1);
}

static void check_schedule(const struct config *c, const struct config_schedule *s)
{
	const struct jvm_facts jvm = {.app = "shop", .user = "web", .command = "java Main"};
	struct draw d = schedule_draw(s, c->texts.salt, "h1");
	uint64_t start = draw_start(&d, 7, "42:4711");

	require(s->name && s->name[0]);
	require(s->window_ns > 0 && s->window_ns <= s->every_ns);
	require(s->kind_count <= sizeof(s->kinds) / sizeof(s->kinds[0]));
	require_fraction(s->budget);
	require_fraction(s->host_fraction);
	require_fraction(s->jvm_fraction);
	require(isfinite(s->jitter) && s->jitter >= 0 && s->jitter <= 1);
	require((s->from_minute == CONFIG_ALWAYS) == (s->until_minute == CONFIG_ALWAYS));
	require(s->from_minute < CONFIG_DAY_MINUTES && s->until_minute < CONFIG_DAY_MINUTES);
	require(s->failures > 0);
	require(draw_epoch(&d, start) == 7);
	(void)selector_matches(&s->match, &jvm); /* Whether it does is the text's affair. */
	(void)schedule_is_time_of_day(s, 0);
}

static void check(const struct config *c)
{
	const struct jvm_facts jvm = {.main_class = "org.h2.Main"};
	char app[NAMING_BYTES], version[NAMING_BYTES];

	require_fraction(c->host_budget);
	require(c->windows_at_once > 0);
	for (size_t i = 0; i < c->app_count; i++)
		require(c->apps[i].app && c->apps[i].app[0]);
	for (size_t i = 0; i < c->schedule_count; i++)
		check_schedule(c, &c->schedules[i]);
	(void)naming_app(c, &jvm, app, version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config c;
	struct err err = {""};

	if (size > CONFIG_BYTES_MAX)
		return 0;
	memset(&c, UNTOUCHED, sizeof(c));
	if (config_parse(&c, "fuzz.yaml", (const char *)data, size, &err) < 0) {
		require(err.message[0] && !strchr(err.message, '\n'));
		require_untouched((const uint8_t *)&c, sizeof(c));
		return 0;
	}
	check(&c);
	config_release(&c);
	return 0;
}
