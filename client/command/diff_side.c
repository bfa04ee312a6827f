#include "client/command/diff_side.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "client/command/parse.h"
#include "client/daemon/exchange.h"
#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "compare/side_json.h"

/* ---------------------------------------------------------------- what is meant */

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), wanted = strlen(end);

	return length > wanted && strcmp(text + length - wanted, end) == 0;
}

/* "w7" is a window's, whatever files there are. */
static bool is_id(const char *text)
{
	return text[0] == 'w' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1);
}

static bool is_file(const char *text)
{
	if (strchr(text, '/') || ends_in(text, ".json"))
		return true;
	return !is_id(text) && access(text, F_OK) == 0;
}

int diff_side_parse(struct diff_side *s, const char *text, const Jxp__Selection *which,
		    struct err *err)
{
	*s = (struct diff_side){.text = text, .file = is_file(text)};
	jxp__selection__init(&s->selection);
	if (s->file)
		return 0;
	if (!parse_is_period(text)) {
		s->selection.window = (char *)text;
		return 0;
	}
	if (!which->app[0])
		return err_set(err, EINVAL,
			       "'%s' is a period: say with --app NAME whose windows are meant",
			       text);
	s->selection = *which;
	return parse_period(text, clock_ns(CLOCK_REALTIME), &s->selection.since_unix_ns,
			    &s->selection.until_unix_ns, err);
}

/* ---------------------------------------------------------------- a file */

static int read_all(const char *path, struct buffer *b, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_set_errno(err, errno, "it cannot be opened");
	r = buffer_read_all(b, fd);
	if (r == -ENOMEM)
		return err_set(err, ENOMEM, "no memory for it");
	if (r == -ENOBUFS)
		return err_set(err, EBADMSG, "it has more than %zu MiB, and no report has",
			       COMPARE_REPORT_MAX >> 20);
	return r < 0 ? err_set_errno(err, -r, "it cannot be read") : 0;
}

static int load_file(const char *path, struct compare_side *out, struct err *err)
{
	_cleanup_(buffer_release) struct buffer bytes;
	struct err why;
	int r;

	buffer_init(&bytes, COMPARE_REPORT_MAX + BUFFER_READ_BYTES);
	r = read_all(path, &bytes, &why);
	if (r == 0)
		r = compare_side_read(out, path,
				      buffer_length(&bytes) > 0 ? buffer_head(&bytes) : NULL,
				      buffer_length(&bytes), &why);
	return r < 0 ? err_set(err, -r, "cannot compare '%s': %s", path, why.message) : 0;
}

/* ---------------------------------------------------------------- of the daemon's */

static int load_window(const struct diff_side *s, struct client *c, struct compare_side *out,
		       struct err *err)
{
	Jxp__ReportRequest report = JXP__REPORT_REQUEST__INIT;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	Jxp__Selection selection = s->selection;
	struct err why;
	int r;

	report.window = selection.window;
	report.merged = selection.app[0] ? &selection : NULL;
	report.format = JXP__FORMAT__FORMAT_JSON;
	report.pairs = 1; /* The rest is not looked at. */
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_REPORT, &report, &reply, err);
	if (r < 0)
		return r;
	r = compare_side_read(out, s->text, reply->document->text.data, reply->document->text.len,
			      &why);
	if (r == -EBADMSG) /* Nobody here made it. */
		r = -EPROTO;
	return r < 0 ? err_set(err, -r, "cannot compare '%s': %s", s->text, why.message) : 0;
}

int diff_side_load(const struct diff_side *s, struct client *c, struct compare_side *out,
		   struct err *err)
{
	return s->file ? load_file(s->text, out, err) : load_window(s, c, out, err);
}
