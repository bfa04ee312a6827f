/*
 * For tests of what a target's file system can do: a FUSE file system with one file,
 * FUSE_FIXTURE_FILE, that can be mapped and written, and whose write-back is never answered.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_FUSE_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_FUSE_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

/* Its path, once the file system is there. */
const char *fuse_fixture_file(void);

/* Mounts it in a mount namespace of the calling process. False where that is not permitted. */
bool fuse_fixture_start(void);

/* Waits until somebody waits for the answer to a write. False when that takes 30 s. */
bool fuse_fixture_wait_for_write(void);

/* Everybody who waits gets an error. */
void fuse_fixture_stop(void);

#endif
