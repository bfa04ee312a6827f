/*
 * HTTP requests on the event loop, by libcurl's multi interface: nothing of them waits, names are
 * looked up by libcurl's own threads.
 *
 * A server may be broken or hostile. Of an answer at most TRANSFER_ANSWER_BYTES are read, of its
 * head as many; one that goes on is broken off. Redirects are not followed, http and https are all
 * that is spoken, certificates are verified, and variables of the environment (http_proxy) count
 * for nothing. A transfer has a time limit as a whole, one for the connection, and a lowest speed.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_EXPORT_TRANSFERS_H
#define JXPERF_DAEMON_EXPORT_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"

#define TRANSFER_ANSWER_BYTES ((size_t)64 << 10)

struct credentials;
struct transfer;
struct transfers;

/* All texts are borrowed, "" where there is none. The body has to last until the transfer's end,
 * the rest until transfer_start returns. */
struct transfer_request {
	const char *url;
	const char *content_type;
	const uint8_t *body;
	size_t body_bytes;
	bool gzip; /* the body is compressed */
	const char *user;
	const struct credentials *credentials;
	const char *ca_file; /* "": the system's authorities */
	const char *certificate_file, *key_file;
	uint64_t timeout_ms;
};

enum transfer_end {
	TRANSFER_ANSWERED,
	TRANSFER_TOO_LONG, /* the answer was, and what came of it is there */
	TRANSFER_NO_CONNECTION,
	TRANSFER_TLS,
	TRANSFER_TIMEOUT,
	TRANSFER_BROKEN, /* in the middle */
	TRANSFER_NO_MEMORY,
};

/* Borrowed for the call of done. */
struct transfer_answer {
	enum transfer_end end;
	int status; /* HTTP's; 0: none came */
	bool begun; /* the server has got some of the body, whatever became of that */
	const char *body;
	size_t body_bytes;
	uint64_t wished_ms;            /* Retry-After; 0: the server does not say */
	char message[ERR_MESSAGE_MAX]; /* unless answered: a line */
};

typedef void transfer_done_fn(void *arg, const struct transfer_answer *answer);

int transfers_new(struct transfers **out, uv_loop_t *loop, struct err *err);

/* All transfers have ended or been cancelled. The rest goes once the loop has closed its handles.
 * free(NULL) is safe. */
void transfers_free(struct transfers *t);

/* done runs from the loop, once, and the transfer is gone then. NULL without memory. */
struct transfer *transfer_start(struct transfers *t, const struct transfer_request *request,
				transfer_done_fn *done, void *arg);

/* Ends it at once; done will not run. NULL is safe. */
void transfer_cancel(struct transfer *transfer);

#endif
