/*
 * The agent that an image of a container brings along: for JVMs that have no place where a copy
 * could be executed.
 *
 * It is used only when it is ours: each file of our bundle has to lie beside it with the same
 * SHA-256, where none but the target's user and root can change it (attach/trust.h). That user may
 * do so after we have looked, and has gained what it had: code in its own JVM.
 */
#ifndef JXPERF_ATTACH_IMAGE_H
#define JXPERF_ATTACH_IMAGE_H

#include <limits.h>

#include "attach/bundle.h"
#include "attach/target.h"

/* path is the library as the target names it. 0 with its canonical path in library; or -errno
 * (-ENOENT: there is none) with why it is of no use, as part of a sentence, and library unchanged.
 * Reads no more of a file than ours is long. */
int image_library(const struct target *t, const struct bundle *b, const char *path,
		  char library[PATH_MAX], struct err *err);

#endif
