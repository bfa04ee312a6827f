/*
 * Descriptors: blocking mode, exact transfers, and passing them between processes (SCM_RIGHTS,
 * unix(7)). Any thread may call; nothing here keeps state.
 */
#ifndef JXPERF_COMMON_FD_H
#define JXPERF_COMMON_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most descriptors one message may carry: four debug registers and a clock event, with room. */
#define FD_PASS_MAX 8

/* Closes every descriptor of the array that is open and sets it to -1. */
void fd_close_all(int *fds, size_t count);

int fd_set_nonblocking(int fd, bool on);

/* Makes the kernel refuse (EPERM, to the sender) messages with descriptors to this Unix socket, or
 * to those a listening one accepts. Receiving one that nobody wants means closing it, and a close
 * may wait as long as its sender likes: TCP with SO_LINGER, a FUSE file. Does nothing before
 * Linux 6.16; fd_recv refuses them there. */
void fd_refuse_descriptors(int socket);

/* Sends size bytes in one sendmsg, with the descriptors attached to the first byte. The caller
 * keeps its own copies. Returns the bytes sent or -errno (SIGPIPE is never raised). */
ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t fd_count);

/* Receives up to size bytes and up to *fd_count descriptors, which the caller then owns; they are
 * close-on-exec. *fd_count becomes the number received. A message that carried more descriptors
 * than asked for is refused with -EMSGSIZE and all of them are closed; with *fd_count 0 the kernel
 * drops them before they are ours, which no file system is asked about. Returns the bytes received,
 * 0 at end of stream, or -errno; on failure nothing is owned and *fd_count is 0. */
ssize_t fd_recv(int socket, void *bytes, size_t size, int *fds, size_t *fd_count);

/* The same, for a peer that is trusted to send no more than asked for: descriptors that the kernel
 * does not let this process have (a security module refuses one, RLIMIT_NOFILE is reached) are
 * missing, all of the message's together, and its bytes are received. */
ssize_t fd_recv_permitted(int socket, void *bytes, size_t size, int *fds, size_t *fd_count);

/* Has the process of a pidfd ended? Where even that cannot be told, it is as good as ended. */
bool fd_process_has_ended(int pidfd);

/* For a process that has no descriptor left: a connection that it does not accept makes its
 * listening socket readable again at once, for ever. One descriptor is kept for that: fd_spare
 * gives it (-1: none was to be had), and with it fd_drop_connection takes a connection that waits,
 * closes it, and makes *spare anew. */
int fd_spare(void);
void fd_drop_connection(int listener, int *spare);

/* Lets this process have as many descriptors as its hard limit says. Programs that use select(2) do
 * without; ours do not. */
void fd_raise_limit(void);

/* Reads to the end, or until there is no more room, into text, and terminates it: at most size - 1
 * bytes. Returns their number or -errno. */
ssize_t fd_read_text(int fd, char *text, size_t size);

/* Reads a file from that place on, to its end or until there is no more room. Returns the number of
 * bytes or -errno. */
ssize_t fd_read_at(int fd, void *bytes, size_t size, uint64_t at);

/* Writes all of it to a blocking descriptor. 0 or -errno. */
int fd_write_all(int fd, const void *bytes, size_t size);

#endif
