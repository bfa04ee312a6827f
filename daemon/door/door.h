/*
 * The listening side of jxperf-broker.service: for each engine that connects a broker of its own.
 *
 * It reads nothing that an engine sends, so nothing of one is left for the next but what the kernel
 * keeps of a process that has ended. One engine is served at a time; while its broker cleans up
 * behind it the next one waits in the socket's queue. Who is another user than the engine's, or
 * comes second, is told so in a hello with an error, and logged; of many in a row there is a line
 * in ten seconds, which counts the others.
 *
 * The socket is the service manager's, by the protocol of sd_listen_fds(3): SOCK_SEQPACKET, and
 * with a mode that lets nobody but the engine's user connect, which is asked of the kernel once
 * more.
 */
#ifndef JXPERF_DAEMON_DOOR_DOOR_H
#define JXPERF_DAEMON_DOOR_DOOR_H

/* jxperfd --broker-for USER */
#define BROKER_OPTION_FOR "--broker-for"

struct startup;

/* Serves engines that run as user until SIGTERM or SIGINT, then ends the broker that runs, which is
 * started with startup (daemon/inspector/startup.h). Called by main with nothing else running in
 * the process; logs. Returns the process's exit status. */
int broker_door_main(const char *user, const struct startup *startup);

#endif
