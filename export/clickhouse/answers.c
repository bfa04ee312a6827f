#include "export/clickhouse/answers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE        "Code: "
#define WORDS_BYTES 200

#define NO_SPACE       "No space left on device"
#define TOO_MANY_PARTS 252u /* also partitions of an INSERT */

/* Numbers of src/Common/ErrorCodes.cpp (dbms/src/Common/ErrorCodes.cpp in 18.16); they are never
 * given to another error. */
static const struct {
	unsigned code;
	enum export_outcome outcome;
	const char *advice; /* behind what it says */
} codes[] = {
    /* Of the rows. */
    {6, EXPORT_REFUSED, ""},   /* CANNOT_PARSE_TEXT */
    {26, EXPORT_REFUSED, ""},  /* CANNOT_PARSE_QUOTED_STRING */
    {27, EXPORT_REFUSED, ""},  /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
    {33, EXPORT_REFUSED, ""},  /* CANNOT_READ_ALL_DATA */
    {53, EXPORT_REFUSED, ""},  /* TYPE_MISMATCH */
    {62, EXPORT_REFUSED, ""},  /* SYNTAX_ERROR */
    {117, EXPORT_REFUSED, ""}, /* INCORRECT_DATA */
    {128, EXPORT_REFUSED, ""}, /* TOO_LARGE_ARRAY_SIZE */
    {131, EXPORT_REFUSED, ""}, /* TOO_LARGE_STRING_SIZE */
    {16, EXPORT_RETRY, "run 'jxperfctl fleet-schema --apply'"}, /* NO_SUCH_COLUMN_IN_TABLE */
    {60, EXPORT_RETRY, "run 'jxperfctl fleet-schema --apply'"}, /* UNKNOWN_TABLE */
    {81, EXPORT_RETRY, "run 'jxperfctl fleet-schema --apply'"}, /* UNKNOWN_DATABASE */
    /* Of the server, its disk, its network, its user: no window is to be blamed for these. */
    {74, EXPORT_RETRY, ""},  /* CANNOT_READ_FROM_FILE_DESCRIPTOR */
    {75, EXPORT_RETRY, ""},  /* CANNOT_WRITE_TO_FILE_DESCRIPTOR: also a full disk */
    {76, EXPORT_RETRY, ""},  /* CANNOT_OPEN_FILE */
    {164, EXPORT_RETRY, ""}, /* READONLY */
    {192, EXPORT_RETRY, ""}, /* UNKNOWN_USER */
    {193, EXPORT_RETRY, ""}, /* WRONG_PASSWORD */
    {194, EXPORT_RETRY, ""}, /* REQUIRED_PASSWORD */
    {195, EXPORT_RETRY, ""}, /* IP_ADDRESS_NOT_ALLOWED */
    {201, EXPORT_RETRY, ""}, /* QUOTA_EXCEEDED */
    {202, EXPORT_RETRY, ""}, /* TOO_MANY_SIMULTANEOUS_QUERIES */
    {209, EXPORT_RETRY, ""}, /* SOCKET_TIMEOUT, between servers as the next ones */
    {210, EXPORT_RETRY, ""}, /* NETWORK_ERROR */
    {225, EXPORT_RETRY, ""}, /* NO_ZOOKEEPER */
    {242, EXPORT_RETRY, ""}, /* TABLE_IS_READ_ONLY */
    {243, EXPORT_RETRY, ""}, /* NOT_ENOUGH_SPACE */
    {279, EXPORT_RETRY, ""}, /* ALL_CONNECTION_TRIES_FAILED */
    {285, EXPORT_RETRY, ""}, /* TOO_FEW_LIVE_REPLICAS */
    {291, EXPORT_RETRY, ""}, /* DATABASE_ACCESS_DENIED */
    {497, EXPORT_RETRY, ""}, /* ACCESS_DENIED */
    {516, EXPORT_RETRY, ""}, /* AUTHENTICATION_FAILED */
    {999, EXPORT_RETRY, ""}, /* KEEPER_EXCEPTION */
    {TOO_MANY_PARTS, EXPORT_RETRY, ""},
};

unsigned house_exception(const void *body, size_t body_bytes)
{
	char start[32];
	size_t size = body_bytes < sizeof(start) - 1 ? body_bytes : sizeof(start) - 1;
	unsigned long code;

	memcpy(start, body, size);
	start[size] = '\0';
	if (strncmp(start, CODE, strlen(CODE)) != 0 || !isdigit((unsigned char)start[strlen(CODE)]))
		return 0;
	code = strtoul(start + strlen(CODE), NULL, 10);
	return code < 1000000 ? (unsigned)code : 0;
}

void house_exception_words(const void *body, size_t body_bytes, char *words, size_t bytes)
{
	const char *text = body;
	size_t n = 0;

	for (size_t i = 0; i < body_bytes && text[i] && n + 1 < bytes; i++)
		words[n++] = iscntrl((unsigned char)text[i]) ? ' ' : text[i];
	while (n > 0 && words[n - 1] == ' ')
		n--;
	words[n] = '\0';
}

enum export_outcome house_judge(int status, const void *body, size_t body_bytes, struct err *line,
				uint64_t *lost)
{
	enum export_outcome outcome = export_judge_status(status);
	unsigned code = house_exception(body, body_bytes);
	const char *advice = "";
	char words[WORDS_BYTES];

	*lost = 0;
	if (outcome == EXPORT_SENT && code == 0)
		return EXPORT_SENT;
	house_exception_words(body, body_bytes, words, sizeof(words));
	/* No memory for what is asked, or an error that nobody has thought of. */
	if (code && (outcome == EXPORT_SENT || outcome == EXPORT_REFUSED))
		outcome = EXPORT_FAILED;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].code != code)
			continue;
		outcome = codes[i].outcome;
		advice = codes[i].advice;
	}
	/* A batch of windows of more than a hundred days, which fewer windows may not be of. */
	if (code == TOO_MANY_PARTS && strstr(words, "partitions"))
		outcome = EXPORT_SMALLER;
	/* Whatever its code is: some errors of files have one of their own. */
	if (outcome == EXPORT_FAILED && strstr(words, NO_SPACE))
		outcome = EXPORT_RETRY;
	(void)err_set(line, EIO, "%s%s%s", words, advice[0] ? ": " : "", advice);
	return outcome;
}
