#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#define LINE_MAX_BYTES  1024
#define CHARACTER_BYTES 4 /* of the longest one, and of an escaped one */

static const char *log_name = "jxperf";
static bool log_verbose;
static bool log_journald;

void log_init(const char *name, bool verbose)
{
	log_name = name;
	log_verbose = verbose;
	log_journald = getenv("JOURNAL_STREAM") != NULL;
}

size_t log_quote(char *to, size_t size, const char *text)
{
	size_t used = 0;

	to[used++] = '"';
	for (; *text; text++) {
		bool inside = (*text & 0xc0) == 0x80; /* of a character, which has room */

		if (!inside && used + CHARACTER_BYTES + sizeof("\"") > size)
			break;
		if (*text == '"' || *text == '\\')
			to[used++] = '\\';
		to[used++] = *text;
	}
	to[used++] = '"';
	to[used] = '\0';
	return used;
}

static void log_line(int priority, const char *level, const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int saved = errno;
	int used;

	used = log_journald ? snprintf(line, sizeof(line), "<%d>", priority)
			    : snprintf(line, sizeof(line), "%s: %s", log_name, level);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used - 1, fmt, ap);
	if (used > (int)sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	line[used++] = '\n';
	/* One write keeps lines of several processes apart; a full or closed stderr is no reason
	 * for a daemon to stop. */
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		errno = saved;
	errno = saved;
}

#define LOG_FUNCTION(fn, priority, level)           \
	void fn(const char *fmt, ...)               \
	{                                           \
		va_list ap;                         \
                                                    \
		va_start(ap, fmt);                  \
		log_line(priority, level, fmt, ap); \
		va_end(ap);                         \
	}

LOG_FUNCTION(log_error, LOG_ERR, "error: ")
LOG_FUNCTION(log_warn, LOG_WARNING, "warning: ")
LOG_FUNCTION(log_info, LOG_INFO, "")

void log_debug(const char *fmt, ...)
{
	va_list ap;

	if (!log_verbose)
		return;
	va_start(ap, fmt);
	log_line(LOG_DEBUG, "debug: ", fmt, ap);
	va_end(ap);
}
