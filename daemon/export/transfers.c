#include "daemon/export/transfers.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/utf8.h"
#include "daemon/export/credentials.h"
#include "daemon/export/retry.h"
#include "proto/limits.h"

#define CONNECT_MS 10000
/* Slower than this for half the time that a transfer has is too slow. */
#define LOW_SPEED_BYTES_PER_S 10
/* Connections that are kept for the next request. */
#define IDLE_CONNECTIONS 16

struct transfers {
	uv_loop_t *loop;
	uv_timer_t timer;
	CURLM *multi;
	unsigned handles; /* that the loop has not closed yet */
	bool freed;
};

/* A connection that libcurl wants watched. */
struct watched {
	uv_poll_t poll;
	struct transfers *transfers;
	curl_socket_t fd;
};

struct transfer {
	struct transfers *transfers;
	CURL *easy;
	struct curl_slist *headers;
	transfer_done_fn *done;
	void *arg;
	char *body;
	size_t head_bytes, body_bytes;
	bool too_long;
	uint64_t wished_ms;
	char error[CURL_ERROR_SIZE];
};

/* ---------------------------------------------------------------- an answer */

static size_t on_body(char *bytes, size_t one, size_t size, void *arg)
{
	struct transfer *t = arg;
	size_t room = TRANSFER_ANSWER_BYTES - t->body_bytes;
	size_t taken = size < room ? size : room;

	(void)one; /* Always 1. */
	if (!t->body && !(t->body = malloc(TRANSFER_ANSWER_BYTES)))
		return 0;
	memcpy(t->body + t->body_bytes, bytes, taken);
	t->body_bytes += taken;
	t->too_long |= taken < size;
	return taken; /* Less than there is ends the transfer. */
}

static void take_header(struct transfer *t, const char *line, size_t size)
{
	static const char name[] = "Retry-After:";
	char value[128];

	if (size >= 5 && strncmp(line, "HTTP/", 5) == 0)
		t->wished_ms = 0; /* What came before was an interim answer. */
	if (size < sizeof(name) || strncasecmp(line, name, sizeof(name) - 1) != 0)
		return;
	(void)snprintf(value, sizeof(value), "%.*s", (int)(size - (sizeof(name) - 1)),
		       line + sizeof(name) - 1); /* What is cut is no time. */
	value[strcspn(value, "\r\n")] = '\0';
	t->wished_ms = retry_after_ms(value, time(NULL));
}

static size_t on_header(char *bytes, size_t one, size_t size, void *arg)
{
	struct transfer *t = arg;

	(void)one; /* Always 1. */
	t->head_bytes += size;
	t->too_long |= t->head_bytes > TRANSFER_ANSWER_BYTES;
	if (t->too_long)
		return 0;
	take_header(t, bytes, size);
	return size;
}

static enum transfer_end end_of(const struct transfer *t, CURLcode code)
{
	if (t->too_long)
		return TRANSFER_TOO_LONG;
	switch (code) {
	case CURLE_OK:
		return TRANSFER_ANSWERED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_INTERFACE_FAILED:
		return TRANSFER_NO_CONNECTION;
	case CURLE_OPERATION_TIMEDOUT:
		return TRANSFER_TIMEOUT;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CLIENTCERT:
		return TRANSFER_TLS;
	case CURLE_OUT_OF_MEMORY:
		return TRANSFER_NO_MEMORY;
	default:
		return TRANSFER_BROKEN;
	}
}

static void free_transfer(struct transfer *t)
{
	(void)curl_multi_remove_handle(t->transfers->multi, t->easy); /* It may not be in it. */
	curl_easy_cleanup(t->easy);
	curl_slist_free_all(t->headers);
	free(t->body);
	free(t);
}

static void say(const struct transfer *t, CURLcode code, char message[ERR_MESSAGE_MAX])
{
	if (t->too_long)
		(void)snprintf(message, ERR_MESSAGE_MAX, "its answer is longer than %zu KiB",
			       TRANSFER_ANSWER_BYTES >> 10);
	else /* May be cut; a server's words may be in it. */
		(void)utf8_sanitize(message, ERR_MESSAGE_MAX,
				    t->error[0] ? t->error : curl_easy_strerror(code));
}

static void end_transfer(struct transfer *t, CURLcode code)
{
	struct transfer_answer answer = {.end = end_of(t, code),
					 .body = t->body ? t->body : "",
					 .body_bytes = t->body_bytes,
					 .wished_ms = t->wished_ms};
	transfer_done_fn *done = t->done;
	void *arg = t->arg;
	curl_off_t sent = 0;
	long status = 0;

	/* These fail for a bad handle only. */
	(void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	answer.status = (int)status;
	answer.begun = sent > 0;
	if (answer.end != TRANSFER_ANSWERED)
		say(t, code, answer.message);
	done(arg, &answer);
	free_transfer(t);
}

/* ---------------------------------------------------------------- libcurl on the loop */

static void end_those_done(struct transfers *t)
{
	const CURLMsg *message;
	struct transfer *transfer;
	int left;

	while ((message = curl_multi_info_read(t->multi, &left))) {
		CURLcode code = message->data.result;

		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer) !=
			CURLE_OK)
			continue;
		end_transfer(transfer, code); /* The message is gone with its handle. */
	}
}

static void act(struct transfers *t, curl_socket_t fd, int events)
{
	int running;

	/* What fails is said by the transfers themselves. */
	(void)curl_multi_socket_action(t->multi, fd, events, &running);
	end_those_done(t);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	const struct watched *w = poll->data;
	int flags = status < 0 ? CURL_CSELECT_ERR : 0;

	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	act(w->transfers, w->fd, flags);
}

static void on_timer(uv_timer_t *timer)
{
	act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void let_go(struct transfers *t)
{
	if (--t->handles == 0 && t->freed)
		free(t);
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct watched *w = handle->data;

	let_go(w->transfers);
	free(w);
}

static void on_timer_closed(uv_handle_t *handle)
{
	let_go(handle->data);
}

static struct watched *watch(struct transfers *t, curl_socket_t fd)
{
	struct watched *w = calloc(1, sizeof(*w));

	if (!w || uv_poll_init(t->loop, &w->poll, fd) < 0) {
		free(w);
		return NULL;
	}
	w->poll.data = w;
	w->transfers = t;
	w->fd = fd;
	t->handles++;
	(void)curl_multi_assign(t->multi, fd, w); /* It is one of its own. */
	return w;
}

/* libcurl says what it waits for. -1: the transfer fails. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *of_socket)
{
	struct transfers *t = arg;
	struct watched *w = of_socket;
	int events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (w) /* Its descriptor is closed after this. */
			(void)uv_poll_stop(&w->poll);
		if (w)
			uv_close((uv_handle_t *)&w->poll, on_poll_closed);
		(void)curl_multi_assign(t->multi, fd, NULL);
		return 0;
	}
	if (!w && !(w = watch(t, fd)))
		return -1;
	events |= what & CURL_POLL_IN ? UV_READABLE : 0;
	events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
	return uv_poll_start(&w->poll, events, on_poll) < 0 ? -1 : 0;
}

/* Never acts itself: libcurl is in the middle of something. */
static int on_wish(CURLM *multi, long ms, void *arg)
{
	struct transfers *t = arg;

	(void)multi;
	if (ms < 0)
		(void)uv_timer_stop(&t->timer); /* Cannot fail. */
	else if (!t->freed)                     /* Fails for one that is closing. */
		(void)uv_timer_start(&t->timer, on_timer, (uint64_t)ms, 0);
	return 0;
}

int transfers_new(struct transfers **out, uv_loop_t *loop, struct err *err)
{
	struct transfers *t = calloc(1, sizeof(*t));

	if (!t || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    !(t->multi = curl_multi_init())) {
		free(t);
		return err_set(err, ENOMEM, "cannot start to send windows: out of memory");
	}
	t->loop = loop;
	(void)uv_timer_init(loop, &t->timer); /* Cannot fail. */
	t->timer.data = t;
	t->handles = 1;
	/* Known options with values of their types do not fail. */
	(void)curl_multi_setopt(t->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	(void)curl_multi_setopt(t->multi, CURLMOPT_SOCKETDATA, t);
	(void)curl_multi_setopt(t->multi, CURLMOPT_TIMERFUNCTION, on_wish);
	(void)curl_multi_setopt(t->multi, CURLMOPT_TIMERDATA, t);
	(void)curl_multi_setopt(t->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
	*out = t;
	return 0;
}

void transfers_free(struct transfers *t)
{
	if (!t)
		return;
	t->freed = true;
	(void)curl_multi_cleanup(t->multi); /* Closes what connections it has, by on_socket. */
	uv_close((uv_handle_t *)&t->timer, on_timer_closed);
}

/* ---------------------------------------------------------------- a request */

static bool add_header(struct transfer *t, const char *line)
{
	struct curl_slist *longer = curl_slist_append(t->headers, line);

	if (longer)
		t->headers = longer;
	return longer != NULL;
}

static bool make_headers(struct transfer *t, const struct transfer_request *r)
{
	char type[160];
	bool made;

	(void)snprintf(type, sizeof(type), "Content-Type: %s", r->content_type); /* Fits. */
	/* A server that would rather not have the body says so anyway. */
	made = add_header(t, type) && add_header(t, "Expect:") &&
	       (!r->gzip || add_header(t, "Content-Encoding: gzip"));
	for (size_t i = 0; i < r->credentials->header_count && made; i++)
		made = add_header(t, r->credentials->headers[i]);
	return made;
}

#define SET(option, value)      (curl_easy_setopt(e, option, value) == CURLE_OK)
#define SET_TEXT(option, value) (!(value)[0] || SET(option, value))

static bool set_limits(CURL *e, uint64_t timeout_ms)
{
	uint64_t connect_ms = timeout_ms / 2 < CONNECT_MS ? timeout_ms / 2 : CONNECT_MS;

	return SET(CURLOPT_TIMEOUT_MS, (long)timeout_ms) &&
	       SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(connect_ms ? connect_ms : 1)) &&
	       SET(CURLOPT_LOW_SPEED_LIMIT, (long)LOW_SPEED_BYTES_PER_S) &&
	       SET(CURLOPT_LOW_SPEED_TIME, (long)(timeout_ms / 2000 + 1)) &&
	       SET(CURLOPT_NOSIGNAL, 1L) && SET(CURLOPT_FOLLOWLOCATION, 0L) &&
	       SET(CURLOPT_PROTOCOLS_STR, "http,https") && SET(CURLOPT_PROXY, "") &&
	       /* Else a lookup that nobody answers would hold the loop up when it is given up. */
	       SET(CURLOPT_QUICK_EXIT, 1L);
}

static bool set_request(struct transfer *t, const struct transfer_request *r)
{
	CURL *e = t->easy;

	return SET(CURLOPT_URL, r->url) && SET(CURLOPT_POST, 1L) &&
	       SET(CURLOPT_POSTFIELDS, (const char *)r->body) &&
	       SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_bytes) &&
	       SET(CURLOPT_HTTPHEADER, t->headers) &&
	       SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) &&
	       SET(CURLOPT_USERAGENT, "jxperfd/" JXPERF_VERSION) &&
	       SET_TEXT(CURLOPT_USERNAME, r->user) &&
	       SET_TEXT(CURLOPT_PASSWORD, r->credentials->password) &&
	       SET_TEXT(CURLOPT_CAINFO, r->ca_file) &&
	       SET_TEXT(CURLOPT_SSLCERT, r->certificate_file) &&
	       SET_TEXT(CURLOPT_SSLKEY, r->key_file) && SET(CURLOPT_WRITEFUNCTION, on_body) &&
	       SET(CURLOPT_WRITEDATA, t) && SET(CURLOPT_HEADERFUNCTION, on_header) &&
	       SET(CURLOPT_HEADERDATA, t) && SET(CURLOPT_ERRORBUFFER, t->error) &&
	       SET(CURLOPT_PRIVATE, t) && set_limits(e, r->timeout_ms);
}

struct transfer *transfer_start(struct transfers *transfers, const struct transfer_request *request,
				transfer_done_fn *done, void *arg)
{
	struct transfer *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->transfers = transfers;
	t->done = done;
	t->arg = arg;
	t->easy = curl_easy_init();
	if (!t->easy || !make_headers(t, request) || !set_request(t, request) ||
	    curl_multi_add_handle(transfers->multi, t->easy) != CURLM_OK) {
		free_transfer(t);
		return NULL;
	}
	return t;
}

void transfer_cancel(struct transfer *transfer)
{
	if (transfer)
		free_transfer(transfer);
}
