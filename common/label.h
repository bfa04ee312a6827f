/*
 * Labels: names that go into metrics, lists and logs as they are, without being escaped there.
 */
#ifndef JXPERF_COMMON_LABEL_H
#define JXPERF_COMMON_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/* ASCII letters and digits, '.', '_' and '-'. */
bool label_may_have(char c);

/* Has text, of length bytes, nothing else? True when it is empty. */
bool label_is_valid(const char *text, size_t length);

/* Is it a name that most languages, and databases without quotes, take: ASCII letters, digits and
 * '_', at least one, and no digit first? */
bool label_is_identifier(const char *text);

/* A method, or all frames, without a name is called so wherever people or programs read of it. */
#define METHOD_UNKNOWN "[unknown]"

/* A character of a name in collapsed stacks, where ';' and ' ' separate: ',' and '_' in their
 * place.
 */
char label_in_stacks(char c);

#endif
