#include "fleet/config/reading.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/units.h"

const char *reading_path(char path[PLACE_PATH_BYTES], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(path, PLACE_PATH_BYTES, format, args);
	va_end(args);
	return path;
}

static const char *member(char text[PLACE_PATH_BYTES], const char *path, const char *key)
{
	return reading_path(text, "%s%s%s", path, path[0] && key[0] ? "." : "", key);
}

int reading_wrong(struct config_reading *r, const char *path, const char *key, const char *format,
		  ...)
{
	char at[PLACE_PATH_BYTES], why[ERR_MESSAGE_MAX];
	const struct config_place *place = places_of(&r->places, member(at, path, key));
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args); /* May be cut. */
	va_end(args);
	return err_set(r->err, EINVAL, "%s:%u:%u: %s%s%s", r->name, place->line, place->column, at,
		       at[0] ? ": " : "", why);
}

int reading_duration(struct config_reading *r, const char *path, const char *key, const char *text,
		     uint64_t *ns)
{
	struct err why;

	if (text && units_duration(text, ns, &why) < 0)
		return reading_wrong(r, path, key, "%s", why.message);
	return 0;
}

int reading_size(struct config_reading *r, const char *path, const char *key, const char *text,
		 uint64_t least, uint64_t *bytes)
{
	bool in_mib = least >= 1u << 20;
	struct err why;

	if (text && units_size(text, bytes, &why) < 0)
		return reading_wrong(r, path, key, "%s", why.message);
	if (text && *bytes < least)
		return reading_wrong(r, path, key, "'%s' is too little: use at least %llu%s", text,
				     (unsigned long long)(least >> (in_mib ? 20 : 10)),
				     in_mib ? "MiB" : "KiB");
	return 0;
}

int reading_count(struct config_reading *r, const char *path, const char *key, const char *text,
		  uint32_t most, uint32_t *count)
{
	char *end;
	unsigned long value;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || value < 1 || value > most)
		return reading_wrong(r, path, key, "'%s' is not a number from 1 to %u", text, most);
	*count = (uint32_t)value;
	return 0;
}
