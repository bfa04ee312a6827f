#include "common/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One message is one line whatever was quoted in it: control characters become '?'. */
static void flatten(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ')
			*s = '?';
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
		va_end(ap);
		flatten(err->message);
	}
	return -code;
}

int err_set_errno(struct err *err, int code, const char *fmt, ...)
{
	char reason[128];
	size_t used;
	va_list ap;

	if (!err)
		return -code;
	va_start(ap, fmt);
	(void)vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	used = strlen(err->message);
	(void)snprintf(err->message + used, sizeof(err->message) - used, ": %s",
		       strerror_r(code, reason, sizeof(reason)));
	flatten(err->message);
	return -code;
}
