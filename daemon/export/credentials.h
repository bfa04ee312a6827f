/*
 * What a server wants to know of who sends: a password and headers, each from a file that only its
 * reader and the daemon know. They are read before each batch, so that a file that was changed
 * counts from then on, and are in no message.
 *
 * Any thread; reads files.
 */
#ifndef JXPERF_DAEMON_EXPORT_CREDENTIALS_H
#define JXPERF_DAEMON_EXPORT_CREDENTIALS_H

#include <stddef.h>

#include "common/err.h"

#define CREDENTIALS_PASSWORD_BYTES 1024
#define CREDENTIALS_HEADERS_BYTES  8192
#define CREDENTIALS_HEADERS_MAX    32

struct credentials {
	char password[CREDENTIALS_PASSWORD_BYTES];
	char text[CREDENTIALS_HEADERS_BYTES];
	const char *headers[CREDENTIALS_HEADERS_MAX]; /* "Name: value", in text */
	size_t header_count;
};

/* Reads the first line of one file, and all lines "Name: value" of the other; "": there is none.
 * Blank lines and those that begin with '#' are none. 0; -errno with a line that says which file,
 * and *c good for nothing. */
int credentials_read(struct credentials *c, const char *password_file, const char *headers_file,
		     struct err *err);

/* Nothing of them is left in memory. */
void credentials_wipe(struct credentials *c);

#endif
