#include "daemon/engine/pause.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/utf8.h"

#define NAME "pause"
/* Two numbers and the reason. */
#define LINE_BYTES (64 + PAUSE_REASON_BYTES)

static void take_line(struct pause *p, const char *line)
{
	int at = 0;

	if (sscanf(line, "%" SCNu64 " %u %n", &p->until_unix_ns, &p->who, &at) < 2 || at == 0)
		return;
	p->on = true;
	(void)utf8_sanitize(p->reason, sizeof(p->reason), line + at); /* May be cut. */
}

int pause_load(struct pause *p, const char *directory, struct err *err)
{
	_cleanup_close_ int fd = -1;
	char line[LINE_BYTES] = "";
	ssize_t n;

	if (!directory[0])
		return 0;
	if (snprintf(p->path, sizeof(p->path), "%s/" NAME, directory) >= (int)sizeof(p->path)) {
		p->path[0] = '\0';
		return err_set(err, ENAMETOOLONG, "the path '%s' is too long", directory);
	}
	fd = open(p->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : err_set_errno(err, errno, "cannot open '%s'", p->path);
	n = read(fd, line, sizeof(line) - 1);
	if (n < 0)
		return err_set_errno(err, errno, "cannot read '%s'", p->path);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	take_line(p, line);
	return p->on ? 0 : err_set(err, EBADMSG, "'%s' is no pause of jxperfd's", p->path);
}

/* Nobody waits for the disk: what is lost with the machine's power is said again. */
static int keep(const struct pause *p, struct err *err)
{
	char new[PAUSE_PATH_BYTES + sizeof(".new")];
	FILE *file;
	bool written;

	if (!p->path[0])
		return 0;
	(void)snprintf(new, sizeof(new), "%s.new", p->path); /* Fits. */
	file = fopen(new, "we");
	if (!file)
		return err_set_errno(err, errno, "cannot write '%s'", new);
	written = fprintf(file, "%" PRIu64 " %u %s\n", p->until_unix_ns, p->who, p->reason) > 0;
	if (fclose(file) != 0 || !written || rename(new, p->path) < 0) {
		(void)err_set_errno(err, errno, "cannot write '%s'", p->path);
		(void)unlink(new);
		return -EIO;
	}
	return 0;
}

int pause_begin(struct pause *p, uid_t who, uint64_t for_ns, const char *reason, struct err *err)
{
	struct pause next = *p;
	uint64_t now = clock_ns(CLOCK_REALTIME);
	struct err why;

	next.on = true;
	next.who = who;
	next.until_unix_ns = for_ns ? now + for_ns : 0;
	if (next.until_unix_ns && next.until_unix_ns < now)
		return err_set(err, EINVAL, "that is too long: leave out --for");
	(void)utf8_sanitize(next.reason, sizeof(next.reason), reason); /* May be cut. */
	*p = next;
	return keep(p, &why) < 0
		   ? err_set(err, EIO, "windows are paused, but not after a restart: %s",
			     why.message)
		   : 0;
}

static bool file_forbids(const struct pause *p, struct err *why)
{
	/* Where it cannot be told, somebody may have wanted it. */
	if (!p->file || (access(p->file, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR)))
		return false;
	(void)err_set(why, EBUSY,
		      "windows are paused by the file '%s': they go on when it is removed",
		      p->file);
	return true;
}

int pause_end(struct pause *p, struct err *err)
{
	p->on = false;
	if (p->path[0] && unlink(p->path) < 0 && errno != ENOENT)
		return err_set_errno(err, errno,
				     "windows go on, but not after a restart: cannot remove '%s'",
				     p->path);
	return file_forbids(p, err) ? -EEXIST : 0;
}

static const char *until_in_words(const struct pause *p, char *text, size_t size)
{
	time_t at = (time_t)(p->until_unix_ns / NS_PER_S);
	struct tm local;

	text[0] = '\0';
	if (p->until_unix_ns && localtime_r(&at, &local))
		(void)strftime(text, size, " until %Y-%m-%d %H:%M:%S", &local); /* Fits. */
	return text;
}

static const char *who_in_words(const struct pause *p, char *text, size_t size)
{
	(void)snprintf(text, size, p->who == 0 ? "root" : "user %u", p->who); /* Fits. */
	return text;
}

bool pause_forbids(const struct pause *p, struct err *why)
{
	char until[64], who[32];

	if (!p->on || (p->until_unix_ns && clock_ns(CLOCK_REALTIME) >= p->until_unix_ns))
		return file_forbids(p, why);
	(void)err_set(why, EBUSY, "windows are paused by %s%s%s%s: 'jxperfctl resume' ends that",
		      who_in_words(p, who, sizeof(who)), until_in_words(p, until, sizeof(until)),
		      p->reason[0] ? ", " : "", p->reason);
	return true;
}
