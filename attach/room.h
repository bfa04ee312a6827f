/* Is there room in a file system of the target's? Asked before something is written there, so that
 * a check can say it without writing. */
#ifndef JXPERF_ATTACH_ROOM_H
#define JXPERF_ATTACH_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/statvfs.h>

/* For one more file, and so many bytes of it, of our effective user's: root may use what is kept
 * back from others. Where a file system does not say how much there is, there is; quotas are not
 * asked. */
bool room_for(const struct statvfs *fs, uint64_t bytes);

#endif
