/*
 * For tests of the broker: one in a process of its own (broker_fixture.h), something to attach to,
 * and the engine's end of the wire. One at a time.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_BROKER_PEER_H
#define JXPERF_TESTS_UNIT_SUPPORT_BROKER_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/fd.h"
#include "daemon/broker/proto.h"
#include "tests/unit/support/broker_fixture.h"

struct peer {
	pid_t broker;
	pid_t target;
	int socket;                /* -1: there is no broker */
	struct broker_reply reply; /* the last one, */
	int fds[FD_PASS_MAX];      /* and what came with it */
	struct broker_event event; /* likewise */
	unsigned events;           /* that have come */
};

extern struct peer peer;

/* For each test: something to attach to; and the end of all. */
int peer_set_up(void **state);
int peer_tear_down(void **state);

/* Starts a broker whose helpers behave as said, and has its hello. */
void peer_start(const char *behaviour);

/* Ends it as the engine does, and expects it to follow. */
void peer_end(void);

/* Requests about the target, whosever it is: an operation with all else 0, its clock event,
 * breakpoints. */
struct broker_request peer_request(uint32_t operation);
struct broker_request peer_clock_request(void);
struct broker_request peer_breakpoint_request(uint32_t count);

void peer_submit(const struct broker_request *r);

/* Takes messages up to the next reply; returns its error. */
int peer_receive(void);

/* Both, and the reply is to that request. */
int peer_ask(const struct broker_request *r);

/* Attaches to the target. */
int peer_attach(void);

/* Skips the test where the machine, not the broker, forbids events. */
void peer_require_events(int error);

/* Is the text in the last reply's message? */
bool peer_says(const char *text);

#endif
