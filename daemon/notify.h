/* Tells systemd about the service's state (sd_notify(3)), without its library. */
#ifndef JXPERF_DAEMON_NOTIFY_H
#define JXPERF_DAEMON_NOTIFY_H

/* Sends state, such as "READY=1", to $NOTIFY_SOCKET. 0, also when there is no such socket, or
 * -errno. */
int notify_send(const char *state);

#endif
