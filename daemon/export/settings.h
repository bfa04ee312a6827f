/*
 * What is known of a destination: where it is, how it is spoken to, and how much goes at a time.
 */
#ifndef JXPERF_DAEMON_EXPORT_SETTINGS_H
#define JXPERF_DAEMON_EXPORT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "export/format.h"

#define SENDER_NAME_BYTES    64
#define SENDER_ADDRESS_BYTES 1024
#define SENDER_TEXT_BYTES    256
#define SENDER_LABELS_BYTES  ((size_t)EXPORT_LABELS_MAX * EXPORT_LABEL_BYTES)

/* Where to, and how. All zero before it is filled in, so that two can be compared as bytes. */
struct sender_settings {
	char name[SENDER_NAME_BYTES];
	const struct export_format *format; /* NULL: files for pprof in a directory */
	char address[SENDER_ADDRESS_BYTES]; /* of the server, without a '/' at its end; or the path
					     */
	char user[SENDER_TEXT_BYTES];
	char password_file[SENDER_ADDRESS_BYTES]; /* "": none, as of these */
	char headers_file[SENDER_ADDRESS_BYTES];
	char ca_file[SENDER_ADDRESS_BYTES];
	char certificate_file[SENDER_ADDRESS_BYTES];
	char key_file[SENDER_ADDRESS_BYTES];
	char database[SENDER_TEXT_BYTES];
	char labels[SENDER_LABELS_BYTES];
	struct export_settings format_settings; /* its texts are set by the sender */
	bool compress;                          /* requests */
	uint64_t timeout_ms;                    /* of a request */
	uint64_t patience_ms;     /* for a batch that fails, before a window of it is blamed */
	uint32_t windows_max;     /* of a batch, */
	uint64_t bytes_max;       /* of memory that they take, */
	uint64_t age_ms;          /* and how long the first waits for others */
	uint64_t files_bytes_max; /* in the directory; 0: no limit, as of */
	uint32_t files_max;
};

#endif
