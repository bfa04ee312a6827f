#include "attach/process/connections.h"

#include "common/cleanup.h"
#include "common/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES     (1u << 20) /* some 10,000 sockets; those beyond are not looked at */
#define LINE_BYTES     256        /* longer ones have other paths */
#define PATH_BYTES     64
#define ACCEPTS        0x10000u /* __SO_ACCEPTCON: the one that listens */
#define SS_CONNECTING_ 2u       /* linux/net.h: nobody has accepted it */
#define SS_CONNECTED_  3u

/* "Num: RefCount Protocol Flags Type St Inode Path" (net/unix/af_unix.c, unix_seq_show). */
static void look_at_line(struct connections *c, const char *start, const char *path)
{
	unsigned flags, state;
	int behind = 0;
	char text[LINE_BYTES];
	const char *line = text;

	/* sscanf would look for the end of all of it. */
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(start, "\n"), start);
	if (sscanf(line, "%*s %*x %*x %x %*x %x %*u %n", &flags, &state, &behind) != 2 || !behind)
		return;
	line += behind;
	if (strncmp(line, path, strlen(path)) != 0 || (flags & ACCEPTS))
		return;
	/* The JVM binds under another name and renames (AttachListener::pd_init). */
	line += strlen(path);
	if (strncmp(line, ".tmp", strlen(".tmp")) == 0)
		line += strlen(".tmp");
	if (*line)
		return;
	c->served += state == SS_CONNECTED_;
	c->waiting += state == SS_CONNECTING_;
}

struct connections connections_in(const char *text, pid_t namespace_pid)
{
	struct connections c = {0};
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "/tmp/.java_pid%d", namespace_pid);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		look_at_line(&c, line, path);
	}
	return c;
}

struct connections connections_of(pid_t pid, pid_t namespace_pid)
{
	_cleanup_free_ char *text = malloc(TEXT_BYTES);
	char path[PATH_BYTES];

	(void)snprintf(path, sizeof(path), "/proc/%d/net/unix", pid);
	if (!text || proc_read(path, text, TEXT_BYTES) <= 0)
		return (struct connections){0};
	return connections_in(text, namespace_pid);
}
