#include "export/clickhouse/answers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE        "Code: "
#define WORDS_BYTES 200

#define TOO_MANY_PARTS 252u /* also partitions of an INSERT */

/* Numbers of src/Common/ErrorCodes.cpp (dbms/src/Common/ErrorCodes.cpp in 18.16); they are never
 * given to another error. */
static const struct {
	unsigned code;
	enum export_outcome outcome;
	const char *advice; /* behind what it says */
} codes[] = {
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
	/* A user who may not, a proxy that is in the way: none of it is the windows' fault. */
	if (outcome != EXPORT_SMALLER && code)
		outcome = EXPORT_RETRY;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].code != code)
			continue;
		outcome = codes[i].outcome;
		advice = codes[i].advice;
	}
	/* A batch of windows of more than a hundred days, which fewer windows may not be of. */
	if (code == TOO_MANY_PARTS && strstr(words, "partitions"))
		outcome = EXPORT_SMALLER;
	(void)err_set(line, EIO, "%s%s%s", words, advice[0] ? ": " : "", advice);
	return outcome;
}
