/*
 * Whom the HTTP server serves when many want to be: its connections, by address.
 *
 * There is always room for a new one. Where its address, or all together, have as many as they may,
 * the one that has waited longest for its request to be complete makes way, of the address that has
 * most; so those who hold connections open lose them to those who ask and go. A request has
 * HTTP_REQUEST_S from the connection, or from the last answer on it, to the end of its own answer,
 * however its bytes trickle in or out. An address is an IPv4 address or 64 bits of an IPv6 one.
 *
 * A connection is ended by shutting its socket down; whoever owns that then finds it closed and
 * says http_clients_closed. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_HTTP_CLIENTS_H
#define JXPERF_DAEMON_HTTP_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HTTP_CONNECTIONS_MAX  64
#define HTTP_ADDRESS_MAX      16 /* connections of one address */
#define HTTP_REQUEST_S        10
#define HTTP_REFUSALS_LOG_S   10 /* between two lines of the log about those that were refused */
#define HTTP_CLIENTS_CAPACITY (2 * HTTP_CONNECTIONS_MAX) /* with those about to be closed */
/* Each reason has a number of 20 digits, and its name. */
#define HTTP_CLIENTS_TEXT_BYTES (HTTP_REFUSALS * 40)

struct sockaddr;

enum http_refusal {
	HTTP_REFUSED_ADDRESS, /* its address had HTTP_ADDRESS_MAX */
	HTTP_REFUSED_TOTAL,   /* there were HTTP_CONNECTIONS_MAX */
	HTTP_REFUSED_TIME,    /* no request was complete in time; not counted on one that had one */
	HTTP_REFUSED_DESCRIPTORS, /* none was left for it */
	HTTP_REFUSALS,
};

struct http_client {
	int fd;        /* borrowed; -1: free */
	bool over;     /* its socket was shut down */
	bool answered; /* a request of it was */
	uint8_t address[16];
	uint64_t since_ns; /* of the connection, or of the last answer */
};

struct http_clients {
	struct http_client clients[HTTP_CLIENTS_CAPACITY];
	uint64_t refused[HTTP_REFUSALS];
	uint64_t told[HTTP_REFUSALS]; /* of them, by http_clients_tell */
};

void http_clients_init(struct http_clients *t);

/* A connection that was accepted; others may be shut down for it. NULL, counted, when too many that
 * were shut down are not closed yet. */
struct http_client *http_clients_add(struct http_clients *t, const struct sockaddr *from, int fd,
				     uint64_t now_ns);

/* The one with that descriptor, or NULL. */
struct http_client *http_clients_find(struct http_clients *t, int fd);

/* A request was answered: the time of the next one begins. */
void http_clients_answered(struct http_client *client, uint64_t now_ns);

/* Its socket is about to be closed. */
void http_clients_closed(struct http_client *client);

/* Shuts down those whose time is over. Returns when the next one's will be, or 0. */
uint64_t http_clients_expire(struct http_clients *t, uint64_t now_ns);

/* What was refused since it was told last: "3 address, 1 time". False: nothing. */
bool http_clients_tell(struct http_clients *t, char text[HTTP_CLIENTS_TEXT_BYTES]);

/* Their family of /metrics. */
void http_clients_write(FILE *out, const struct http_clients *t, bool openmetrics);

#endif
