#include "daemon/http/accept.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define QUALITY_ONE 1000u
#define BLANKS      " \t"

/* "0.25", up to three digits behind the point; what is none is 1, as where nothing is said. */
static unsigned read_quality(const char *text)
{
	unsigned value = 0;

	if (*text != '0' && *text != '1')
		return QUALITY_ONE;
	value = (unsigned)(*text++ - '0') * QUALITY_ONE;
	if (*text++ != '.')
		return value;
	for (unsigned place = QUALITY_ONE / 10; place > 0 && isdigit((unsigned char)*text);
	     place /= 10)
		value += (unsigned)(*text++ - '0') * place;
	return value < QUALITY_ONE ? value : QUALITY_ONE;
}

/* The quality among the parameters that begin here, behind a type. */
static unsigned quality_of(const char *at)
{
	for (at += strspn(at, BLANKS); *at == ';'; at += strcspn(at, ";,")) {
		at += 1 + strspn(at + 1, BLANKS);
		if ((at[0] == 'q' || at[0] == 'Q') && at[1] == '=')
			return read_quality(at + 2);
	}
	return QUALITY_ONE;
}

unsigned accept_quality(const char *accept, const char *type)
{
	size_t length = strlen(type);

	for (const char *at = accept; at && *at; at += *at == ',') {
		at += strspn(at, BLANKS);
		if (strncasecmp(at, type, length) == 0 && strchr(BLANKS ";,", at[length]))
			return quality_of(at + length);
		at += strcspn(at, ",");
	}
	return 0;
}
