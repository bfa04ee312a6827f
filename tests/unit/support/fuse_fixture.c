#include "tests/unit/support/fuse_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NODE  2
#define FILE_BYTES 4096
#define WAIT_MS    30000

static char directory[64], file[80];
static pid_t server = -1;
static int written[2] = {-1, -1}; /* a byte for each write */

static void answer(int fd, uint64_t unique, int error, const void *body, size_t size)
{
	struct fuse_out_header header = {
	    .len = (uint32_t)(sizeof(header) + size), .error = -error, .unique = unique};
	char message[sizeof(header) + FILE_BYTES];

	memcpy(message, &header, sizeof(header));
	if (size > 0)
		memcpy(message + sizeof(header), body, size);
	(void)!write(fd, message, header.len);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
	    .ino = node,
	    .size = node == FILE_NODE ? FILE_BYTES : 0,
	    .mode = node == FILE_NODE ? S_IFREG | 0666 : S_IFDIR | 0755,
	    .nlink = 1,
	    .blksize = FILE_BYTES,
	};
}

static void initialise(int fd, const struct fuse_in_header *in, const struct fuse_init_in *init)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = init->minor < FUSE_KERNEL_MINOR_VERSION
						 ? init->minor
						 : FUSE_KERNEL_MINOR_VERSION,
				    .max_write = FILE_BYTES};

	answer(fd, in->unique, 0, &out, sizeof(out));
}

static void serve(int fd, const struct fuse_in_header *in, const void *body)
{
	static const char zeros[FILE_BYTES];
	struct fuse_attr_out attr = {.attr_valid = 3600, .attr = attributes(in->nodeid)};
	struct fuse_entry_out entry = {.nodeid = FILE_NODE,
				       .entry_valid = 3600,
				       .attr_valid = 3600,
				       .attr = attributes(FILE_NODE)};
	struct fuse_open_out open = {.fh = 1};

	switch (in->opcode) {
	case FUSE_INIT:
		initialise(fd, in, body);
		break;
	case FUSE_GETATTR:
		answer(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_LOOKUP:
		answer(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN:
		answer(fd, in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		answer(fd, in->unique, 0, zeros, sizeof(zeros));
		break;
	case FUSE_WRITE:
		(void)!write(written[1], "w", 1); /* And no answer. */
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break; /* These have none. */
	default:
		answer(fd, in->unique, ENOSYS, NULL, 0);
	}
}

_Noreturn static void run(int fd)
{
	static char message[FUSE_MIN_READ_BUFFER + FILE_BYTES];
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, message, sizeof(message)) >= (ssize_t)sizeof(struct fuse_in_header))
		serve(fd, (void *)message, message + sizeof(struct fuse_in_header));
	_exit(0);
}

static bool mount_it(int fd)
{
	char options[96];

	(void)snprintf(options, sizeof(options),
		       "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	strcpy(directory, "/tmp/jxperf-fuse-XXXXXX");
	if (!mkdtemp(directory))
		return false;
	(void)snprintf(file, sizeof(file), "%s/file", directory);
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("jxperf-test", directory, "fuse", MS_NOSUID | MS_NODEV, options) == 0;
}

const char *fuse_fixture_file(void)
{
	return file;
}

bool fuse_fixture_start(void)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0 || !mount_it(fd) || pipe2(written, O_CLOEXEC) < 0) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	server = fork();
	if (server == 0)
		run(fd);
	(void)close(fd);
	return server > 0;
}

bool fuse_fixture_wait_for_write(void)
{
	struct pollfd p = {.fd = written[0], .events = POLLIN};
	char byte;

	return poll(&p, 1, WAIT_MS) == 1 && read(written[0], &byte, 1) == 1;
}

void fuse_fixture_stop(void)
{
	if (server > 0) {
		(void)kill(server, SIGKILL);
		(void)waitpid(server, NULL, 0);
	}
	server = -1;
	for (int i = 0; i < 2; i++) {
		if (written[i] >= 0)
			(void)close(written[i]);
		written[i] = -1;
	}
	if (!directory[0])
		return;
	(void)umount2(directory, MNT_DETACH); /* May not be there. */
	(void)rmdir(directory);
	directory[0] = '\0';
}
