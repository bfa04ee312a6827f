#include "client/terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_understands(int fd)
{
	const char *type = getenv("TERM");

	return isatty(fd) && type && type[0] && strcmp(type, "dumb") != 0;
}

static struct winsize size_of(int fd)
{
	struct winsize size = {0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0)
		return (struct winsize){0};
	return size;
}

size_t terminal_width(int fd)
{
	size_t columns = size_of(fd).ws_col;

	return columns ? columns : TERMINAL_WIDTH_DEFAULT;
}

size_t terminal_height(int fd)
{
	return size_of(fd).ws_row;
}

bool terminal_may_colour(int fd, bool json)
{
	const char *no = getenv("NO_COLOR");

	return !json && !(no && no[0]) && terminal_understands(fd);
}

/* The eight colours that every terminal has, as its user has set them: paper and ink are theirs. */
const char *terminal_sequence(enum terminal_style style)
{
	static const char *const sequences[] = {
	    [STYLE_PLAIN] = "",
	    [STYLE_HEADING] = "\033[1m",
	    [STYLE_QUIET] = "\033[2m",
	    [STYLE_DEAD_STORE] = "\033[31m",
	    [STYLE_SILENT_STORE] = "\033[35m",
	    [STYLE_SILENT_LOAD] = "\033[36m",
	};

	return sequences[style];
}

enum terminal_style terminal_style_of_kind(Jxp__Kind kind)
{
	switch (kind) {
	case JXP__KIND__KIND_DEAD_STORE:
		return STYLE_DEAD_STORE;
	case JXP__KIND__KIND_SILENT_STORE:
		return STYLE_SILENT_STORE;
	case JXP__KIND__KIND_SILENT_LOAD:
		return STYLE_SILENT_LOAD;
	default:
		return STYLE_PLAIN;
	}
}
