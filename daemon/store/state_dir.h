/*
 * The directory of what outlives the daemon: whose it is while one runs, and which numbers of
 * windows are taken.
 *
 *   lock          held while a daemon uses the directory
 *   next-window   no window has this number or a higher one
 *   windows.db    the database of windows (daemon/store/database.h)
 *   windows.db.damaged-TIME   one that could not be read any more, whole or in part
 *   windows.db.earlier-TIME   one whose records are of an earlier version
 *
 * Numbers are taken in blocks before they are given out, so that no window of a later daemon has
 * the number of an earlier one, whatever became of the database.
 */
#ifndef JXPERF_DAEMON_STORE_STATE_DIR_H
#define JXPERF_DAEMON_STORE_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* How many numbers are taken at a time; a daemon that is killed leaves a gap of at most so many. */
#define STATE_DIR_NUMBERS 256

/* The longest path of a database, with what SQLite and we put behind its name. */
#define STATE_DIR_PATH_BYTES 4096

struct state_dir {
	int fd;
	int lock;
	char path[STATE_DIR_PATH_BYTES - 64];
	char database[STATE_DIR_PATH_BYTES];
};

/* Opens the directory, makes it if its parent is there (0700), and makes it ours until
 * state_dir_close. 0; -EBUSY when another daemon has it; -EROFS, -EACCES, -ENOENT, ... with a line.
 */
int state_dir_open(struct state_dir *d, const char *path, struct err *err);
void state_dir_close(struct state_dir *d);

/* The lowest number that is free for all that is known here; 1 in a new directory. What is not a
 * number is as good as none. */
unsigned state_dir_next(const struct state_dir *d);

/* No later daemon gives out a number below next. Waits for the disk. 0 or -errno. */
int state_dir_take_numbers(const struct state_dir *d, unsigned next, struct err *err);

/* Can another file be made in it, as far as room goes? Else false with a line. Leaves none. */
bool state_dir_has_room(const struct state_dir *d, struct err *err);

/* Is less than this part of its file system free for us? With a line then. */
bool state_dir_is_low(const struct state_dir *d, double part, struct err *err);

/* Puts the database aside under a name that says why, a word, and when, in to. 0 or -errno. */
int state_dir_set_aside(const struct state_dir *d, const char *why, char to[STATE_DIR_PATH_BYTES],
			struct err *err);

#endif
