#include "common/log.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#define LINE_MAX_BYTES  1024
#define CHARACTER_BYTES 4 /* of the longest one, and of an escaped one */

static const char *log_name = "jxperf";
static bool log_verbose;
static bool log_journald;       /* lines on stderr carry their priority */
static int log_journal_fd = -1; /* where entries are sent from, or -1 */
static struct sockaddr_un log_journal;

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

/* ---------------------------------------------------------------- the journal */

/* A place for one entry: the line, what it is about, and names of fields. */
#define ENTRY_BYTES (LINE_MAX_BYTES + 1024)

/* All fields are written with their length, so that nothing in a value can end it. What does not
 * fit is left out; the line always does. */
static size_t put_field(char *entry, size_t used, const char *name, const char *value)
{
	uint64_t length = strlen(value), little_endian = htole64(length);

	if (length == 0 ||
	    strlen(name) + length + sizeof(length) + sizeof("\n\n") > ENTRY_BYTES - used)
		return used;
	used += (size_t)snprintf(entry + used, ENTRY_BYTES - used, "%s\n", name);
	memcpy(entry + used, &little_endian, sizeof(little_endian));
	used += sizeof(little_endian);
	return used + (size_t)snprintf(entry + used, ENTRY_BYTES - used, "%s\n", value);
}

static size_t put_number(char *entry, size_t used, const char *name, int value)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", value);
	return put_field(entry, used, name, text);
}

/* The address goes with each entry: a child that has closed our descriptor, and got another one of
 * its number, sends nothing there. False: it has to go to stderr. */
static bool send_entry(const struct log_subject *about, int priority, const char *line)
{
	char entry[ENTRY_BYTES];
	size_t used = put_field(entry, 0, "MESSAGE", line);

	if (log_journal_fd < 0)
		return false;
	used = put_number(entry, used, "PRIORITY", priority);
	used = put_field(entry, used, "SYSLOG_IDENTIFIER", log_name);
	if (about && about->window)
		used = put_field(entry, used, "JXPERF_WINDOW", about->window);
	if (about && about->schedule)
		used = put_field(entry, used, "JXPERF_SCHEDULE", about->schedule);
	if (about && about->app)
		used = put_field(entry, used, "JXPERF_APP", about->app);
	if (about && about->pid)
		used = put_number(entry, used, "JXPERF_PID", about->pid);
	return sendto(log_journal_fd, entry, used, MSG_DONTWAIT | MSG_NOSIGNAL,
		      (const struct sockaddr *)&log_journal, sizeof(log_journal)) == (ssize_t)used;
}

void log_to_journal(const char *path)
{
	if (log_journal_fd >= 0)
		(void)close(log_journal_fd); /* Nothing was written to it that could be lost. */
	log_journal_fd = -1;
	if (!path || strlen(path) >= sizeof(log_journal.sun_path))
		return;
	log_journal.sun_family = AF_UNIX;
	strcpy(log_journal.sun_path, path);
	log_journal_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* Is stderr what the service manager has connected to the journal, and not redirected since? */
static bool stderr_is_journal(const char *stream)
{
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void log_init(const char *name, bool verbose)
{
	const char *stream = getenv("JOURNAL_STREAM");

	log_name = name;
	log_verbose = verbose;
	log_journald = stream != NULL;
	log_to_journal(stderr_is_journal(stream) ? LOG_JOURNAL_SOCKET : NULL);
}

/* ---------------------------------------------------------------- lines */

static const char *level_name(int priority)
{
	return priority <= LOG_ERR       ? "error: "
	       : priority == LOG_WARNING ? "warning: "
	       : priority == LOG_DEBUG   ? "debug: "
					 : "";
}

static void write_line(int priority, const char *text)
{
	char line[LINE_MAX_BYTES];
	int used = log_journald ? snprintf(line, sizeof(line), "<%d>%s", priority, text)
				: snprintf(line, sizeof(line), "%s: %s%s", log_name,
					   level_name(priority), text);

	if (used > (int)sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	line[used++] = '\n';
	/* One write keeps lines of several processes apart; a full or closed stderr is no reason
	 * for a daemon to stop. */
	if (write(STDERR_FILENO, line, (size_t)used) < 0)
		return;
}

void log_about_v(const struct log_subject *subject, int priority, const char *fmt, va_list ap)
{
	char text[LINE_MAX_BYTES];
	int saved = errno;

	if (priority == LOG_DEBUG && !log_verbose)
		return;
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* May be cut. */
	if (!send_entry(subject, priority, text))
		write_line(priority, text);
	errno = saved;
}

void log_about(const struct log_subject *subject, int priority, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_about_v(subject, priority, fmt, ap);
	va_end(ap);
}

#define LOG_FUNCTION(fn, priority)                    \
	void fn(const char *fmt, ...)                 \
	{                                             \
		va_list ap;                           \
                                                      \
		va_start(ap, fmt);                    \
		log_about_v(NULL, priority, fmt, ap); \
		va_end(ap);                           \
	}

LOG_FUNCTION(log_error, LOG_ERR)
LOG_FUNCTION(log_warn, LOG_WARNING)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)
