/*
 * Whose files in the target's file system may be what its JVM loads: an attach must not let one
 * user put code into a process of another.
 *
 * Trusted are the target's user itself, root, and whoever owns the target's root directory (its
 * root, where users are mapped). Paths are canonical, as the target sees them.
 */
#ifndef JXPERF_ATTACH_TRUST_H
#define JXPERF_ATTACH_TRUST_H

#include "attach/target.h"

/* Can none but these put something else in the place of what is in the directory, or on the way to
 * it? 0 or -EPERM with the part that is open to others. */
int trust_directory(const struct target *t, const char *path, struct err *err);

/* Can none but these change that file, or put another in its place? Likewise. */
int trust_file(const struct target *t, const char *path, struct err *err);

#endif
