#include "client/fleet/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/fleet/libcurl.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/utf8.h"
#include "export/clickhouse/answers.h"
#include "export/clickhouse/schema.h"

#define PASSWORD_MAX   255u
#define PASSWORD_BYTES (PASSWORD_MAX + 2) /* one more tells that there are more */
#define URL_BYTES      2048u
#define HEADER_BYTES   512u
#define WORDS_BYTES    300u
#define CONNECT_S      10

struct server {
	struct fleet_server asked;
	const struct libcurl *library;
	CURL *curl;
	struct curl_slist *headers;
	char url[URL_BYTES];
	char shown[URL_BYTES]; /* as the user gave it */
};

/* Where an answer goes. */
struct sink {
	struct buffer *answer;
	bool full;
};

/* ---------------------------------------------------------------- beginning */

static int read_password(const char *path, char password[PASSWORD_BYTES], struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : fd_read_text(fd, password, PASSWORD_BYTES);

	if (n < 0)
		return err_set_errno(err, (int)-n, "cannot read the password in '%s'", path);
	if (n > (ssize_t)PASSWORD_MAX)
		return err_set(err, EINVAL, "the password in '%s' has more than %u bytes", path,
			       PASSWORD_MAX);
	password[strcspn(password, "\r\n")] = '\0';
	return 0;
}

static int find_password(const struct server_options *o, char password[PASSWORD_BYTES],
			 struct err *err)
{
	const char *given = getenv(SERVER_PASSWORD);

	password[0] = '\0';
	if (o->password_file)
		return read_password(o->password_file, password, err);
	if (given && strlen(given) > PASSWORD_MAX)
		return err_set(err, EINVAL, "the password in $%s is too long", SERVER_PASSWORD);
	if (given)
		(void)snprintf(password, PASSWORD_BYTES, "%s", given); /* Fits. */
	return 0;
}

static int add_header(struct server *s, const char *name, const char *value, struct err *err)
{
	char header[HEADER_BYTES];
	struct curl_slist *list;

	if (value[strcspn(value, "\r\n")] ||
	    snprintf(header, sizeof(header), "%s%s%s", name, value[0] ? ": " : ":", value) >=
		(int)sizeof(header))
		return err_set(err, EINVAL, "the user or the password is no line of text");
	list = s->library->append(s->headers, header);
	explicit_bzero(header, sizeof(header));
	if (!list)
		return err_set(err, ENOMEM, "out of memory");
	s->headers = list;
	return 0;
}

static int set_headers(struct server *s, const struct server_options *o, struct err *err)
{
	char password[PASSWORD_BYTES];
	int r = find_password(o, password, err);

	if (r == 0 && o->user)
		r = add_header(s, "X-ClickHouse-User", o->user, err);
	if (r == 0 && password[0])
		r = add_header(s, "X-ClickHouse-Key", password, err);
	if (r == 0)
		r = add_header(s, "Content-Type", "text/plain", err);
	explicit_bzero(password, sizeof(password));
	return r;
}

/* The answer comes when the query has ended, so that an error never comes in its middle. */
static int set_url(struct server *s, const struct server_options *o, struct err *err)
{
	const char *url = o->url ? o->url : SERVER_URL_DEFAULT;
	size_t length = strlen(url);

	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
	    strpbrk(url, "?# \r\n"))
		return err_set(err, EINVAL,
			       "'%s' is no address of a server, such as '" SERVER_URL_DEFAULT "'",
			       url);
	while (length > 0 && url[length - 1] == '/')
		length--;
	if (snprintf(s->url, sizeof(s->url), "%.*s/?wait_end_of_query=1%s%s", (int)length, url,
		     o->database[0] ? "&database=" : "", o->database) >= (int)sizeof(s->url))
		return err_set(err, EINVAL, "the address of the server is too long");
	(void)snprintf(s->shown, sizeof(s->shown), "%.*s", (int)length, url); /* Fits. */
	return 0;
}

static size_t take(char *bytes, size_t one, size_t count, void *context)
{
	struct sink *sink = context;

	if (buffer_append(sink->answer, bytes, one * count) == 0)
		return count;
	sink->full = true;
	return 0;
}

static bool set_options(struct server *s, const struct server_options *o)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = s->library->set;
	CURL *c = s->curl;

	return set(c, CURLOPT_URL, s->url) == CURLE_OK &&
	       set(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       set(c, CURLOPT_HTTPHEADER, s->headers) == CURLE_OK &&
	       set(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       set(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       set(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
	       set(c, CURLOPT_TIMEOUT, (long)SERVER_TIMEOUT_S) == CURLE_OK &&
	       set(c, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
	       (!o->ca_file || set(c, CURLOPT_CAINFO, o->ca_file) == CURLE_OK);
}

int server_open(const struct server_options *options, struct server **out, struct err *err)
{
	struct server_options o = *options;
	const struct libcurl *library;
	_cleanup_(server_release) struct server *s = NULL;
	int r;

	if (!o.database)
		o.database = HOUSE_DATABASE;
	r = o.database[0] ? house_name_check("the database", o.database, err) : 0;
	if (r < 0)
		return r;
	library = libcurl_load(err);
	if (!library)
		return -ENOENT;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->asked = (struct fleet_server){
	    .ask = server_ask, .context = s, .answer_bytes_max = SERVER_ANSWER_MAX};
	s->library = library;
	s->curl = library->init();
	r = s->curl ? set_url(s, &o, err) : err_set(err, ENOMEM, "out of memory");
	if (r == 0)
		r = set_headers(s, &o, err);
	if (r == 0 && !set_options(s, &o))
		r = err_set(err, EINVAL, "libcurl does not take the address '%s'", s->shown);
	if (r == 0)
		*out = TAKE_PTR(s);
	return r;
}

void server_release(struct server **s)
{
	if (!*s)
		return;
	(*s)->library->cleanup((*s)->curl);
	(*s)->library->free_list((*s)->headers);
	free(*s);
}

/* ---------------------------------------------------------------- asking */

static int not_reached(const struct server *s, CURLcode code, const struct sink *sink,
		       struct err *err)
{
	if (sink->full)
		return err_set(err, EMSGSIZE,
			       "what '%s' answers is larger than %zu MiB: ask for less, with "
			       "--app or a shorter time",
			       s->shown, SERVER_ANSWER_MAX >> 20);
	return err_set(err, ECONNREFUSED, "cannot ask '%s': %s", s->shown, s->library->words(code));
}

/* A server that is none, or a query that it does not do. */
static int refused(const struct server *s, long status, const struct buffer *answer,
		   struct err *err)
{
	const void *body = buffer_length(answer) > 0 ? (const void *)buffer_head(answer) : "";
	unsigned code = house_exception(body, buffer_length(answer));
	char words[WORDS_BYTES], fit[WORDS_BYTES];

	house_exception_words(body, buffer_length(answer), words, sizeof(words));
	(void)utf8_sanitize(fit, sizeof(fit), words); /* May be cut. */
	if (code == 60 || code == 81)                 /* UNKNOWN_TABLE, UNKNOWN_DATABASE */
		return err_set(err, ENOENT,
			       "'%s' has no windows of a fleet: run 'jxperfctl fleet-schema "
			       "--apply' (%s)",
			       s->shown, fit);
	if (code == 47) /* UNKNOWN_IDENTIFIER */
		return err_set(err, EPROTO,
			       "the tables of '%s' are of another version: run 'jxperfctl "
			       "fleet-schema --apply' of this one (%s)",
			       s->shown, fit);
	if (status == 401 || status == 403)
		return err_set(err, EACCES, "'%s' does not let this user ask (%ld)%s%s", s->shown,
			       status, code ? ": " : "", code ? fit : "");
	if (!code)
		return err_set(err, EPROTO, "'%s' answers %ld, and not as ClickHouse does",
			       s->shown, status);
	return err_set(err, EPROTO, "'%s' answers %ld: %s", s->shown, status, fit);
}

int server_ask(void *server, const char *query, struct buffer *answer, struct err *err)
{
	struct server *s = server;
	struct sink sink = {.answer = answer};
	long status = 0;
	const struct libcurl *l = s->library;
	CURLcode code = l->set(s->curl, CURLOPT_POSTFIELDS, query);

	if (code == CURLE_OK)
		code = l->set(s->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(query));
	if (code == CURLE_OK)
		code = l->set(s->curl, CURLOPT_WRITEDATA, &sink);
	if (code == CURLE_OK)
		code = l->perform(s->curl);
	if (code != CURLE_OK)
		return not_reached(s, code, &sink, err);
	(void)l->get_info(s->curl, CURLINFO_RESPONSE_CODE, &status); /* 0 where none. */
	if (status != 200)
		return refused(s, status, answer, err);
	return 0;
}

const struct fleet_server *server_asked(const struct server *s)
{
	return &s->asked;
}
