/*
 * The control socket: where jxperfctl connects.
 *
 * A connection carries one request. Its answer is one reply, except that an attach is answered by
 * Progress about every second and then by the report (Document) or a Failure; a client that leaves
 * before ends its window. Whatever is wrong with a request is said in one line (Failure), then the
 * connection is closed; so are connections beyond the limits, before they have sent a request,
 * unless one that waits for a window's end can be told to ask again. Who may connect is a matter of
 * the socket's mode (daemon/serve/control_socket.h), what there is for whom is decided when a
 * connection comes (daemon/serve/access.h).
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_CONTROL_H
#define JXPERF_DAEMON_SERVE_CONTROL_H

#include <stdbool.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/engine/engine.h"

#define CONTROL_SOCKET_DEFAULT "/run/jxperf/control.sock"
/* Open at a time: of one user who is no administrator, and of all. An administrator's clients may
 * wait for ENGINE_RUNNING_MAX windows, so as many are kept for them. */
#define CONTROL_CONNECTIONS_OF_USER  32
#define CONTROL_CONNECTIONS_RESERVED 96
#define CONTROL_CONNECTIONS_MAX      288
/* Those that wait for the end of a window make room for others, so many at a time. */
#define CONTROL_LEAVING_MAX 32

struct control;
struct exports;
struct reload_answer;
struct scheduler;

struct control_settings {
	const char *socket_path; /* "": none, connections come by control_adopt only */
	/* The socket's group is jxperf's own where root or the service manager has made it so; that
	 * of a user may be everybody's. */
	bool group_may_connect;
	struct broker_client *broker;
	const char *admin_group;           /* whose members may do everything; "" or NULL: none */
	const char *http;                  /* "ADDR:PORT" for `status`, or "" */
	const struct scheduler *scheduler; /* for `list`; NULL: no schedules */
	/* Reads the configuration anew. 0 with what became of it, or -errno with one line for the
	 * user and the old one in force. NULL: there is none. */
	int (*reload)(void *arg, struct reload_answer *answer, struct err *err);
	void *arg;
	uint64_t *connections_refused; /* is counted up; NULL: nobody counts */
};

/* Listens, and is a sink of the engine's, which may run no more once it is freed. The strings of
 * settings must outlive it. A socket file that nobody answers on is
 * replaced; -EADDRINUSE when a daemon answers, -ENOENT for an admin group that is none. Creates the
 * directory of CONTROL_SOCKET_DEFAULT, and no other. */
int control_new(struct control **out, uv_loop_t *loop, struct engine *engine,
		const struct control_settings *settings, struct err *err);

/* Another admin group from the next connection on; "" or NULL: none. 0; -ENOENT when there is none
 * of the name, and nothing changes. */
int control_set_admin_group(struct control *c, const char *group, struct err *err);

/* What is kept of windows is there (daemon/store/database.h): for the requests of from now on. path
 * has to outlive the control. */
void control_set_store(struct control *c, const char *path);

/* What sends windows elsewhere, for `status`; it has to outlive the control. */
void control_set_exports(struct control *c, const struct exports *exports);

/* Serves a connected socket, which it takes, of the one whose daemon this is and who may do
 * everything; one too many is closed. */
void control_adopt(struct control *c, int fd);

/* Accepts nothing more and closes what waits for nothing; done runs, at once or from the loop, when
 * the last replies that are on their way have been read (or their readers' time is over). */
void control_drain(struct control *c, void (*done)(void *arg), void *arg);

/* Is a report being written for somebody? */
bool control_is_rendering(const struct control *c);

/* Closes every connection and removes the socket file. free(NULL) is safe. */
void control_free(struct control *c);

#endif
