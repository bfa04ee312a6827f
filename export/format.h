/*
 * What windows are to others: a format makes the requests that carry a batch of windows to a
 * server, and says what the server's answer means. It knows nothing of connections, queues or time;
 * sending is daemon/export's.
 *
 * A batch's requests are sent in their order, each when the one before was acknowledged; the
 * windows are acknowledged when the last one is. The same windows make the same requests, so a
 * batch can be sent again.
 *
 * Functions of their arguments, but for what a format remembers of what it has sent (memory): any
 * thread, one at a time for each memory.
 */
#ifndef JXPERF_EXPORT_FORMAT_H
#define JXPERF_EXPORT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "profile/window/result.h"

/* Who sends. Texts are borrowed, "" where unknown. */
struct export_origin {
	const char *host;  /* its name, the same on every day; it is what sums are clustered by */
	const char *group; /* of hosts, as the configuration says */
	const char *store; /* its state directory's id: with a window's number, its name for good */
	const char *labels; /* of the destination; NULL: none */
};

/* Labels are a text "NAME=TEXT\n" for each, as the configuration has checked them. */
#define EXPORT_LABEL_BYTES 320 /* of a name, or a text, with its NUL */
#define EXPORT_LABELS_MAX  16u

/* What the configuration says of a destination; texts are borrowed. */
struct export_settings {
	const char *database;  /* ClickHouse: "jxperf" */
	unsigned otlp_minor;   /* OTLP 1.x: which numbering of the protocol's fields */
	size_t body_bytes_max; /* a request with more is split; 0: as the format says */
};

/* One HTTP POST. */
struct export_request {
	char *target;             /* path and query behind the destination's address; to be freed */
	const char *content_type; /* static */
	uint8_t *body;            /* to be freed */
	size_t body_bytes;
	bool gzip; /* the body is compressed, which the format does not do itself */
};

struct export_batch {
	struct export_request *requests;
	size_t count;
	uint64_t too_old; /* windows that the destination does not take any more */
	uint64_t cut;     /* rows or samples that a limit left out */
	void *sent;       /* the format's, for acknowledged; one block of the heap */
};

enum export_outcome {
	EXPORT_SENT,
	EXPORT_RETRY,   /* later */
	EXPORT_SMALLER, /* the request is too large for the server: fewer windows at a time */
	EXPORT_REFUSED, /* it will never be taken */
	EXPORT_FAILED,  /* later; the windows may be the reason, which the server does not say */
};

struct export_format {
	const char *name; /* "clickhouse" */

	/* NULL: there is nothing to remember. new_memory: NULL without memory. */
	void *(*new_memory)(void);
	void (*free_memory)(void *memory);

	/* Requests for so many windows, which nothing changes meanwhile. 0, or -ENOMEM, or
	 * -EMSGSIZE where one window alone is larger than a request may be. out is zeros before,
	 * and to be released in either case. */
	int (*encode)(void *memory, const struct export_settings *settings,
		      const struct export_origin *origin,
		      const struct window_result *const *windows, size_t count,
		      uint64_t now_unix_ns, struct export_batch *out, struct err *err);

	/* All requests of the batch were acknowledged. NULL: it does not matter. */
	void (*acknowledged)(void *memory, const struct export_batch *batch);

	/* What the answer to a request means: an HTTP status and the first bytes of the body. line
	 * is what the server says, on one line, where the request is not sent or *lost is not 0:
	 * words for the log, as they came; "" where there are none. *lost is how much of the
	 * request the server says it has left out. */
	enum export_outcome (*judge)(int status, const void *body, size_t body_bytes,
				     struct err *line, uint64_t *lost);
};

/* Takes the label that a text of labels begins with, and returns what is behind it; NULL, and
 * nothing else changed, where there is none. */
const char *export_label_next(const char *labels, char name[EXPORT_LABEL_BYTES],
			      char text[EXPORT_LABEL_BYTES]);

/* Redirects, 401, 403, 404, 405 and 407: the address or the password is wrong, which no window is
 * to be lost for. */
bool export_status_is_of_address(int status);

/* What a status means where nothing else is known of the answer: 2xx is sent; 429, those of an
 * address, and what is no status of an end, below 200, are to be tried again; 408 and 5xx but 501
 * and 505 have failed; 413 is too large. The rest is refused. */
enum export_outcome export_judge_status(int status);

void export_batch_release(struct export_batch *batch);

#endif
