/*
 * The reason for a failure, in words for a person.
 *
 * Functions that can fail for reasons a user has to act on take a struct err * as their last
 * argument. It is untouched on success. The message is one line: lower case, no full stop, the
 * subject in quotes, and where possible what to do next.
 */
#ifndef JXPERF_COMMON_ERR_H
#define JXPERF_COMMON_ERR_H

#define ERR_MESSAGE_MAX 512

struct err {
	char message[ERR_MESSAGE_MAX];
};

/* Stores the formatted message in err (which may be NULL) and returns -code. code is an errno
 * value above 0 that callers may branch on; the message stands alone. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Like err_set, with ": <strerror(code)>" appended. */
int err_set_errno(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
