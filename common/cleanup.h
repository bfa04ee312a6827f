/*
 * Scope-bound ownership.
 *
 * A variable declared with _cleanup_(f) is passed by address to f when it goes out of scope, so a
 * function can be read leak-free without reading its callees. Pointers start NULL and descriptors
 * -1; TAKE_PTR and TAKE_FD hand the resource to somebody else and leave the empty value behind.
 */
#ifndef JXPERF_COMMON_CLEANUP_H
#define JXPERF_COMMON_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <errno.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(
		    *fd); /* Nothing can be done about a failing close, and errno matters. */
	errno = saved;
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		(void)fclose(*f); /* Read-only streams: no data can be lost here. */
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir); /* Only read from: nothing to lose. */
}

#define _cleanup_free_     _cleanup_(cleanup_free)
#define _cleanup_close_    _cleanup_(cleanup_close)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

#endif
