#include "daemon/export/credentials.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/fd.h"

static int read_file(const char *path, char *text, size_t size, struct err *err)
{
	/* A pipe that nobody writes to is not waited for. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -errno : fd_read_text(fd, text, size);

	if (n < 0)
		return err_set_errno(err, (int)-n, "cannot read '%s'", path);
	if ((size_t)n + 1 >= size)
		return err_set(err, EMSGSIZE, "'%s' is longer than %zu bytes", path, size - 2);
	if (strlen(text) != (size_t)n)
		return err_set(err, EINVAL, "'%s' has a NUL", path);
	return 0;
}

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\t')
			return true;
	return false;
}

static int read_password(struct credentials *c, const char *path, struct err *err)
{
	int r = read_file(path, c->password, sizeof(c->password), err);

	if (r < 0)
		return r;
	c->password[strcspn(c->password, "\r\n")] = '\0';
	if (!c->password[0] || has_controls(c->password))
		return err_set(err, EINVAL, "'%s' has no password in its first line", path);
	return 0;
}

/* A name of a header is a token (RFC 9110, 5.6.2). */
static bool is_header(const char *line)
{
	size_t name = strcspn(line, ":");

	if (name == 0 || line[name] != ':' || !line[name + 1 + strspn(line + name + 1, " \t")] ||
	    has_controls(line))
		return false;
	for (size_t i = 0; i < name; i++)
		if (!isalnum((unsigned char)line[i]) && !strchr("!#$%&'*+-.^_`|~", line[i]))
			return false;
	return true;
}

static int read_headers(struct credentials *c, const char *path, struct err *err)
{
	int r = read_file(path, c->text, sizeof(c->text), err);
	char *rest = c->text, *line;
	unsigned number = 0;

	if (r < 0)
		return r;
	while ((line = strsep(&rest, "\n"))) {
		number++;
		line[strcspn(line, "\r")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (!is_header(line))
			return err_set(err, EINVAL, "'%s', line %u, is not 'Name: value'", path,
				       number);
		if (c->header_count == CREDENTIALS_HEADERS_MAX)
			return err_set(err, E2BIG, "'%s' has more than %d headers", path,
				       CREDENTIALS_HEADERS_MAX);
		c->headers[c->header_count++] = line;
	}
	return 0;
}

int credentials_read(struct credentials *c, const char *password_file, const char *headers_file,
		     struct err *err)
{
	int r = 0;

	memset(c, 0, sizeof(*c));
	if (password_file[0])
		r = read_password(c, password_file, err);
	if (r == 0 && headers_file[0])
		r = read_headers(c, headers_file, err);
	return r;
}

void credentials_wipe(struct credentials *c)
{
	explicit_bzero(c, sizeof(*c));
}
