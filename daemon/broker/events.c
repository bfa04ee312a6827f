#include "daemon/broker/events.h"

#include <sys/socket.h>

void broker_events_send(struct broker_events *e, enum broker_event_kind kind, pid_t pid,
			uint32_t count)
{
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = kind, .pid = pid, .count = count, .lost = e->lost};

	/* It also fails when the engine is gone, which is found out in reading. */
	if (send(e->socket, &event, sizeof(event), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		e->lost++;
}
