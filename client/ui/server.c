#include "client/ui/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "client/output/json.h"
#include "client/output/page.h"
#include "client/ui/child.h"
#include "client/ui/routes.h"
#include "common/cleanup.h"

#define CONNECTIONS_MAX 128u
#define IDLE_S          5u
#define SECRET_BYTES    32
#define SECRET_TEXT     (2 * SECRET_BYTES + 1)
#define BACKLOG         16
#define COOKIE_NAME_MAX 32
#define ADDRESS_MAX     128
#define LIVE_DOCUMENT   "{\"live\":{}}"

#define HTML "text/html; charset=utf-8"
#define JSON "application/json"

struct ui_server {
	struct MHD_Daemon *http;
	const char *socket;
	char *page;
	uint16_t port;
	char token[SECRET_TEXT]; /* opens it once */
	atomic_bool opened;
	/* All of it is served below this path, and the cookie belongs to it: cookies of a host are
	 * sent to all of its ports, and other users may listen on another one. */
	char path[SECRET_TEXT + 2]; /* "/SECRET/" */
	char cookie[SECRET_TEXT];
	char cookie_name[COOKIE_NAME_MAX];
	char address[ADDRESS_MAX];
	atomic_bool stop;
};

/* ---------------------------------------------------------------- secrets */

static int make_secret(char text[SECRET_TEXT])
{
	uint8_t bytes[SECRET_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", bytes[i]); /* Fits. */
	return 0;
}

/* Takes as long whatever the text is. */
static bool is_secret(const char secret[SECRET_TEXT], const char *text)
{
	unsigned differs = 0;

	if (!text || strlen(text) != SECRET_TEXT - 1)
		return false;
	for (size_t i = 0; i < SECRET_TEXT - 1; i++)
		differs |= (unsigned)(unsigned char)(secret[i] ^ text[i]);
	return differs == 0;
}

/* ---------------------------------------------------------------- who asks */

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* "127.0.0.1:PORT" or "localhost:PORT": a name of somebody else's that leads here is neither. */
static bool is_own_host(const struct ui_server *s, const char *host)
{
	char own[2][ADDRESS_MAX];

	(void)snprintf(own[0], sizeof(own[0]), "127.0.0.1:%u", s->port); /* Fits. */
	(void)snprintf(own[1], sizeof(own[1]), "localhost:%u", s->port); /* As above. */
	return host && (strcmp(host, own[0]) == 0 || strcmp(host, own[1]) == 0);
}

static bool is_own_origin(const struct ui_server *s, const char *origin)
{
	static const char scheme[] = "http://";

	return strncmp(origin, scheme, sizeof(scheme) - 1) == 0 &&
	       is_own_host(s, origin + sizeof(scheme) - 1);
}

/* Browsers send Origin with what changes something, and pages of others cannot leave it out. */
static bool is_ours(const struct ui_server *s, struct MHD_Connection *c, bool changes)
{
	const char *origin = header(c, MHD_HTTP_HEADER_ORIGIN);

	if (!is_own_host(s, header(c, MHD_HTTP_HEADER_HOST)))
		return false;
	return origin ? is_own_origin(s, origin) : !changes;
}

static bool has_cookie(const struct ui_server *s, struct MHD_Connection *c)
{
	return is_secret(s->cookie,
			 MHD_lookup_connection_value(c, MHD_COOKIE_KIND, s->cookie_name));
}

/* ---------------------------------------------------------------- answers */

/* Sends bytes, which it frees; and the cookie of a session that was opened, or NULL. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, const char *type,
			      void *bytes, size_t size, const struct ui_server *opened)
{
	struct MHD_Response *response =
	    MHD_create_response_from_buffer(size, bytes, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(bytes);
		return MHD_NO;
	}
	/* Without memory for one of them the answer is as good. */
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(response, "X-Frame-Options", "DENY");
	(void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	(void)MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	if (opened) {
		char cookie[COOKIE_NAME_MAX + 2 * SECRET_TEXT + 64];

		(void)snprintf(cookie, sizeof(cookie), "%s=%s; Path=%s; HttpOnly; SameSite=Strict",
			       opened->cookie_name, opened->cookie, opened->path); /* Fits. */
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, opened->path);
	}
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

/* For who opens a page. */
static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	char *bytes = strdup(text);

	return bytes ? answer(c, status, "text/plain; charset=utf-8", bytes, strlen(bytes), NULL)
		     : MHD_NO;
}

/* For the page itself: {"error": text}. */
static enum MHD_Result answer_error(struct MHD_Connection *c, unsigned status, const char *text)
{
	json_t *object = json_object();
	char *bytes;

	json_put(&object, "error", json_readable(text));
	bytes = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (!bytes)
		return MHD_NO;
	return answer(c, status, JSON, bytes, strlen(bytes), NULL);
}

static enum MHD_Result forbid(struct MHD_Connection *c)
{
	return answer_text(c, MHD_HTTP_FORBIDDEN,
			   "this page was not opened by whoever runs 'jxperfctl ui': start it "
			   "again, and open the address that it prints");
}

/* The live page itself: one without a report. */
static enum MHD_Result answer_page(const struct ui_server *s, struct MHD_Connection *c)
{
	char *page;
	size_t size;
	struct err err;

	if (page_fill(s->page, LIVE_DOCUMENT, strlen(LIVE_DOCUMENT), &page, &size, &err) < 0)
		return answer_error(c, MHD_HTTP_INTERNAL_SERVER_ERROR, err.message);
	return answer(c, MHD_HTTP_OK, HTML, page, size, NULL);
}

/* The token's first use, which is its last. */
static enum MHD_Result open_session(struct ui_server *s, struct MHD_Connection *c)
{
	if (atomic_exchange(&s->opened, true))
		return forbid(c);
	return answer(c, MHD_HTTP_SEE_OTHER, "text/plain", strdup(""), 0, s);
}

/* ---------------------------------------------------------------- commands */

static const char *parameter(void *request, const char *name)
{
	return MHD_lookup_connection_value(request, MHD_GET_ARGUMENT_KIND, name);
}

/* The last line of what was said, without the program's name. */
static void reason_of(const struct child_result *result, char text[CHILD_ERROR_MAX])
{
	static const char program[] = "jxperfctl: ";
	size_t length = buffer_length(&result->error);
	char *line;

	if (length >= CHILD_ERROR_MAX)
		length = CHILD_ERROR_MAX - 1;
	if (length > 0)
		memcpy(text, buffer_head(&result->error), length);
	text[length] = '\0';
	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(line, program, sizeof(program) - 1) == 0)
		line += sizeof(program) - 1;
	memmove(text, line, strlen(line) + 1);
	if (!text[0])
		strcpy(text, "the command was ended");
}

static enum MHD_Result run_command(struct ui_server *s, struct MHD_Connection *c,
				   const struct route *route)
{
	_cleanup_(child_result_release) struct child_result result = {.status = -1};
	char *argv[ROUTE_ARGUMENTS_MAX], text[CHILD_ERROR_MAX];
	const char *wrong = route_arguments(route, s->socket, parameter, c, argv);
	size_t size;
	char *bytes;

	if (wrong) {
		(void)snprintf(text, sizeof(text), "parameter '%s' is missing, or has not its form",
			       wrong);
		return answer_error(c, MHD_HTTP_BAD_REQUEST, text);
	}
	if (child_run(argv, &s->stop, &result) < 0)
		return answer_error(c, MHD_HTTP_INTERNAL_SERVER_ERROR,
				    "this program cannot be run again");
	if (result.status != 0) {
		reason_of(&result, text);
		return route->page ? answer_text(c, MHD_HTTP_CONFLICT, text)
				   : answer_error(c, MHD_HTTP_CONFLICT, text);
	}
	size = buffer_length(&result.output);
	bytes = malloc(size + 1);
	if (!bytes)
		return MHD_NO;
	if (size > 0)
		memcpy(bytes, buffer_head(&result.output), size);
	return answer(c, MHD_HTTP_OK, route->page ? HTML : JSON, bytes, size, NULL);
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct ui_server *s = arg;
	bool post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0;
	const char *token = parameter(c, "token");
	const struct route *route;

	(void)version;
	(void)upload;
	if (!*state) { /* The headers alone have come. */
		*state = s;
		return MHD_YES;
	}
	*upload_size = 0; /* A body is swallowed. */
	if (!is_ours(s, c, post))
		return forbid(c);
	if (get && strcmp(url, "/") == 0 && token)
		return is_secret(s->token, token) ? open_session(s, c) : forbid(c);
	if (strncmp(url, s->path, strlen(s->path)) != 0 || !has_cookie(s, c))
		return forbid(c);
	url += strlen(s->path);
	if (get && !*url)
		return answer_page(s, c);
	route = route_find(url);
	if (!route)
		return answer_error(c, MHD_HTTP_NOT_FOUND, "there is no such page");
	if (route->changes ? !post : !get)
		return answer_error(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				    "this is asked for in another way");
	return run_command(s, c, route);
}

/* ---------------------------------------------------------------- its life */

/* A socket that listens on loopback; its port in *port. */
static int listen_on(uint16_t *port, struct err *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
		int r = err_set_errno(err, errno, "cannot listen on 127.0.0.1:%u", *port);

		(void)close(fd);
		return r;
	}
	*port = ntohs(address.sin_port);
	return fd;
}

int ui_server_new(struct ui_server **out, uint16_t port, const char *socket, struct err *err)
{
	struct ui_server *s = calloc(1, sizeof(*s));
	int fd, r;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	*out = s;
	s->socket = socket;
	s->port = port;
	r = page_read(&s->page, err);
	if (r < 0)
		return r;
	s->path[0] = '/';
	if (make_secret(s->token) < 0 || make_secret(s->cookie) < 0 || make_secret(s->path + 1) < 0)
		return err_set(err, EIO, "the system gives no random numbers");
	strcat(s->path, "/");
	fd = listen_on(&s->port, err);
	if (fd < 0)
		return fd;
	(void)snprintf(s->cookie_name, sizeof(s->cookie_name), "jxperf-%u", s->port); /* Fits. */
	(void)snprintf(s->address, sizeof(s->address), "http://127.0.0.1:%u/?token=%s", s->port,
		       s->token); /* As above. */
	s->http = MHD_start_daemon(
	    MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
	    NULL, handle, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
	    CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_END);
	if (s->http)
		return 0;
	(void)close(fd);
	return err_set(err, EIO, "cannot start a web server");
}

const char *ui_server_address(const struct ui_server *s)
{
	return s->address;
}

void ui_server_free(struct ui_server *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	if (s->http)
		MHD_stop_daemon(s->http);
	free(s->page);
	free(s);
}
