#include "tests/unit/support/test.h"

#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/outbox.h"

static struct broker_event receive(int socket)
{
	union broker_message message;

	assert_int_equal(recv(socket, &message, sizeof(message), MSG_DONTWAIT),
			 sizeof(message.event));
	assert_int_equal(message.operation, BROKER_EVENT);
	return message.event;
}

TEST(an_event_says_what_happened_to_whom)
{
	struct broker_outbox outbox = {0};
	struct broker_event event;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	outbox.socket = pair[0];
	broker_outbox_event(&outbox, BROKER_EVENT_WORKER_GIVEN_UP, 42, 0);
	event = receive(pair[1]);
	assert_int_equal(event.kind, BROKER_EVENT_WORKER_GIVEN_UP);
	assert_int_equal(event.pid, 42);
	assert_int_equal(event.lost, 0);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

/* Were it waited for, this test would not end. */
TEST(events_that_nobody_reads_are_lost_and_counted)
{
	struct broker_outbox outbox = {0};
	char byte;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	outbox.socket = pair[0];
	while (outbox.lost < 3)
		broker_outbox_event(&outbox, BROKER_EVENT_WORKER_GIVEN_UP, 42, 0);
	while (recv(pair[1], &byte, 1, MSG_DONTWAIT) > 0)
		;
	broker_outbox_event(&outbox, BROKER_EVENT_WORKER_GIVEN_UP, 42, 0);
	assert_int_equal(receive(pair[1]).lost, 3);
	(void)close(pair[0]);
	(void)close(pair[1]);
}
